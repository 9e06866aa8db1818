"""The Markdown of instruction files: code and comments, found in linear time, and front matter.

No tree is built: instruction files need to know only where an `@path` or a comment is meant and where it is quoted. A
span of code ends with its paragraph, list item or heading, as a stray backtick shall not hide what follows.

In the front matter of an instruction file or a rule, `paths:` says for which files it counts.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from reverie.extensions.markdown_file import read_page
from reverie.files.front_matter import cut
from reverie.values import value

_TOKEN = re.compile(
    r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})[^\n]*|(?P<comment><!--)|(?P<ticks>`+)",
    re.MULTILINE,
)
_BLOCK_END = re.compile(r"\n(?=[ \t]*(?:\n|[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|[>|]|```|~~~|<!--))")
_NOT_NEWLINE = re.compile(r"[^\n]")


@value
class MarkdownRegion:
    """A piece of the text that is no prose."""

    start: int
    end: int
    is_comment: bool


def regions(text: str) -> tuple[MarkdownRegion, ...]:
    """All code and all comments, in order, without overlap."""
    regions_in_order: list[MarkdownRegion] = []
    spans = _Spans(text)
    place = 0
    last_comment_end = text.rfind("-->")
    while (token := _TOKEN.search(text, place)) is not None:
        start, place = token.start(), token.end()
        if token["fence"]:
            start, place = token.start("fence"), _fence_end(text, token["fence"], token.end())
            regions_in_order.append(MarkdownRegion(start, place, is_comment=False))
        elif token["comment"]:
            if place <= last_comment_end:
                place = text.index("-->", place) + 3
                regions_in_order.append(MarkdownRegion(start, place, is_comment=True))
        elif (end := spans.end(start, len(token["ticks"]))) is not None:
            place = end
            regions_in_order.append(MarkdownRegion(start, place, is_comment=False))
    return tuple(regions_in_order)


def prose(text: str) -> str:
    """The text at its old length, with everything that is code or comment blanked."""
    parts, done = [], 0
    for region in regions(text):
        parts += [text[done : region.start], _NOT_NEWLINE.sub(" ", text[region.start : region.end])]
        done = region.end
    return "".join([*parts, text[done:]])


def without_comments(text: str) -> str:
    """The text without its comments outside of code; a line that held nothing else goes with them."""
    if "<!--" not in text:
        return text
    parts, done = [], 0
    for region in regions(text):
        if not region.is_comment:
            continue
        start, end = region.start, region.end
        line_start = text.rfind("\n", 0, start) + 1
        line_end = text.find("\n", end)
        line_end = len(text) if line_end < 0 else line_end + 1
        if line_start >= done and not (text[line_start:start] + text[end:line_end]).strip():
            start, end = line_start, line_end
        parts.append(text[done:start])
        done = end
    return "".join([*parts, text[done:]])


def _fence_end(text: str, fence: str, place: int) -> int:
    """Where a fenced block is over: after a line of at least as many marks, else with the text."""
    closing = re.compile(rf"^[ \t>]*{re.escape(fence[0])}{{{len(fence)},}}[ \t\r]*$", re.MULTILINE)
    closing_fence = closing.search(text, place)
    return len(text) if closing_fence is None else closing_fence.end()


class _Spans:
    """Runs of backticks by their length, so that the partner of each is found by bisection."""

    def __init__(self, text: str) -> None:
        self._starts: dict[int, list[int]] = {}
        for run in re.finditer("`+", text):
            self._starts.setdefault(run.end() - run.start(), []).append(run.start())
        self._block_ends = [match.start() for match in _BLOCK_END.finditer(text)] if self._starts else []
        self._length = len(text)

    def end(self, start: int, ticks: int) -> int | None:
        """Where the span of code that opens here is over; None when nothing closes it in its block."""
        starts = self._starts.get(ticks, [])
        after = bisect_right(starts, start)
        block = bisect_left(self._block_ends, start)
        block_end = self._block_ends[block] if block < len(self._block_ends) else self._length
        if after < len(starts) and starts[after] < block_end:
            return starts[after] + ticks
        return None


_KEYS_ONLY = re.compile(r"(?:(?:[a-z][\w-]*[ \t]*:.*|[ \t]+\S.*|-[ \t].*|#.*|[ \t]*)\r?\n)*")
"""Lines of keys as metadata has them, in small letters, with their values; anything else is text."""


@value
class Body:
    """A file cut into what is about it and what it says."""

    text: str
    globs: tuple[str, ...] = ()


def split_front_matter(text: str) -> Body:
    """The text without its front matter, and the patterns of `paths:` in it. A text that only looks so stays whole."""
    block = cut(text)
    if block is None or not _KEYS_ONLY.fullmatch("".join(block.lines)):
        return Body(text)  # without a head, or prose between two rulers
    page = read_page(text)
    return Body(page.body, tuple(_patterns(page.fields.get("paths"))))


def _patterns(paths: object) -> Iterator[str]:
    if isinstance(paths, str):
        # An unquoted `[**/*.py]` is no YAML and was read as text.
        listed = paths.strip().removeprefix("[").removesuffix("]") if paths.startswith("[") else paths
        yield from (pattern for part in _split_patterns(listed) if (pattern := part.strip("\"'")))
    elif isinstance(paths, list):
        yield from (path.strip() for path in paths if isinstance(path, str) and path.strip())


def _split_patterns(text: str) -> list[str]:
    """Patterns on one line, parted by commas outside of braces."""
    return [part for piece in re.split(r",(?![^{}]*\})", text) if (part := piece.strip())]
