"""A session that grows entry by entry, and the scene in which its reductions run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from reverie.context.replacement import Case
from reverie.context.restore import NO_SURROUNDINGS, RestoreContext
from reverie.context.session_notes import (
    BY_STRUCTURE,
    NotesCursor,
    NotesFile,
    build_notes_outcome,
    find_covered,
    notes_by_structure,
)
from reverie.context.stage import StageContext, StageOutcome
from reverie.messages.blocks import Block, Json, ToolResult, ToolUse
from reverie.messages.entries import (
    AssistantEntry,
    AttachmentEntry,
    Entry,
    Envelope,
    MarkEntry,
    PromptEntry,
    SystemBlock,
    ToolSpec,
    UserEntry,
    envelope_of,
)
from reverie.messages.message import Role, Usage, assistant, user
from reverie.messages.records import decode_line, encode_line
from reverie.messages.view import Item, View, project
from reverie.models.ports import Ask, Flow
from reverie.models.profiles import profile
from reverie.models.tokens.estimate import weigh_message
from reverie.models.tokens.rates import rates_for
from reverie.models.tokens.window import budget as draw
from reverie.settings import CompactionSettings, NotesSettings, Settings
from reverie.testing.build import reply

FACTS = profile("claude-sonnet-4-5")
RATES = rates_for(FACTS)
NOON = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)

Result = TypeVar("Result")


def weigh(item: Item) -> int:
    return round(weigh_message(item.message, RATES))


@dataclass
class Session:
    """`Session().say("fix it").call("Read", file_path="a.py").answer("text").reply("done")`."""

    entries: list[Entry] = field(default_factory=list)
    leaf: str | None = None
    count: int = 0
    calls: int = 0
    now: datetime = NOON
    stamp: str = "2026-11-01T10:00:00.000Z"
    edits_cache: bool = False

    def envelope(self, *, is_meta: bool = False) -> Envelope:
        self.count += 1
        uuid = f"{self.count:08x}-0000-4000-8000-000000000000"
        parent, self.leaf = self.leaf, uuid
        return Envelope(uuid, parent, "s1", self.stamp, is_meta=is_meta)

    def add(self, entry: Entry) -> Session:
        self.entries.append(entry)
        return self

    def prompt(self, text: str, *tools: str) -> Session:
        specs = tuple(ToolSpec(name, f"{name} does something", {"type": "object"}) for name in tools)
        return self.add(PromptEntry(self.envelope(), (SystemBlock(text),), specs))

    def say(self, *content: str | Block, is_meta: bool = False) -> Session:
        return self.add(UserEntry(self.envelope(is_meta=is_meta), user(*content)))

    def reply(self, *content: str | Block, usage: Usage | None = None) -> Session:
        envelope = self.envelope()
        return self.add(AssistantEntry(envelope, assistant(*content), f"msg-{self.count}", usage=usage))

    def call(self, tool: str, *, said: str = "", **parameters: Json) -> Session:
        self.calls += 1
        call = ToolUse(f"call_{self.calls}", tool, parameters)
        return self.reply(*([said] if said else []), call)

    def answer(self, content: str, *, is_error: bool = False) -> Session:
        return self.say(ToolResult(f"call_{self.calls}", content, is_error))

    def work(self, tool: str, result: str, *, said: str = "", is_error: bool = False, **parameters: Json) -> Session:
        return self.call(tool, said=said, **parameters).answer(result, is_error=is_error)

    def attach(self, kind: str, text: str) -> Session:
        return self.add(AttachmentEntry(self.envelope(), kind, user(text).content))

    def mark(self, name: str, **data: Json) -> Session:
        return self.add(MarkEntry(self.envelope(), name, data))

    def uuid(self, number: int = -1) -> str:
        envelope = envelope_of(self.entries[number])
        assert envelope is not None
        return envelope.uuid

    @property
    def view(self) -> View:
        return project(self.entries)

    def tokens(self) -> int:
        return sum(map(weigh, self.view.items))

    def scene(self, window: int = 20_000, used: int | None = None) -> StageContext:
        lines = draw(window, used_tokens=self.tokens() if used is None else used)
        return StageContext(lines, self.now, self.envelope, weigh, edits_cache=self.edits_cache, entries=self.entries)

    def case(
        self,
        window: int = 20_000,
        *,
        settings: CompactionSettings | None = None,
        around: RestoreContext = NO_SURROUNDINGS,
        trigger: str = "auto",
        used: int | None = None,
    ) -> Case:
        scene = self.scene(window, used)
        return Case(self.view, tuple(self.entries), scene, settings or CompactionSettings(), around, trigger)

    def take(self, outcome: StageOutcome) -> View:
        """Append what a reduction wants."""
        self.entries.extend(outcome.entries)
        return self.view


def grown(entries: Sequence[Entry]) -> Session:
    """A session that goes on from entries made elsewhere."""
    view = project(entries)
    return Session(list(entries), view.leaf, count=0x1000, calls=0x1000)


def resumed(entries: Iterable[Entry]) -> list[Entry]:
    """The entries after a trip through the file."""
    return [decode_line(encode_line(entry)) for entry in entries]


def ask(flow: Flow[Result]) -> Ask:
    """The first question of a flow."""
    return next(flow)


def conclude(flow: Flow[Result], *answers: str | Exception) -> Result:
    """Answer each question in turn, the rest by embedded means, and return what the flow concludes."""
    waiting = list(answers)
    try:
        question = next(flow)
        while True:
            step = waiting.pop(0) if waiting else question.embedded()
            question = flow.throw(step) if isinstance(step, Exception) else flow.send(reply(step))
    except StopIteration as end:
        result: Result = end.value
        return result


def embedded(flow: Flow[Result]) -> Result:
    """Run a flow without a model."""
    return conclude(flow)


def with_settings(**areas: object) -> Settings:
    return replace(Settings(), **areas)  # type: ignore[arg-type]  # areas by name


def long_session(turns: int = 6, *, lines: int = 60) -> Session:
    """Work on a few files over some turns, each with reads, edits, a command and an error."""
    session = Session()
    session.prompt("You are a careful engineer.", "Read", "Edit", "Bash")
    for turn in range(turns):
        session.say(
            f"Please change the importer number {turn}: it must accept empty lines and never drop a row silently."
        )
        body = "\n".join(f"{n}\tdef function_{turn}_{n}(row): return parse(row, strict={n % 2})" for n in range(lines))
        session.work("Read", body, said=f"I look at importer {turn}.", file_path=f"src/importer_{turn}.py")
        session.work(
            "Edit", "The file was updated.", file_path=f"src/importer_{turn}.py",
            old_string="strict=0", new_string=f"strict=mode_{turn}",
        )  # fmt: skip
        session.work(
            "Bash", f"E   ValueError: row {turn} has no key\n1 failed in 0.2s", command=f"pytest tests/test_{turn}.py",
            is_error=True,
        )  # fmt: skip
        session.work("Bash", "1 passed in 0.1s", command=f"pytest tests/test_{turn}.py")
        session.reply(f"Importer {turn} accepts empty lines now.", usage=None)
    return session


def spoken_texts(entries: Iterable[Entry]) -> list[str]:
    """What the user typed in these entries."""
    return [
        entry.message.text
        for entry in entries
        if isinstance(entry, UserEntry)
        and not entry.is_summary
        and not entry.envelope.is_meta
        and not entry.message.tool_results
        and entry.message.role is Role.USER
        and entry.message.text.strip()
    ]


def texts(view: View) -> str:
    from reverie.context.spans import plain

    return "\n".join(plain(item) for item in view.items)


_GOLDEN = Path(__file__).parent / "golden"


def golden(name: str, text: str) -> None:
    """Compare with the file of that name; REVERIE_REWRITE_GOLDEN=1 writes it anew, and the diff is the review."""
    path = _GOLDEN / name
    if os.environ.get("REVERIE_REWRITE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text + "\n"


def unpaired(view: View) -> set[str]:
    """Calls without an answer and answers without a call."""
    calls = {call.id for item in view.items for call in item.message.tool_uses}
    answers = {result.tool_use_id for item in view.items for result in item.message.tool_results}
    return calls ^ answers


def with_notes(session: Session, path: Path) -> NotesFile:
    """Bring the notes up to date from structure and return the file."""
    file = NotesFile(path)
    text = notes_by_structure(session.entries, session.view.leaf, session.scene(), NotesSettings(), file)
    covers = find_covered(session.view, NotesCursor())
    session.take(build_notes_outcome(text, covers, session.tokens(), BY_STRUCTURE, session.scene(), file))
    return NotesFile(path, text)
