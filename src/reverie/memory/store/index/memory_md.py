"""MEMORY.md: the list of topics that every conversation loads; renders it, and cuts it to its limits.

A list item that begins with a link to an existing topic is generated from that topic; every other line is the user's
and stays. Items under the user's own sections (`## …`) keep their place; all others form one block, ordered by subject,
with rules that hold always on top and pins below them. A deleted item comes back: the index is derived, `forget`
removes a topic. Without room for all, the least useful are left out and a last item says how many. Hand edits of items:
`edits.py`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from enum import Enum, auto
from functools import lru_cache
from heapq import nsmallest
from typing import Protocol, TypeAlias
from urllib.parse import unquote

from reverie.files.front_matter import BOM
from reverie.memory.topics.filenames import path_key
from reverie.memory.topics.topic import MemoryType, Topic, prose_lines
from reverie.settings.tree import IndexSettings
from reverie.values import value

LINE_CHARS = 150
TITLE_CHARS = 60
HOOK_CHARS_AT_LEAST = 30
"""A long file name may push a line over its length rather than leave no room for a hook."""

CUT = "…"
_TITLE = r"\[(?P<title>(?:\\.|[^\[\]\\])*)\]"
_TARGET = r"\((?:<(?P<pointed>[^<>]+)>|(?P<plain>[^\s()<>]+))\)"
_ENTRY = re.compile(
    rf"(?P<lead>[ \t]*[-*+][ \t]+)(?P<bold>\*\*|__)?{_TITLE}{_TARGET}(?(bold)(?P=bold))"
    r"(?:[ \t]*(?:—|–|--?|:)[ \t]+(?P<hook>.*?))?[ \t]*\Z"
)
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_LEFT_OUT = re.compile(r"- … and (\d+) more (?:memory|memories), found by recall; no room for (?:it|them) here\Z")
_ORDER_OF_TYPES = {kind: number for number, kind in enumerate(MemoryType)}


@value
class ProseLine:
    """A line of the user's."""

    text: str
    is_quoted: bool = False
    """It stands in a fence, a comment or the front matter."""


@value
class IndexEntry:
    """A list item that begins with a link to a Markdown file of the directory."""

    text: str
    lead: str
    """What stands before the link: indentation and bullet."""
    title: str
    path: str
    hook: str


Line: TypeAlias = ProseLine | IndexEntry


def parse_index(text: str) -> tuple[Line, ...]:
    """Cut an index into lines; joined by newlines they are the same text."""
    rows = text.split("\n")
    quoted = {n for span in _spans([row.rstrip("\r") for row in rows]) for n in range(span.first, span.last + 1)}
    return tuple(ProseLine(row, is_quoted=True) if n in quoted else _line(row) for n, row in enumerate(rows))


def strip_uncounted(text: str) -> str:
    """The text that counts against the limits: without front matter and without comments that stand as blocks."""
    lines = text.removeprefix(BOM).replace("\r\n", "\n").split("\n")
    counted, done = [], 0
    for span in _spans(lines):
        if span.kind is _Kind.fence:
            continue
        rest = lines[span.last].partition("-->")[2] if span.kind is _Kind.comment else ""
        counted += lines[done : span.first] + ([rest] if rest.strip() else [])
        done = span.last + 1
    return "\n".join([*counted, *lines[done:]])


def generate_line(path: str, name: str, hooks: Iterable[str], lead: str = "- ") -> str:
    """The line of one topic; the first hook that fits, else the last one cut."""
    link = f"{lead}[{_escape_title(shorten_text(name, TITLE_CHARS))}]({_target(path)})"
    room = max(LINE_CHARS - len(link) - len(" — "), HOOK_CHARS_AT_LEAST)
    hooks = [hook for hook in hooks if hook]
    if not hooks:
        return link
    hook = next((hook for hook in hooks if len(hook) <= room), None)
    return f"{link} — {hook if hook is not None else shorten_text(hooks[-1], room)}"


