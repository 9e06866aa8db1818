"""Notes on the running session: when they are due, what they look like, how they are brought up to date.

The notes are a file with a fixed frame of headings. The cursor, which says up to where they reach, is an entry of the
transcript, so it outlives a resume. A fork edits them (`notes_fork`); without a model they are written from structure.
An update never costs a turn: what goes wrong leaves file and cursor alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from reverie.context import digest
from reverie.context.cut import Weigh, shorten_text
from reverie.context.prompt import fill, read_prompt, without_header
from reverie.context.spans import chain, spoken
from reverie.context.stage import FileWrite, StageContext, StageOutcome
from reverie.context.survive import facts_of
from reverie.files.places import Places
from reverie.messages.entries import AssistantEntry, BoundaryEntry, Entry, NotesEntry
from reverie.messages.rules import legal_cuts
from reverie.messages.view import Item, ItemKind, View
from reverie.models.ports import ForkSpec
from reverie.settings import NotesSettings
from reverie.values import value

BY_STRUCTURE = "structure"
"""Who wrote notes that no model wrote."""


@value
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


@value
class NotesCursor:
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
    by: str = ""
    """Who wrote the notes; empty when nobody said so."""


@value
class NotesSection:
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


def cursor(entries: Iterable[Entry], *, beside_tokens: int = 0) -> NotesCursor:
    """The state of the notes after these entries of a chain; `beside_tokens` is what no conversation is."""
    covers: str | None = None
    by = ""
    base: int | None = None
    calls = 0
    reply: str | None = None
    reply_calls = False
    boundary: BoundaryEntry | None = None
    for entry in entries:
        match entry:
            case NotesEntry():
                covers, base, calls, boundary, by = entry.covers, entry.tokens, 0, None, entry.by
            case BoundaryEntry():
                # The conversation is smaller now; measured from its old size it would never have grown.
                base = None if base is None else min(base, max(0, (entry.post_tokens or 0) - beside_tokens))
                boundary = entry
            case AssistantEntry(is_error=False):
                same = entry.message_id is not None and entry.message_id == reply
                now = bool(entry.message.tool_uses)
                reply, reply_calls = entry.message_id, (reply_calls and same) or now
                calls += len(entry.message.tool_uses)
            case _:
                pass
    return NotesCursor(covers, base, calls, reply_calls, boundary, by)


def is_due(state: NotesCursor, used_tokens: int, settings: NotesSettings) -> bool:
    """Whether notes are to be written now: the first at a certain size, later ones after growth and work or a pause."""
    if not settings.enabled:
        return False
    if state.base_tokens is None:
        return used_tokens >= settings.init_tokens
    grown = used_tokens - state.base_tokens >= settings.growth_tokens
    return grown and (state.tool_calls >= settings.tool_calls or not state.last_reply_calls)


def notes_fork(file: NotesFile, settings: NotesSettings, weigh: Weigh) -> ForkSpec:
    """An update as work for a child agent, which may only edit the notes file."""
    return ForkSpec(
        "notes",
        instruction(file, settings, weigh),
        tools=("Edit",),
        paths=(file.path,),
        max_rounds=settings.max_rounds,
    )


def conversation_tokens(view: View, weigh: Callable[[Item], int]) -> int:
    """How much was said and done; what joined by itself, system text and tools do not count."""
    return sum(weigh(item) for item in view.items if item.kind is not ItemKind.ATTACHMENT)


def find_covered(view: View, state: NotesCursor) -> str | None:
    """The last message that notes on this view cover: the end of the newest round without an open call."""
    items = view.items
    answered = {result.tool_use_id for item in items for result in item.message.tool_results}
    first_open = next(
        (n for n, item in enumerate(items) if any(call.id not in answered for call in item.message.tool_uses)),
        len(items),
    )
    if first_open < len(items):
        reply = items[first_open].message_id
        while first_open and reply and items[first_open - 1].message_id == reply:
            first_open -= 1
    end = max(cut for cut in legal_cuts(items) if cut <= first_open)
    return items[end - 1].uuid if end else state.covers


def build_notes_outcome(
    text: str, covers: str | None, tokens: int, by: str, scene: StageContext, file: NotesFile
) -> StageOutcome:
    """The outcome of an update: the cursor, and the file where it has another text."""
    writes = (FileWrite(file.path, text.rstrip("\n") + "\n"),) if text.strip() else ()
    return StageOutcome((NotesEntry(scene.envelope(), covers, tokens, by),), writes)


def notes_by_structure(
    entries: Sequence[Entry], leaf: str | None, scene: StageContext, settings: NotesSettings, file: NotesFile
) -> str:
    """The notes without a model, from the whole conversation."""
    return digest.notes(
        facts_of(spoken(chain(entries, leaf))),
        section_tokens=settings.section_tokens,
        total_tokens=settings.total_tokens,
        weigh=scene.weigh_text,
        template=file.frame,
    )


def instruction(file: NotesFile, settings: NotesSettings, weigh: Weigh) -> str:
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


def warnings(text: str, settings: NotesSettings, weigh: Weigh) -> str:
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


def sections(text: str) -> list[NotesSection]:
    """The notes by heading; text before the first heading is passed over, and code is no heading."""
    starts = list(_heading_starts(text))
    notes_sections: list[NotesSection] = []
    for start, end in pairwise([*starts, len(text)]):
        heading, _, rest = text[start:end].partition("\n")
        first, _, below = rest.partition("\n")
        is_instruction = first.startswith(("_", "*")) and first.rstrip().endswith(("_", "*"))
        instruction, body = (first.strip(), below) if is_instruction else ("", rest)
        notes_sections.append(NotesSection(heading.strip(), instruction, body.strip("\n")))
    return notes_sections


def keeps_frame(text: str, frame: str) -> bool:
    """Whether every heading and instruction line of the frame is there, unchanged and in order, and nothing else is."""
    frame_sections = [(section.heading, section.instruction) for section in sections(frame)]
    return bool(frame_sections) and frame_sections == [
        (section.heading, section.instruction) for section in sections(text)
    ]


def shorten_notes(text: str, settings: NotesSettings, weigh: Weigh, *, total_tokens: int, path: Path) -> str:
    """The notes as a summary: no instruction lines, no empty sections, each section and all within their limits."""
    pointer = f"all of it is in {path}"
    parts: list[str] = []
    tokens_left = total_tokens
    for section in sections(text):
        if not section.body.strip():
            continue
        body = section.body[: settings.compact_section_chars]
        if len(body) < len(section.body):
            body = body[: body.rfind("\n")] if "\n" in body else body
            body += f"\n[… this section was cut; {pointer}]"
        part = shorten_text(f"{section.heading}\n{body}", min(tokens_left, settings.section_tokens), weigh, pointer)
        weight = weigh(part)
        if weight > tokens_left:
            continue
        tokens_left -= weight
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


def strip_fence(text: str) -> str:
    """A reply without the fence that some models put around it."""
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
