"""The lines of MEMORY.md: which of them link a topic, and how such a line is written.

`- [Title](file.md) — hook`, at most 150 characters where the file name allows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum, auto
from functools import lru_cache
from typing import TypeAlias
from urllib.parse import unquote

from reverie.files.front_matter import BOM
from reverie.values import value

LINE_CHARS = 150
TITLE_CHARS = 60
HOOK_CHARS_AT_LEAST = 30
"""A long file name may push a line over its length rather than leave no room for a hook."""

CUT = "…"


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

_TITLE = r"\[(?P<title>(?:\\.|[^\[\]\\])*)\]"
_TARGET = r"\((?:<(?P<pointed>[^<>]+)>|(?P<plain>[^\s()<>]+))\)"
_ENTRY = re.compile(
    rf"(?P<lead>[ \t]*[-*+][ \t]+)(?P<bold>\*\*|__)?{_TITLE}{_TARGET}(?(bold)(?P=bold))"
    r"(?:[ \t]*(?:—|–|--?|:)[ \t]+(?P<hook>.*?))?[ \t]*\Z"
)
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_LEFT_OUT = re.compile(r"- … and (\d+) more (?:memory|memories), found by recall; no room for (?:it|them) here\Z")


def parse_index(text: str) -> tuple[Line, ...]:
    """Cut an index into lines; joined by newlines they are the same text."""
    rows = text.split("\n")
    quoted = {n for span in _spans([row.rstrip("\r") for row in rows]) for n in range(span.first, span.last + 1)}
    return tuple(ProseLine(row, is_quoted=True) if n in quoted else _line(row) for n, row in enumerate(rows))


def strip_uncounted(text: str) -> str:
    """The text that counts against the limits: without front matter and without comments that stand as blocks."""
    lines = text.removeprefix(BOM).replace("\r\n", "\n").split("\n")
    kept, done = [], 0
    for span in _spans(lines):
        if span.kind is _Kind.fence:
            continue
        rest = lines[span.last].partition("-->")[2] if span.kind is _Kind.comment else ""
        kept += lines[done : span.first] + ([rest] if rest.strip() else [])
        done = span.last + 1
    return "\n".join([*kept, *lines[done:]])


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
    return re.sub(r"[\s()<>%#]", lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), path)
