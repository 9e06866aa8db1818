"""Parses and writes topic files: Markdown with front matter ⇄ `Topic`.

Reading takes whatever a directory holds: three shapes of front matter, none at all, unknown keys, CRLF, a byte order
mark. Writing is strict, and an edit touches only the lines of what changed. What is not understood is kept in `extra`.
File names are made by `filenames.py`; disk, history and search are elsewhere.
"""

from __future__ import annotations

import re
from typing import Any

from reverie.files import front_matter
from reverie.files.front_matter import BOM, FrontMatter, Table, canonical
from reverie.memory.topics.fields import FIELDS, NotUnderstood
from reverie.memory.topics.value import MemoryType, Source, Topic, Trust, prose_lines

__all__ = ["MemoryType", "Source", "Topic", "Trust", "parse_topic", "prose_lines", "render_topic", "strip_code_fence"]

_BY_KEY = {field.key: field for field in FIELDS}


def parse_topic(path: str, text: str) -> Topic:
    """Read one topic file.

    Raises: `Damaged` when its front matter is not YAML.
    """
    matter = front_matter.split(path, text)
    if matter is None:
        return Topic(path, "", "", body=text.removeprefix(BOM))
    fields, extra = _understand(matter.table())
    return Topic(path, body=matter.body, extra=extra, **{"name": "", "description": "", **fields})


def strip_code_fence(text: str) -> str:
    """A topic file that a model wrapped in a code fence, without the fence; every other text as it is."""
    match = re.fullmatch(r"\s*(`{3,}|~{3,})[^\n`]*\n(---\r?\n.*?\n)\1[ \t]*\s*", text, re.DOTALL)
    return match[2] if match else text


def render_topic(topic: Topic, previous_text: str | None = None) -> str:
    """The text of a topic file; as an edit of `previous_text` where there is one.

    Raises: `Damaged` when the previous text cannot be read, since it must then not be overwritten.
    """
    if previous_text is None:
        return _fresh(topic, bom="", newline="\n")
    edited = _edit_text(topic, previous_text)
    if edited is not None and parse_topic(topic.path, edited) == topic:
        return edited
    newline = "\r\n" if "\r\n" in previous_text else "\n"
    return _fresh(topic, bom=BOM if previous_text.startswith(BOM) else "", newline=newline)


def _understand(table: Table) -> tuple[dict[str, Any], tuple[tuple[str, str], ...]]:
    by_key = dict(table.pairs)
    fields: dict[str, Any] = {}
    for field in FIELDS:
        value = by_key.get(field.key)
        if value is None:
            continue
        try:
            fields[field.key] = field.read(value)
            del by_key[field.key]
        except NotUnderstood:
            pass
    metadata = by_key.get("metadata")
    if table.get("type") is None and isinstance(metadata, Table):
        fields |= _parse_nested_type(metadata)
        rest = metadata.without("type") if "type" in fields else metadata
        by_key["metadata"] = rest
        if rest == Table(()) != metadata:
            del by_key["metadata"]
    return fields, tuple((key, canonical(value)) for key, value in by_key.items())


def _parse_nested_type(metadata: Table) -> dict[str, Any]:
    """Some hosts write the type inside `metadata`."""
    value = metadata.get("type")
    try:
        return {} if value is None else {"type": _BY_KEY["type"].read(value)}
    except NotUnderstood:
        return {}


def _fresh(topic: Topic, *, bom: str, newline: str) -> str:
    body = topic.body + "\n" if topic.body else ""
    return bom + (_block(topic) + body).replace("\n", newline)


def _block(topic: Topic) -> str:
    written = {field.key: field.write(getattr(topic, field.key)) for field in FIELDS}
    rows = [_row(key, text) for key, text in written.items() if text is not None]
    rows += [_row(key, text) for key, text in topic.extra]
    return "".join(f"{row}\n" for row in ["---", *rows, "---"])


def _row(key: str, text: str) -> str:
    name = key if re.fullmatch(r"[A-Za-z_][\w-]*", key, re.ASCII) else front_matter.quote_string(key)
    return f"{name}:{text}" if text.startswith("\n") else f"{name}: {text}"


def _edit_text(topic: Topic, previous_text: str) -> str | None:
    """The previous text with the changed lines replaced; None when its keys have no lines of their own."""
    previous = parse_topic(topic.path, previous_text)
    if previous == topic:
        return previous_text
    matter = front_matter.split(topic.path, previous_text)
    if matter is None:
        bom = BOM if previous_text.startswith(BOM) else ""
        newline = "\r\n" if "\r\n" in previous_text else "\n"
        if topic.body == previous.body:
            return bom + _block(topic).replace("\n", newline) + previous_text.removeprefix(BOM)
        return bom + (topic.body + "\n").replace("\n", newline)
    if not matter.is_block:
        return None
    return matter.join(_edit_lines(matter, previous, topic), _edit_body(matter, previous, topic))


def _edit_body(matter: FrontMatter, previous: Topic, topic: Topic) -> str:
    if topic.body == previous.body:
        return matter.body
    gap = re.match(r"(?:[ \t]*(?:\r\n|\n|\r))*", matter.body)
    text = topic.body + "\n" if topic.body else ""
    return (gap[0] if gap else "") + text.replace("\n", matter.newline)


def _edit_lines(matter: FrontMatter, previous: Topic, topic: Topic) -> list[str]:
    changes: dict[str, str | None] = {
        field.key: field.write(getattr(topic, field.key))
        for field in FIELDS
        if getattr(topic, field.key) != getattr(previous, field.key)
    }
    before, after = dict(previous.extra), dict(topic.extra)
    changes |= {
        key: after.get(key) for key in before | after if before.get(key) != after.get(key) and key not in changes
    }
    lines: list[str | None] = list(matter.lines)
    inserted: dict[int, list[str]] = {}
    for key, text in changes.items():
        rows = [] if text is None else [row + matter.newline for row in _row(key, text).split("\n")]
        place = _place(matter, key)
        if place is None:
            inserted.setdefault(_insertion(matter, key), []).extend(rows)
            continue
        first, last, indent = place
        lines[first:last] = ["".join(indent + row for row in rows)] + [None] * (last - first - 1)
    result: list[str] = []
    for number, line in enumerate([*lines, None]):
        result += inserted.get(number, [])
        if line is not None:
            result.append(line)
    return result


def _place(matter: FrontMatter, key: str) -> tuple[int, int, str] | None:
    entry = matter.find(key)
    if entry is not None:
        return entry.first, entry.last, ""
    metadata = matter.find("metadata") if key == "type" else None
    for child in metadata.children if metadata is not None else ():
        if child.key == "type":
            line = matter.lines[child.first]
            return child.first, child.last, line[: len(line) - len(line.lstrip())]
    return None


def _insertion(matter: FrontMatter, key: str) -> int:
    """After the known key that comes before it in our order; else at the end."""
    order = [field.key for field in FIELDS]
    if key not in order:
        return len(matter.lines)
    earlier = order[: order.index(key)]
    places = [entry.last for entry in matter.entries if entry.key in earlier]
    return max(places, default=0)
