"""Renders a recalled memory: header, the part of its text that is shown, limits, attachment.

A hit is made once and kept as it is; nothing here is computed again when a conversation is rendered. Which memories are
recalled is `recall.py`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from reverie.memory.search.analyze import terms
from reverie.memory.search.document import Reasons
from reverie.settings.tree import AgeSettings
from reverie.values import value

if TYPE_CHECKING:
    from reverie.memory.topics.anchors import AnchorCheck
    from reverie.memory.topics.value import Topic

_LEFT_OUT = "[…]"
_LINE_CHARS = 60
"""How much of its description stands in the line of a memory, beside the file name, which has its name."""
DESCRIBED_FROM = 0.08
"""One that is less likely to help is named by its file alone, where that is a name in words."""
_LEAST_FILE_WORDS = 4
"""Type and three words of a name."""
_LINE_BREAK = "\n"
_LINE_MARKS = {"seen": " (seen in a file or page, not said by the user)"}
LINES_HEADING = "May matter (read first), in "
_FENCE_BYTES = 24
"""What a block adds to its text: fences, label and line breaks."""
_RESERVED_BYTES = 1_000
"""How much is kept for each whole memory behind another, as far as that leaves it half of the room."""
_LEAST_EXCERPT_BYTES = 800
"""With less room than this a long memory is named in a line: a few words of it would only mislead."""
_LOOKED_AT_CHARS = 100_000
"""How far into a text the part that matters is looked for."""


@value
class RenderLimits:
    """How much may be shown."""

    hits: int = 5
    file_lines: int = 200
    file_bytes: int = 4_096
    turn_bytes: int = 3_000
    show_again_tokens: int = 50_000
    age: AgeSettings = AgeSettings()


@value
class Hit:
    """One recalled memory."""

    topic: Topic
    score: float
    """How likely it helps, from 0 to 1."""
    why: str
    """Why it was recalled, in words."""
    text: str
    """Its file, whole or the part that matters within the limits; or one line that names it."""
    header: str = ""
    """What stands before it in a conversation: age, state of its anchors, path. Made once."""
    age_days: int = 0
    anchors: tuple[AnchorCheck, ...] = ()
    reasons: Reasons = Reasons()
    path: str = ""
    """The whole path of its file."""
    scope: str = "project"
    shown: Literal["whole", "line"] = "whole"
    """Whether the text is that of the memory or one line that names it."""
    file_time: datetime | None = None
    """When its file was last changed."""

    def __repr__(self) -> str:
        """What a person wants to see of a hit; its fields have the rest."""
        return f"Hit({self.topic.name!r}, score={self.score:.2f}, shown={self.shown!r}, why={self.why!r})"

    @property
    def trust(self) -> str | None:
        return self.topic.trust

    @property
    def size_bytes(self) -> int:
        return len(self.text.encode())


@value
class Shown:
    """A memory that stands in the conversation."""

    path: str
    size_bytes: int
    at_tokens: int
    """How many tokens the conversation had when it was shown."""
    is_line: bool = False
    """Whether only a line names it."""


def find_still_shown(shown: Iterable[Shown], tokens: int, limits: RenderLimits) -> tuple[Shown, ...]:
    """Those that must not be shown again yet: a memory may return once enough has been said since.

    A compaction removes attachments from the history, so the caller passes only those that are left.
    """
    return tuple(each for each in shown if tokens - each.at_tokens < limits.show_again_tokens)


def attachment(hits: Sequence[Hit]) -> str:
    """The hits as they enter a conversation: whole ones each with its header, the others as lines, all of it data."""
    from reverie.messages.injection import fence_text

    parts = [f"{hit.header}\n{fence_text(hit.text)}" for hit in hits if hit.shown == "whole"]
    by_folder: dict[str, list[str]] = {}
    for hit in hits:
        if hit.shown == "line":
            by_folder.setdefault(_folder_of(hit), []).append(hit.text)
    parts += [f"{LINES_HEADING}{folder}\n{fence_text(_LINE_BREAK.join(lines))}" for folder, lines in by_folder.items()]
    return "\n\n".join(parts)


def _folder_of(hit: Hit) -> str:
    return hit.path.removesuffix(f"/{hit.topic.path}")


def describe_in_a_line(hit: Hit) -> str:
    """One line on a memory: its file, and what it says in short if it is likely enough to help."""
    topic = hit.topic
    mark = _LINE_MARKS.get(topic.trust or "", "")
    if hit.score < DESCRIBED_FROM and topic.path.count("_") + 1 >= _LEAST_FILE_WORDS:
        return f"- {topic.path}{mark}"
    says = " ".join((topic.description or topic.name or topic.body[:_LINE_CHARS]).split())
    return f"- {topic.path}: {says if len(says) <= _LINE_CHARS else f'{says[:_LINE_CHARS]}…'}{mark}"


def fit_into_turn(hits: Sequence[Hit], query_terms: Collection[str], limits: RenderLimits) -> tuple[Hit, ...]:
    """The hits as they fit into one turn: whole ones as far as there is room beside the lines of those behind them."""
    lines = [replace(hit, shown="line", text=describe_in_a_line(hit)) for hit in hits]
    sizes = [line.size_bytes + 1 for line in lines]
    wanted = [
        min(_cost(hit), _RESERVED_BYTES) if hit.shown == "whole" else size
        for hit, size in zip(hits, sizes, strict=True)
    ]
    room = limits.turn_bytes - len(f"{LINES_HEADING}{_folder_of(hits[0])}".encode()) - _FENCE_BYTES if hits else 0
    fitting: list[Hit] = []
    for number, hit in enumerate(hits):
        if room < sizes[number]:
            break
        kept_free = max(sum(sizes[number + 1 :]), min(sum(wanted[number + 1 :]), room // 2))
        is_before_lines = not fitting or fitting[-1].shown == "whole"
        shown = None
        if hit.shown == "whole" and is_before_lines:
            shown = _fit_whole(hit, query_terms, room - kept_free, limits)
        fitting.append(shown or lines[number])
        room -= _cost(shown) if shown else sizes[number]
    return tuple(fitting)


def _fit_whole(hit: Hit, query_terms: Collection[str], room: int, limits: RenderLimits) -> Hit | None:
    """A hit with its text, or as much of it as there is room for; None where that is too little to be of use."""
    body = hit.topic.body
    text_room = min(limits.file_bytes, room - _cost(replace(hit, text="")))
    head = hit.text.removesuffix(body)
    if text_room < min(_LEAST_EXCERPT_BYTES, len(hit.text.encode())):
        return None
    return replace(hit, text=excerpt(head, body, query_terms, replace(limits, file_bytes=text_room), path=hit.path))


def _cost(hit: Hit) -> int:
    """How many bytes a whole memory takes in a conversation."""
    return len(hit.header.encode()) + hit.size_bytes + _FENCE_BYTES


def excerpt(head: str, body: str, query_terms: Collection[str], limits: RenderLimits, *, path: str) -> str:
    """The file whole when it fits, else its head and the part of its body that has the wanted terms."""
    whole = f"{head}{body}"
    if whole.count("\n") < limits.file_lines and len(whole.encode()) <= limits.file_bytes:
        return whole
    short_head = _short_head(head, limits.file_bytes // 4)
    lines = body.split("\n")
    looked_at = body[:_LOOKED_AT_CHARS].split("\n")
    note = f"({{shown}} of {len(lines)} lines are shown. Read {path} for the rest.)"
    room_lines = limits.file_lines - short_head.count("\n") - 4
    room_bytes = limits.file_bytes - len(f"{short_head}\n{_LEFT_OUT}\n\n{_LEFT_OUT}\n{note}".encode()) - 4
    first, last = _best_span(looked_at, query_terms, room_lines, room_bytes)
    shown = [_cut_around(line, query_terms, room_bytes) for line in looked_at[first:last]]
    before = [_LEFT_OUT] if first > 0 else []
    after = [_LEFT_OUT] if last < len(lines) else []
    lines_note = note.format(shown=f"Lines {first + 1} to {last}" if last - first > 1 else f"Line {first + 1}")
    return short_head + "\n".join([*before, *shown, *after, lines_note])


def _short_head(head: str, room_bytes: int) -> str:
    """The lines of front matter that a reader needs; sources and anchors may be long."""
    if len(head.encode()) <= room_bytes:
        return head
    head_lines = re.findall(r"(?m)^(?:name|description|type|observed|trust):.*\n", head)
    text = "".join(["---\n", *head_lines, "---\n"]) if head_lines else ""
    return text if len(text.encode()) <= room_bytes else ""


def _best_span(lines: Sequence[str], query_terms: Collection[str], room_lines: int, room_bytes: int) -> tuple[int, int]:
    """The run of lines around the paragraph that matches best, as much as fits; most of it below its beginning."""
    first, last = max(_paragraphs(lines), key=lambda span: (_matches(lines, span, query_terms), -span[0]))
    last = first + 1
    while last < len(lines) and _fits(lines[first : last + 1], room_lines * 3 // 4, room_bytes * 3 // 4):
        last += 1
    while first > 0 and _fits(lines[first - 1 : last], room_lines, room_bytes):
        first -= 1
    while last < len(lines) and _fits(lines[first : last + 1], room_lines, room_bytes):
        last += 1
    return first, last


def _paragraphs(lines: Sequence[str]) -> list[tuple[int, int]]:
    starts = [0]
    for number in range(1, len(lines)):
        is_heading = lines[number].startswith("#")
        after_blank = not lines[number - 1].strip() and lines[number].strip()
        if is_heading or (after_blank and not lines[starts[-1]].startswith("#")):
            starts.append(number)
    return list(zip(starts, [*starts[1:], len(lines)], strict=True))


def _matches(lines: Sequence[str], span: tuple[int, int], query_terms: Collection[str]) -> float:
    found_terms = terms("\n".join(lines[span[0] : span[1]]))
    hits = [term for term in found_terms if term in query_terms]
    return len(set(hits)) + len(hits) / (len(found_terms) + 10)


def _fits(lines: Sequence[str], room_lines: int, room_bytes: int) -> bool:
    return len(lines) <= room_lines and sum(len(line.encode()) + 1 for line in lines) <= room_bytes


def _cut_around(line: str, query_terms: Collection[str], room_bytes: int) -> str:
    """A line that alone is too long, cut to where it speaks of what is wanted."""
    if len(line.encode()) <= room_bytes:
        return line
    pieces = re.findall(r"\S+\s*|\s+", line)
    place = next((number for number, piece in enumerate(pieces) if set(terms(piece)) & set(query_terms)), 0)
    start = sum(len(piece) for piece in pieces[:place])
    start = max(0, start - room_bytes // 8)
    return line[start:].encode()[: room_bytes - 1].decode(errors="ignore")