def shorten_text(text: str, size: int) -> str:
    """At most `size` characters, cut at a word where there is one near the end."""
    if len(text) <= size:
        return text
    cut = text[: size - 1]
    at_word = cut.rsplit(" ", 1)[0]
    return (at_word if len(at_word) > size // 2 else cut).rstrip() + CUT


def render_left_out_note(count: int) -> str:
    """The item that says how many topics have no line."""
    return f"- … and {count} more {'memory' if count == 1 else 'memories'}, found by recall; no room for " + (
        "it here" if count == 1 else "them here"
    )


def is_left_out_note(line: str) -> bool:
    """Whether a line is that item, as we wrote it."""
    return _LEFT_OUT.match(line.rstrip()) is not None


class _Kind(Enum):
    front_matter = auto()
    comment = auto()
    fence = auto()


@value
class _Span:
    """Lines that are not text: front matter, a comment or a fenced block."""

    kind: _Kind
    first: int
    last: int


def _spans(lines: list[str]) -> Iterator[_Span]:
    """Find them in order.

    What is opened and never closed counts as text: a generated block after it would otherwise never be found again.
    """
    endless: set[str] = set()
    number = 0
    while number < len(lines):
        opened = _match_opening(lines[number], is_first=number == 0)
        if opened is not None and opened[1] not in endless:
            kind, closing = opened
            ends = re.compile(closing)
            start = number if kind is _Kind.comment else number + 1
            last = next((place for place in range(start, len(lines)) if ends.match(lines[place])), None)
            if last is None:
                endless.add(closing)
            else:
                yield _Span(kind, number, last)
                number = last
        number += 1


def _match_opening(line: str, *, is_first: bool) -> tuple[_Kind, str] | None:
    """What a line opens, and the pattern of the line that closes it."""
    if is_first and line.rstrip() == "---":
        return _Kind.front_matter, r"(?:---|\.\.\.)\s*\Z"
    if line.lstrip().startswith("<!--"):
        return _Kind.comment, r".*-->"
    fence = _FENCE.match(line)
    return None if fence is None else (_Kind.fence, rf"[ \t]*{re.escape(fence[1])}[`~]*[ \t]*\Z")


@lru_cache(maxsize=1024)
def _line(raw: str) -> Line:
    # Remembered: from one save to the next almost every line stays.
    match = _ENTRY.match(raw.rstrip("\r"))
    if match is None:
        return ProseLine(raw)
    target = unquote((match["pointed"] or match["plain"]).partition("#")[0]).removeprefix("./")
    if not target.endswith(".md") or re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:|/|\.\./", target):
        return ProseLine(raw)
    return IndexEntry(raw, match["lead"], re.sub(r"\\(.)", r"\1", match["title"]), target, match["hook"] or "")


def _escape_title(title: str) -> str:
    return re.sub(r"([\[\]\\])", r"\\\1", title)


def _target(path: str) -> str:
    return re.sub(r"[\s()<>%#]", lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), path)


@value
class IndexLimits:
    """Limits of MEMORY.md in a conversation: lines first, then bytes."""

    lines: int = 200
    size_bytes: int = 25_000
    generated_lines_at_least: int = 20
    """What items may take even where prose alone fills the limits."""

    @classmethod
    def of(cls, settings: IndexSettings) -> IndexLimits:
        """The limits that the user set."""
        return cls(settings.max_lines, settings.max_bytes)


@value
class IndexRow:
    """What the index needs to know of a topic."""

    path: str
    name: str
    hooks: tuple[str, ...]
    """What may stand after the title: the first that fits, else the last one cut."""
    type: MemoryType | None = None
    is_always: bool = False
    is_pinned: bool = False
    day: date | None = None
    """The last day on which somebody found it true."""


def index_row(topic: Topic) -> IndexRow:
    """Take from a topic what its item shows and how it ranks."""
    is_always = topic.when is not None and topic.when.always
    hooks = (*rules_of(topic.body), topic.description) if is_always else (topic.description,)
    days = (topic.verified, topic.observed, topic.modified.date() if topic.modified else None)
    day = max((day for day in days if day is not None), default=None)
    return IndexRow(topic.path, topic.name, hooks, topic.type, is_always, topic.pinned, day)


def rules_of(body: str) -> tuple[str, ...]:
    """The rule that a standing instruction opens with: its first line, or the first sentence of that line."""
    first = next(iter(prose_lines(body)), "")
    sentence = re.match(r".+?[.!?。！？](?=\s|$)", first)
    return tuple(dict.fromkeys(text for text in (first, sentence[0] if sentence else "") if text))


class IndexRows(Protocol):
    """The rows of all topics, wherever they are kept."""

    def __len__(self) -> int: ...

    def get(self, path: str) -> IndexRow | None:
        """The row of a path."""

    def path_with_key(self, key: str) -> str | None:
        """The path that has this `path_key`."""

    def best(self, count: int, use: Mapping[str, float], without: Collection[str]) -> list[IndexRow]:
        """The first by `rank`, leaving out some paths."""


def rank(row: IndexRow, use: Mapping[str, float]) -> tuple[bool, bool, float, int, str]:
    """Pins, rules that hold always, what was of use, what is recent."""
    return not row.is_pinned, not row.is_always, -use.get(row.path, 0.0), -(row.day or date.min).toordinal(), row.path


