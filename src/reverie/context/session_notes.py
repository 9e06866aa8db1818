"""Notes on the running session: when they are due, what they look like, how they are brought up to date (spec 1 §9).

The notes are a file with a fixed frame of headings. The cursor, which says up to where they reach, is an entry of the
transcript, so it outlives a resume. A fork may write them (`notes_fork`), or one reply (`update_notes`); without a
model they are written from structure. An update never costs a turn: what goes wrong leaves file and cursor alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from reverie.context import digest
from reverie.context.cut import Weigh, shortened
from reverie.context.prompt import fill, read_prompt, without_header
from reverie.context.spans import chain, spoken
from reverie.context.stage import NOTHING, FileWrite, Outcome, Scene
from reverie.context.survive import facts_of
from reverie.messages.entries import AssistantEntry, BoundaryEntry, Entry, NotesEntry
from reverie.messages.view import Kind, View
from reverie.places import Places
from reverie.ports import Ask, Flow, ForkSpec
from reverie.settings import Notes

_ANSWER_FACTOR = 1.25
"""The answer is the whole file; a little more than its limit lets a writer finish the last sentence."""


@dataclass(frozen=True, slots=True)
class NotesFile:
    """Where the notes lie, what they say now, and the frame that they have to keep."""

    path: Path
    text: str = ""
    """Empty before the first update."""
    template: str = ""
    prompt: str = ""
    """Texts of the user's own; empty means ours."""

    @property
    def frame(self) -> str:
        """The template in force."""
        return without_header(self.template) or read_prompt("notes_template")

    @property
    def is_blank(self) -> bool:
        """Whether nothing was ever noted: no file, or nothing below the headings."""
        return not self.text.strip() or _flat(self.text) == _flat(self.frame)


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far the notes reach and what happened since."""

    covers: str | None = None
    """The last message that the notes cover."""
    base_tokens: int | None = None
    """The size of the conversation from which growth is measured; None before the first update."""
    tool_calls: int = 0
    """Calls since the last update."""
    last_reply_calls: bool = False
    """Whether the newest reply asks for tools."""
    boundary_after: BoundaryEntry | None = None
    """The newest compaction since the last update."""


@dataclass(frozen=True, slots=True)
class Section:
    """One heading with its instruction line and what was written below."""

    heading: str
    instruction: str
    body: str

    @property
    def text(self) -> str:
        return "\n".join(filter(None, (self.heading, self.instruction, self.body)))


def read_notes_file(path: Path, places: Places) -> NotesFile:
    """The notes as they lie on disk, with the user's own template and prompt where there are any."""
    return NotesFile(path, _read(path), _read(places.notes_template), _read(places.notes_prompt))


def cursor(entries: Iterable[Entry]) -> Cursor:
    """The state of the notes after these entries of a chain."""
    covers: str | None = None
    base: int | None = None
    calls = 0
    reply: str | None = None
    reply_calls = False
    boundary: BoundaryEntry | None = None
    for entry in entries:
        match entry:
            case NotesEntry():
                covers, base, calls, boundary = entry.covers, entry.tokens, 0, None
            case BoundaryEntry():
                # The conversation is smaller now; measured from its old size it would never have grown.
                base = None if base is None else min(base, entry.post_tokens or 0)
                boundary = entry
            case AssistantEntry(is_error=False):
                same = entry.message_id is not None and entry.message_id == reply
                now = bool(entry.message.tool_uses)
                reply, reply_calls = entry.message_id, (reply_calls and same) or now
                calls += len(entry.message.tool_uses)
            case _:
                pass
    return Cursor(covers, base, calls, reply_calls, boundary)


def is_due(state: Cursor, used_tokens: int, settings: Notes) -> bool:
    """Whether notes are to be written now: the first at a certain size, later ones after growth and work or a pause."""
    if not settings.enabled:
        return False
    if state.base_tokens is None:
        return used_tokens >= settings.init_tokens
    grown = used_tokens - state.base_tokens >= settings.growth_tokens
    return grown and (state.tool_calls >= settings.tool_calls or not state.last_reply_calls)


def update_notes(view: View, entries: Sequence[Entry], scene: Scene, settings: Notes, file: NotesFile) -> Flow[Outcome]:
    """Ask for the notes in one reply, and check that the frame is whole; the notes by structure stand in otherwise."""

    def embedded() -> str:
        return notes_by_structure(entries, view.leaf, scene, settings, file)

    reply = yield Ask(
        "notes",
        instruction(file, settings, scene.weigh_text),
        embedded,
        context=view.messages,
        max_tokens=int(settings.total_tokens * _ANSWER_FACTOR),
        embedded_on_failure=True,
    )
    text = _unfenced(reply.text)
    if not keeps_frame(text, file.frame):
        text = embedded()
    return noted(text, view, entries, scene, file)


def notes_fork(entries: Sequence[Entry], view: View, scene: Scene, settings: Notes, file: NotesFile) -> ForkSpec:
    """The same update as work for a child agent, which may only edit the notes file."""
    return ForkSpec(
        "notes",
        instruction(file, settings, scene.weigh_text),
        tools=("Edit",),
        paths=(file.path,),
        max_rounds=settings.max_rounds,
        embedded=lambda: notes_by_structure(entries, view.leaf, scene, settings, file),
    )


