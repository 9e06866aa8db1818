"""Going back with files: what tools changed, what it was before, and putting it back; or the conversation.

Before a tool changes a file, what it holds is put aside under its SHA-256 and a record joins the transcript, in this
order, so that a kill at any point loses nothing. Whether anybody else changed a file since is told by content, never by
times. Putting back is a change like any other and is recorded like one. What a shell command does is not seen here.

Memories are files that belong to the store: what tools write there is noted after the fact, and put back by a commit.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

from reverie.context.conversation import Conversation
from reverie.errors import Error
from reverie.files import open_real, remove_file, write_atomic, write_real
from reverie.memory.memory import Memory
from reverie.memory.store.worktree import is_topic_path
from reverie.messages.blocks import ToolResult
from reverie.messages.entries import UserEntry, envelope_of, format_timestamp
from reverie.messages.file_changes import FileChange, file_changes, record_of
from reverie.values import value

_NEW_FILE_MODE = 0o644
_SWEEPS = 16
"""A sweep comes whenever this part of all that may be put aside was added."""


@value
class Bounds:
    """How much is put aside."""

    checkpoints: int = 100
    """So many messages back files can be brought."""
    file_bytes: int = 16 * 1024 * 1024
    """A larger file is not put aside."""
    total_bytes: int = 256 * 1024 * 1024
    """All that a session puts aside; the oldest goes first."""


class RestorePlan(StrEnum):
    """What going back would mean for a file."""

    FREE = "free"
    """Only we changed it."""
    OTHERS = "others"
    """Somebody else changed it too, and that would be lost."""
    LOST = "lost"
    """What it held was not kept, or its folder leads elsewhere now."""
    THERE = "there"
    """It is already as it was."""


@value
class Return:
    """One file on its way back."""

    path: Path
    way: RestorePlan
    now: bytes | None
    """What it holds; None when there is no file."""
    then: bytes | None
    """What it would hold; None removes it."""


class FileHistory:
    """The changes that tools of one session make to files."""

    def __init__(
        self,
        log: Conversation,
        folder_of: Callable[[str], Path],
        now: Callable[[], datetime],
        *,
        bounds: Bounds | None = None,
    ) -> None:
        """`folder_of` names the folder in which a session puts things aside."""
        self._log = log
        self._folder_of = folder_of
        self._now = now
        self._bounds = bounds or Bounds()
        self._unswept_bytes = 0
        self._versions: dict[Path, int] = {}

    def note(self, path: Path, after: bytes | None) -> None:
        """A tool is about to change a file."""
        self._note(path, _read_real(path), after)

    def note_done(self, path: Path, before: bytes | None) -> None:
        """A file was changed by a store that keeps what was there too, so that it is enough to tell afterwards."""
        self._note(path, before, _read(path))

    def since(self, message: str) -> tuple[Return, ...]:
        """The files that were changed since before a message, and what going back would mean for each."""
        by_path: dict[Path, list[FileChange]] = {}
        for change in self._changes_since(message):
            by_path.setdefault(change.path, []).append(change)
        return tuple(self._return(path, changes) for path, changes in by_path.items())

    def put_back(
        self, returns: Iterable[Return], write: Callable[[Path, bytes | None], bool] = lambda _path, _content: False
    ) -> tuple[Path, ...]:
        """Bring files back that still are as they were looked at; the paths of those that were brought back.

        `write` may do the writing itself and say so, for files that belong to somebody.
        """
        done = []
        for change in returns:
            if change.way in (RestorePlan.LOST, RestorePlan.THERE) or _read(change.path) != change.now:
                continue
            self._note(change.path, change.now, change.then)
            if not write(change.path, change.then):
                _write(change.path, change.then, is_new=change.now is None)
            done.append(change.path)
        return tuple(done)

    def _note(self, path: Path, before: bytes | None, after: bytes | None) -> None:
        if before == after:
            return
        digest = _digest(before)
        is_kept = before is None or self._put_aside(before, digest or "")
        change = FileChange(self._prompt(), self._log.session, path, digest, _digest(after), is_kept)
        version = self._versions[path] = self._versions.get(path, 0) + 1
        self._log.append(record_of(change, version=version, timestamp=format_timestamp(self._now())))
        if self._unswept_bytes >= self._bounds.total_bytes // _SWEEPS:
            self.sweep()

    def _put_aside(self, content: bytes, digest: str) -> bool:
        if len(content) > self._bounds.file_bytes:
            return False
        copy = self._folder_of(self._log.session) / digest
        if copy.exists():
            return True
        try:
            write_atomic(copy, content)
        except Error:
            # A full disk must not stop the work; going back will say that this file was not kept.
            return False
        self._unswept_bytes += len(content)
        return True

    def sweep(self) -> None:
        """Remove what is too old to go back to, and the oldest of what is too much."""
        self._unswept_bytes = 0
        latest: dict[str, int] = {}
        messages: dict[str, int] = {}
        for change in file_changes(self._log.entries):
            at = messages.setdefault(change.message, len(messages))
            if change.before is not None and change.session == self._log.session:
                latest[change.before] = at
        copies = [(latest.get(path.name, -1), path.stat().st_size, path) for path in self._list_kept()]
        room = self._bounds.total_bytes
        for at, size_bytes, path in sorted(copies, reverse=True):
            room -= size_bytes
            if at < len(messages) - self._bounds.checkpoints or room < 0:
                with suppress(Error):
                    remove_file(path, durable=False)

    def _list_kept(self) -> Sequence[Path]:
        folder = self._folder_of(self._log.session)
        return tuple(folder.iterdir()) if folder.is_dir() else ()

    def _changes_since(self, message: str) -> list[FileChange]:
        entries = self._log.entries
        order = {envelope.uuid: at for at, one in enumerate(entries) if (envelope := envelope_of(one)) is not None}
        start = order.get(message, len(entries))
        # A message that is not here was said in a session of which this one is a part: before everything.
        return [change for change in file_changes(entries) if order.get(change.message, -1) >= start]

    def _return(self, path: Path, changes: Sequence[FileChange]) -> Return:
        first, last = changes[0], changes[-1]
        now, then = _read(path), self._read_kept(first)
        is_there = now is not None or not os.path.lexists(path)
        if is_there and _digest(now) == first.before:
            return Return(path, RestorePlan.THERE, now, now)
        if _digest(then) != first.before or _leads_elsewhere(path):
            return Return(path, RestorePlan.LOST, now, None)
        is_ours = all(one.after == other.before for one, other in pairwise(changes))
        is_free = is_ours and is_there and _digest(now) == last.after
        return Return(path, RestorePlan.FREE if is_free else RestorePlan.OTHERS, now, then)

    def _read_kept(self, change: FileChange) -> bytes | None:
        if change.before is None or not change.is_kept:
            return None
        return _read(self._folder_of(change.session) / change.before)

    def _prompt(self) -> str:
        """The newest message of the user, on whatever branch; the order of these is that of the changes."""
        for entry in reversed(self._log.entries):
            if isinstance(entry, UserEntry) and _is_said(entry):
                return entry.envelope.uuid
        return ""


def _is_said(entry: UserEntry) -> bool:
    if entry.envelope.is_meta or entry.is_summary or entry.source == "system":
        return False
    return not any(isinstance(block, ToolResult) for block in entry.message.content)


def _digest(content: bytes | None) -> str | None:
    return None if content is None else sha256(content).hexdigest()


def _read(path: Path) -> bytes | None:
    """What a plain file holds; None when there is none that can be read."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return None
        return path.read_bytes()
    except OSError:
        return None


