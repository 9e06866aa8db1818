"""`Desk`: state that the tools of one agent share: working directory, files read, to-do list.

A child agent works at a copy (`copy`), so that what it reads and where it goes stays its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from reverie.settings import Settings
from reverie.tools.seen_files import SeenFiles
from reverie.values import value

if TYPE_CHECKING:
    from reverie.memory.topics.topic import Topic


@value
class Task:
    """One line of the list that the model keeps of its own work."""

    content: str
    status: str
    """`pending`, `in_progress` or `completed`."""
    doing: str = ""
    """The same as an activity, for the status line."""


def _open(_: Path) -> bool:
    return False


def _unheard(_: str) -> None:
    return


def _note_nothing(_path: Path, _after: bytes | None) -> None:
    return


class MemoryWriter(Protocol):
    """Writes memories for one agent: every change of a memory directory by a tool goes through the store of it."""

    def save(
        self,
        *,
        name: str,
        description: str,
        type: str,  # noqa: A002 - the name that callers use
        body: str,
        when: Sequence[str] = (),
        asks: Sequence[str] = (),
    ) -> Topic:
        """Keep a memory. Raises `Error` when it is refused."""
        ...

    def write(self, path: Path, text: str) -> str | None:
        """Write a file that lies in a memory directory and return what it then holds; None for every other file.

        Raises `Error` when it is refused; nothing is on disk then.
        """
        ...

    def write_files(self, files: Mapping[str, str | None], reason: str) -> None:
        """Write files of the project's memory exactly so, or remove them (None). Raises `Error` when refused."""
        ...


@dataclass(slots=True)
class Desk:
    """The shared state of one agent's tools. Mutable: tools change it, nobody else does."""

    directory: Path
    """The agent's working directory; the shell may change it."""
    project: Path
    """The root of the project."""
    scratch: Path
    """A scratch folder of this session."""
    settings: Settings
    now: Callable[[], datetime]
    environment: Mapping[str, str]
    """For processes that tools start."""
    keys: tuple[str, ...] = field(default=(), repr=False)
    """Keys of ours; a tool that prints one shows `KEY_MASK` instead, so that it is neither sent nor kept."""
    additional: tuple[Path, ...] = ()
    """Further folders that tools may enter."""
    seen: SeenFiles = field(default_factory=SeenFiles)
    leads: dict[Path, Path] = field(default_factory=dict)
    """Where the paths of calls led when they were judged; see `reach`."""
    tasks: tuple[Task, ...] = ()
    progress: Callable[[str], None] = _unheard
    """Hears a line of a tool at work; set anew for each call."""
    call_id: str = ""
    """The call that is at work; set anew for each."""
    spill_path: Callable[[str], Path] | None = None
    """Where the result of a call goes that is too large to be shown; may raise `Error`."""
    is_closed: Callable[[Path], bool] = _open
    """Whether a search must not show what is in a file."""
    changing: Callable[[Path, bytes | None], None] = _note_nothing
    """Hears of a file before it is changed, and what it is to hold; None removes it."""
    memories: MemoryWriter | None = None
    """None where memory is off."""

    @property
    def roots(self) -> tuple[Path, ...]:
        """The folders inside which file tools work without a question."""
        return (self.project, *self.additional, self.scratch)

    def resolve(self, path: str) -> Path:
        """A path as the model wrote it, absolute, with `~` and relative names resolved from where the agent stands."""
        return self.directory / Path(path).expanduser()

    def copy(self) -> Desk:
        """The same for a child agent: what it does to its desk stays there."""
        return replace(self, seen=self.seen.copy(), leads={}, progress=_unheard)