def noted(text: str, view: View, entries: Sequence[Entry], scene: Scene, file: NotesFile) -> Outcome:
    """The outcome of a successful update: the file, and a cursor that moves only when no tool call is open."""
    if not text.strip():
        return NOTHING
    state = cursor(chain(entries, view.leaf))
    newest = view.items[-1].uuid if view.items else None
    covers = state.covers if _ends_in_calls(view) else newest
    entry = NotesEntry(scene.envelope(), covers, scene.budget.used_tokens)
    return Outcome((entry,), (FileWrite(file.path, text.rstrip("\n") + "\n"),))


def notes_by_structure(
    entries: Sequence[Entry], leaf: str | None, scene: Scene, settings: Notes, file: NotesFile
) -> str:
    """The notes without a model, from the whole conversation."""
    return digest.notes(
        facts_of(spoken(chain(entries, leaf))),
        section_tokens=settings.section_tokens,
        total_tokens=settings.total_tokens,
        weigh=scene.weigh_text,
        template=file.frame,
    )


def instruction(file: NotesFile, settings: Notes, weigh: Weigh) -> str:
    """What the writer of the notes is told: the prompt with the present notes and a warning for each limit passed."""
    values: Mapping[str, str] = {
        "currentNotes": file.text.strip() or file.frame,
        "notesPath": str(file.path),
        "sectionTokens": f"{settings.section_tokens:,}",
        "warnings": warnings(file.text, settings, weigh),
    }
    prompt = without_header(file.prompt) or read_prompt("notes")
    filled = fill(prompt, values)
    # A prompt of the user's own need not name the placeholder; the limits hold all the same.
    return filled if "{{warnings}}" in prompt else "\n".join(filter(None, (filled, values["warnings"])))


def warnings(text: str, settings: Notes, weigh: Weigh) -> str:
    """One line for each section over its limit, and one for the whole."""
    rows = [
        f"- WARNING: the section “{section.heading.removeprefix('# ')}” has {size:,} tokens; "
        f"shorten it to {settings.section_tokens:,}."
        for section in sections(text)
        if (size := weigh(section.text)) > settings.section_tokens
    ]
    total = weigh(text)
    if total > settings.total_tokens:
        rows.append(
            f"- CRITICAL: the notes have {total:,} tokens in all and may have {settings.total_tokens:,}. "
            "Shorten them before you add anything; keep “Current State” and “Errors & Corrections”."
        )
    return "\n".join(rows)


def sections(text: str) -> list[Section]:
    """The notes by heading; text before the first heading is passed over, and code is no heading."""
    starts = list(_heading_starts(text))
    found: list[Section] = []
    for start, end in pairwise([*starts, len(text)]):
        heading, _, rest = text[start:end].partition("\n")
        first, _, below = rest.partition("\n")
        is_instruction = first.startswith(("_", "*")) and first.rstrip().endswith(("_", "*"))
        instruction, body = (first.strip(), below) if is_instruction else ("", rest)
        found.append(Section(heading.strip(), instruction, body.strip("\n")))
    return found


def keeps_frame(text: str, frame: str) -> bool:
    """Whether every heading and instruction line of the frame is there, unchanged and in order, and nothing else is."""
    wanted = [(section.heading, section.instruction) for section in sections(frame)]
    return bool(wanted) and wanted == [(section.heading, section.instruction) for section in sections(text)]


def shortened_notes(text: str, settings: Notes, weigh: Weigh, *, total_tokens: int, path: Path) -> str:
    """The notes as a summary: no instruction lines, no empty sections, each section and all within their limits."""
    pointer = f"all of it is in {path}"
    parts: list[str] = []
    left = total_tokens
    for section in sections(text):
        if not section.body.strip():
            continue
        body = section.body[: settings.compact_section_chars]
        if len(body) < len(section.body):
            body = body[: body.rfind("\n")] if "\n" in body else body
            body += f"\n[… this section was cut; {pointer}]"
        part = shortened(f"{section.heading}\n{body}", min(left, settings.section_tokens), weigh, pointer)
        weight = weigh(part)
        if weight > left:
            continue
        left -= weight
        parts.append(part)
    return "\n\n".join(parts)


def _heading_starts(text: str) -> Iterable[int]:
    at = 0
    in_code = False
    for line in text.splitlines(keepends=True):
        if line.startswith("```"):
            in_code = not in_code
        elif not in_code and line.startswith("# "):
            yield at
        at += len(line)


def _ends_in_calls(view: View) -> bool:
    """Whether the newest reply asks for tools; every record of that reply counts."""
    newest = next((item for item in reversed(view.items) if item.kind is Kind.REPLY), None)
    if newest is None:
        return False
    records = [
        item for item in view.items if item is newest or (item.message_id and item.message_id == newest.message_id)
    ]
    return any(item.message.tool_uses for item in records)


def _unfenced(text: str) -> str:
    stripped = text.strip()
    if stripped.startswith("```") and stripped.endswith("```"):
        return stripped.partition("\n")[2].rpartition("\n")[0].strip()
    return stripped


def _flat(text: str) -> str:
    return " ".join(text.split())


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
