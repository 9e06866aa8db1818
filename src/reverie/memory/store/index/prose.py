"""Merges the user's own lines of two MEMORY.md files; generated lines take no part."""

from __future__ import annotations

from collections.abc import Callable

from reverie.files.merge import Conflicted, ConflictRegion, MergedText, merge
from reverie.memory.store.index.lines import ProseLine, is_left_out_note, parse_index


def merge_prose(base: str, mine: str, theirs: str) -> str:
    """My index with what the other side did to its prose since the base; where both did something, both stay."""
    before, own, other = map(_prose, (base, mine, theirs))
    wanted = _settle_conflicts(merge(before, own, other), _both_sides)
    return mine if wanted == own else _settle_conflicts(merge(own, mine, wanted), _items_and_prose)


def _prose(text: str) -> str:
    lines = (line.text for line in parse_index(text) if isinstance(line, ProseLine) and not is_left_out_note(line.text))
    return "\n".join(lines)


def _settle_conflicts(result: MergedText | Conflicted, settle: Callable[[ConflictRegion], list[str]]) -> str:
    if isinstance(result, MergedText):
        return result.text
    lines: list[str] = []
    for part in result.parts:
        lines += settle(part) if isinstance(part, ConflictRegion) else [part]
    return result.line_end.join(lines)


def _both_sides(region: ConflictRegion) -> list[str]:
    """The lines of both, each once; empty ones are no repetition."""
    return [*region.mine, *(line for line in region.theirs if not line.strip() or line not in region.mine)]


def _items_and_prose(region: ConflictRegion) -> list[str]:
    """The items of my text and the prose of the other, in the order they had."""
    items = [line for line in region.mine if line not in region.base]
    return [*items, *region.theirs] if region.mine[:1] == tuple(items[:1]) else [*region.theirs, *items]