class _Listed:
    """Rows in a dictionary."""

    def __init__(self, topics: Iterable[Topic | IndexRow]) -> None:
        rows = (item if isinstance(item, IndexRow) else index_row(item) for item in topics)
        self._rows = {row.path: row for row in rows}
        self._by_key = {path_key(path): path for path in self._rows}

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, path: str) -> IndexRow | None:
        return self._rows.get(path)

    def path_with_key(self, key: str) -> str | None:
        return self._by_key.get(key)

    def best(self, count: int, use: Mapping[str, float], without: Collection[str]) -> list[IndexRow]:
        candidates = (row for row in self._rows.values() if row.path not in without)
        return nsmallest(count, candidates, key=lambda row: rank(row, use))


def render_index(
    topics: IndexRows | Iterable[Topic | IndexRow],
    previous_text: str = "",
    *,
    changed: Collection[str] | None = None,
    removed: Collection[str] = (),
    use: Mapping[str, float] | None = None,
    limits: IndexLimits | None = None,
) -> str:
    """The index of these topics around the prose of the previous text.

    `changed` limits rewriting to the items of these paths (None: all), so that hooks which another program wrote stay
    until their topic changes; items of `removed` paths go; `use` says how useful each path has been.
    """
    rows = _Listed(topics) if isinstance(topics, Iterable) else topics
    page = _read_page(previous_text, rows, {path_key(path) for path in removed})
    placed = {line.path for line in page.fixed if isinstance(line, IndexEntry)}
    candidates = len(rows) - len(placed)
    chosen = _chosen(rows, candidates, placed, page, use or {}, limits or IndexLimits())
    standing = {entry.path: entry for entry in page.block}
    block = [_item(row, standing.get(row.path), changed) for row in _order_rows(chosen, standing, changed)]
    if candidates > len(chosen):
        block.append(render_left_out_note(candidates - len(chosen)))
    before, after = ([_render_fixed_item(line, rows, changed) for line in part] for part in (page.before, page.after))
    return page.bom + _join_lines(before, [text + page.line_end for text in block], after, is_new=not page.block)


def index_for_model(text: str, limits: IndexLimits | None = None) -> tuple[str, bool]:
    """Cut MEMORY.md to its limits for a conversation; a cut text ends with a warning. Returns text and whether cut."""
    limits = limits or IndexLimits()
    whole = strip_uncounted(text)
    cut_text = "".join(re.findall(r"[^\n]*\n|[^\n]+\Z", whole)[: limits.lines])
    if _size_bytes(cut_text) > limits.size_bytes:
        cut_text = cut_text.encode(errors="replace")[: limits.size_bytes].decode(errors="ignore")
        cut_text = cut_text.rpartition("\n")[0] or cut_text
    if cut_text.rstrip() == whole.rstrip():
        return cut_text, False
    warning = (
        f"> Warning: this is only the beginning of MEMORY.md ({limits.lines} lines or {limits.size_bytes:,} bytes are "
        "loaded). Keep each entry below 150 characters and move detail into topic files."
    )
    return f"{cut_text.rstrip()}\n\n{warning}\n", True


@value
class _Page:
    """The previous text, cut around the generated block or the place for it."""

    bom: str
    line_end: str
    """What our lines need before the newline: a carriage return in a file that has them."""
    before: tuple[Line, ...]
    block: tuple[IndexEntry, ...]
    after: tuple[Line, ...]

    @property
    def fixed(self) -> tuple[Line, ...]:
        return self.before + self.after


def _read_page(text: str, rows: IndexRows, removed: Collection[str]) -> _Page:
    bom = BOM if text.startswith(BOM) else ""
    lines = _resolve_paths(parse_index(text.removeprefix(BOM)), rows, removed)
    section = next((number for number, line in enumerate(lines) if _is_section(line)), len(lines))
    # What is mentioned twice goes before the block is looked for, or the next reading would find another one.
    seen: set[str] = set()
    below = _first_mentions(lines[section:], seen)
    above = _first_mentions(lines[:section], seen)
    first, last = _block(above)
    block = tuple(line for line in above[first:last] if isinstance(line, IndexEntry))
    before, after = above[:first], above[last:] + below
    if not block and not below and above and not above[-1].text:
        before, after = above[:-1], above[-1:]  # the empty line after the last newline
    return _Page(bom, "\r" if "\r\n" in text else "", before, block, after)


def _is_section(line: Line) -> bool:
    return isinstance(line, ProseLine) and not line.is_quoted and re.match(r"#{2,6}\s", line.text) is not None


def _block(lines: Sequence[Line]) -> tuple[int, int]:
    """The first run of items; nothing at the end where they are nested, since their order then says something."""
    first = next((number for number, line in enumerate(lines) if isinstance(line, IndexEntry)), len(lines))
    last = first
    while last < len(lines) and isinstance(lines[last], IndexEntry):
        last += 1
    below = lines[last : last + 1]
    is_nested = any(line.text[:1] in {" ", "\t"} for line in (*lines[first:last], *below) if line.text.strip())
    return (len(lines), len(lines)) if is_nested else (first, last)