def _read_real(path: Path) -> bytes | None:
    """The same for a file of the user's, by its real path: a link that was put into it is not followed."""
    try:
        descriptor = open_real(path)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def _leads_elsewhere(path: Path) -> bool:
    """Whether a link was put into the path since."""
    return Path(os.path.realpath(path.parent)) != path.parent


def _write(path: Path, content: bytes | None, *, is_new: bool) -> None:
    if content is None:
        remove_file(path)
    else:
        write_real(path, content, mode=_NEW_FILE_MODE if is_new else None)


RESTORED_KIND = "files_restored"


def put_back(files: FileHistory, returns: Iterable[Return], memory: Memory, session: str) -> tuple[Path, ...]:
    """Bring files back, memories through their store; the paths of those that were brought back."""

    def write(path: Path, content: bytes | None) -> bool:
        memory_path = memory.holding(path)
        if memory_path is None:
            return False
        owner, name = memory_path
        if is_topic_path(name):
            text = content.decode("utf-8", "replace") if content is not None else None
            owner.store.write_files({name: text}, author="user", reason="rewind", session=session)
        # The index and whatever else lies there follows the topics.
        return True

    return files.put_back(returns, write)


def describe_restored(paths: Iterable[Path]) -> str:
    """What the model is told when files went back and the conversation did not."""
    names = "\n".join(f"- {path}" for path in paths)
    return f"The user brought these files back to an earlier state; read them again before you rely on them:\n{names}"
