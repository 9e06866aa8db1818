"""Reads what a person changed in MEMORY.md: an edited line edits its topic; prose of two copies is merged."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from reverie.files.merge import Conflicted, ConflictRegion, MergedText, merge
from reverie.memory.store.index.memory_md import (
    CUT,
    IndexEntry,
    ProseLine,
    generate_line,
    index_row,
    is_left_out_note,
    parse_index,
    rules_of,
)
from reverie.memory.topics.topic import Topic
from reverie.values import value

_LINK = "\0"
"""Marks a line that stands for a topic wherever it is; no text file holds it."""


@value
class IndexEdit:
    """A title or a hook that somebody rewrote."""

    path: str
    name: str | None = None
    """The topic's name from now on; None when the title stayed."""
    hook: str | None = None
    """What it should say after the title; None when the hook stayed."""


def index_edits(base_text: str, text: str, topics: Iterable[Topic]) -> tuple[IndexEdit, ...]:
    """Which topics an edit of the index means to change.

    `base_text` is the index as we last wrote or took it over: what stands in it is nobody's edit.
    """
    before = {line.path: line for line in parse_index(base_text) if isinstance(line, IndexEntry)}
    after = {line.path: line for line in parse_index(text) if isinstance(line, IndexEntry)}
    edits: list[IndexEdit] = []
    for topic in topics:
        now = after.get(topic.path)
        if now is None:
            continue
        was = before.get(topic.path) or _generate_entry(topic)
        name = _whole(now.title, was.title, topic.name) if now.title != was.title else ""
        hook = _whole(now.hook, was.hook, _source_of(was.hook, topic)) if now.hook != was.hook else ""
        if name or hook:
            edits.append(IndexEdit(topic.path, name or None, hook or None))
    return tuple(edits)


def apply_edit(topic: Topic, edit: IndexEdit) -> Topic:
    """The topic as the edited item wants it; where the item showed the rule itself, the rule changes with it."""
    edited = topic if edit.name is None else replace(topic, name=edit.name)
    if edit.hook is None:
        return edited
    shown = _generate_entry(topic).hook
    is_rule = topic.when is not None and topic.when.always and shown in rules_of(topic.body)
    body = topic.body.replace(shown, edit.hook, 1) if is_rule else topic.body
    return replace(edited, description=edit.hook, body=body)


def _generate_entry(topic: Topic) -> IndexEntry:
    row = index_row(topic)
    (line,) = parse_index(generate_line(row.path, row.name, row.hooks))
    assert isinstance(line, IndexEntry)
    return line


def _source_of(hook: str, topic: Topic) -> str:
    """The text that a shown hook was cut from."""
    whole = hook.removesuffix(CUT)
    return next((text for text in index_row(topic).hooks if text.startswith(whole)), topic.description)


def _whole(now: str, was: str, source: str) -> str:
    """An edit of a text that was shown cut keeps the part that was not shown."""
    shown_part = was.removesuffix(CUT)
    if now.endswith(CUT) and was.endswith(CUT) and source.startswith(shown_part):
        return now.removesuffix(CUT) + source[len(shown_part) :]
    return now


def merge_prose(base: str, mine: str, theirs: str) -> str:
    """My index with what the other side did to its prose since the base; where both did something, both stay."""
    before, own, other = map(_prose, (base, mine, theirs))
    merged = _settle_conflicts(merge(before, own, other), _both_sides)
    return mine if merged == own else _settle_conflicts(merge(own, mine, merged), _items_and_prose)


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