def _resolve_paths(lines: Iterable[Line], rows: IndexRows, removed: Collection[str]) -> list[Line]:
    """Items with the path that the topic has on this file system; links that lead nowhere are prose."""
    result: list[Line] = []
    for line in lines:
        if isinstance(line, IndexEntry):
            path = line.path if rows.get(line.path) else rows.path_with_key(path_key(line.path))
            if path is not None:
                result.append(line if path == line.path else replace(line, path=path))
            elif path_key(line.path) not in removed:
                result.append(ProseLine(line.text))
        elif not is_left_out_note(line.text):
            result.append(line)
    return result


def _first_mentions(lines: Iterable[Line], seen: set[str]) -> tuple[Line, ...]:
    result: list[Line] = []
    for line in lines:
        if isinstance(line, IndexEntry):
            if line.path in seen:
                continue
            seen.add(line.path)
        result.append(line)
    return tuple(result)


def _chosen(
    rows: IndexRows,
    candidates: int,
    placed: Collection[str],
    page: _Page,
    use: Mapping[str, float],
    limits: IndexLimits,
) -> list[IndexRow]:
    """The most useful topics, as many as fit beside what is fixed."""
    fixed = strip_uncounted("\n".join(line.text for line in page.fixed)).rstrip("\n")
    fixed_lines = fixed.count("\n") + (0 if page.block else 2) + 1 if fixed else 0
    lines_left = max(limits.lines - fixed_lines, limits.generated_lines_at_least)
    least_bytes = limits.generated_lines_at_least * limits.size_bytes // limits.lines
    bytes_left = max(limits.size_bytes - _size_bytes(fixed) - 3, least_bytes)
    best = rows.best(lines_left, use, placed)
    if candidates > lines_left or sum(map(_line_bytes, best)) > bytes_left:
        lines_left -= 1
        bytes_left -= _size_bytes(render_left_out_note(candidates)) + 2
    chosen: list[IndexRow] = []
    for row in best[:lines_left]:
        bytes_left -= _line_bytes(row)
        if bytes_left < 0:
            break
        chosen.append(row)
    return chosen


@lru_cache(maxsize=4096)
def _line_bytes(row: IndexRow) -> int:
    return _size_bytes(generate_line(row.path, row.name, row.hooks)) + 2


def _size_bytes(text: str) -> int:
    # A file that is not UTF-8 reaches us with surrogates in place of its odd bytes.
    return len(text.encode(errors="surrogatepass"))


def _subject(row: IndexRow) -> tuple[bool, bool, int, str, str]:
    """Rules that hold always, then pins, then by type and name."""
    order = len(MemoryType) if row.type is None else _ORDER_OF_TYPES[row.type]
    return not row.is_always, not row.is_pinned, order, row.name.casefold(), row.path


def _order_rows(chosen: list[IndexRow], standing: Collection[str], changed: Collection[str] | None) -> list[IndexRow]:
    """By subject; where only some topics changed, these are put among the others, whose order is not touched."""
    by_path = {row.path: row for row in chosen}
    order = [] if changed is None else [path for path in standing if path in by_path and path not in changed]
    ordered = [by_path[path] for path in order]
    for row in sorted((row for row in chosen if row.path not in order), key=_subject):
        before = [place for place, other in enumerate(ordered, 1) if _subject(other) <= _subject(row)]
        ordered.insert(max(before, default=0), row)
    return ordered


def _item(row: IndexRow, standing: IndexEntry | None, changed: Collection[str] | None) -> str:
    if standing is not None and changed is not None and row.path not in changed:
        return standing.text.rstrip("\r")
    return generate_line(row.path, row.name, row.hooks, standing.lead if standing is not None else "- ")


def _render_fixed_item(line: Line, rows: IndexRows, changed: Collection[str] | None) -> str:
    row = rows.get(line.path) if isinstance(line, IndexEntry) else None
    if isinstance(line, ProseLine) or row is None:
        return line.text
    return _item(row, line, changed) + ("\r" if line.text.endswith("\r") else "")


def _join_lines(before: list[str], block: list[str], after: list[str], *, is_new: bool) -> str:
    """The lines again, with an empty line around a block that stands there for the first time."""
    if block and is_new:
        before = [*before, ""] if before and before[-1].strip() else before
        after = ["", *after] if after and after[0].strip() else after
    lines = [*before, *block, *after]
    if lines and lines[-1]:
        lines.append("")
    return "\n".join(lines)
