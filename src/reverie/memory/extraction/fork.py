"""Extraction by a model: the `ForkSpec` of the work, and the gate that checks each file before it is written.

The fork may read the project, the memory and its session, and write topic files below the memory directory; it has no
shell, since lists of harmless commands leak. The prompt is `prompts/extraction.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from datetime import UTC, datetime
from pathlib import Path

from reverie.errors import Damaged, Error
from reverie.files import front_matter
from reverie.memory.extraction.candidate import RefusedCandidate
from reverie.memory.extraction.extract import judge_written
from reverie.memory.extraction.gate import GateContext
from reverie.memory.extraction.refusals import refuse_ask
from reverie.memory.extraction.session import SessionWords
from reverie.memory.model_asks import drop_bad_asks
from reverie.memory.prompt_files import fill_prompt
from reverie.memory.store.worktree import INDEX_FILE
from reverie.memory.topics.topic import Topic, parse_topic, strip_code_fence
from reverie.messages.blocks import JsonObject
from reverie.models.ports import ForkSpec
from reverie.values import value

LABEL = "extraction"
TOOLS = ("Read", "Grep", "Glob", "Edit", "Write")
MANIFEST_LINES = 200
"""As many as a scan keeps."""
MOST_NEW_FILES = 10
"""A turn that teaches more than this was not understood."""


def extraction_fork(
    directory: Path,
    topics: Iterable[Topic],
    *,
    messages: int,
    written: Iterable[str] = (),
    max_rounds: int = 5,
) -> ForkSpec:
    """The work of one run over the last `messages` messages; `written` names what the main agent saved by itself."""
    values = {
        "messages": str(messages),
        "directory": str(directory),
        "rounds": str(max_rounds),
        "manifest": manifest(topics, directory) or "(none yet)",
        "written": _already(written),
    }
    return ForkSpec(
        LABEL,
        fill_prompt("extraction", values),
        tools=TOOLS,
        paths=(directory,),
        max_rounds=max_rounds,
    )


def manifest(topics: Iterable[Topic], directory: Path) -> str:
    """One line for each memory there is, the newest first: `- [type] file (day): description`.

    A file that names no day is as old as its time in `directory` says; that time also orders those of one day.
    """
    dated = [(topic, _read_modified_time(topic, directory)) for topic in topics]
    dated.sort(key=lambda each: (each[0].observed or each[1].date(), each[1], each[0].path), reverse=True)
    return "\n".join(_line(topic, written) for topic, written in dated[:MANIFEST_LINES])


@value
class WriteGate:
    """Judges the calls of a fork that write topic files; to be asked besides the tools and paths of its spec."""

    directory: Path
    words: SessionWords
    """The session that the fork was made of."""
    scene: GateContext
    """What is known and forbidden (`Keeper.scene`)."""
    refused: Callable[[RefusedCandidate], None] = lambda _refusal: None
    """Is told of every refusal, to keep it."""
    made: set[str] = field(default_factory=set)
    """The new files that were let through."""

    def refuse(self, tool: str, arguments: JsonObject) -> str:
        """Why a call may not be made, in a sentence for the model; empty when it may."""
        file_path = arguments.get("file_path")
        if tool not in {"Write", "Edit"} or not isinstance(file_path, str):
            return ""
        path = Path(file_path)
        if path.name == INDEX_FILE:
            return f"{INDEX_FILE} is generated from the topic files; write only those."
        if path.suffix != ".md":
            return "Only topic files (`.md`) may be written here."
        text = _after_call(path, arguments)
        if text is None:
            return ""
        inside = _inside(path, self.directory)
        try:
            old = _read_topic(path, inside)
            topic, dropped = drop_bad_asks(parse_topic(inside, strip_code_fence(text)), old)
        except Error as problem:
            return f"This is no topic file: {problem}"
        if old is None and (topic.type is None or front_matter.split(inside, strip_code_fence(text)) is None):
            return "This is no topic file: it needs front matter with name, description and type."
        if old is None and inside not in self.made and len(self.made) >= MOST_NEW_FILES:
            return f"Not stored: this run has added {MOST_NEW_FILES} files already; leave out the rest."
        refusal = judge_written(topic, self.words, self.scene, old)
        if refusal is not None:
            self.refused(refusal)
            return f"Not stored: it {refusal.reason.value}. Leave it out; doing nothing is a normal result."
        self.made.update({inside} if old is None else ())
        for ask in dropped:
            if ask.is_dangerous:
                self.refused(refuse_ask(ask))
        return ""


def _after_call(path: Path, arguments: JsonObject) -> str | None:
    """The text that the file would have; None when the call cannot succeed anyway."""
    content, old, new = arguments.get("content"), arguments.get("old_string"), arguments.get("new_string")
    if isinstance(content, str):
        return content
    if not isinstance(old, str) or not isinstance(new, str):
        return None
    try:
        before = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return before.replace(old, new, -1 if arguments.get("replace_all") is True else 1) if old in before else None


def _read_topic(path: Path, inside: str) -> Topic | None:
    """The topic that a file holds now; None for a new one."""
    try:
        return parse_topic(inside, path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, Damaged):
        return None


def _inside(path: Path, directory: Path) -> str:
    try:
        return path.resolve().relative_to(directory.resolve()).as_posix()
    except ValueError:
        return path.name


def _read_modified_time(topic: Topic, directory: Path) -> datetime:
    try:
        return datetime.fromtimestamp((directory / topic.path).stat().st_mtime, UTC)
    except (OSError, ValueError, OverflowError):
        return datetime.min.replace(tzinfo=UTC)


def _line(topic: Topic, written: datetime) -> str:
    kind = f"[{topic.type}] " if topic.type else ""
    day = topic.observed or (written.date() if written.year > 1 else None)
    return f"- {kind}{topic.path}{f' ({day.isoformat()})' if day else ''}: {topic.description}"


def _already(written: Iterable[str]) -> str:
    names = ", ".join(f"`{name}`" for name in written)
    if not names:
        return ""
    return f"\nIn these messages you have already saved {names}. Leave that alone and look for what else is there.\n"
