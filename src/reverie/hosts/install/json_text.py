"""Changes single keys of a JSON file as text: order, comments, layout and unknown keys of the rest stay as they are.

JSON with comments and trailing commas is understood, because several agents allow both in their settings. A change is
an insertion or a deletion at the place that a small parser found, never a new rendering of the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from reverie.errors import UserMistake

_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_SCALAR = re.compile(r"[^\s,\]}/]+")


@dataclass(slots=True)
class Node:
    """A value in the text, from its first character to behind its last."""

    start: int
    end: int = 0
    value: Any = None
    members: list[tuple[str, int, Node]] = field(default_factory=list)
    """Of an object: key, where the key starts, value. Of an array: an empty key, where the item starts, item."""


def read_json(text: str, place: str) -> Any:
    """The value of a whole text; an empty one is an empty object.

    Raises:
        UserMistake: it is not JSON, with or without comments.
    """
    return _parse(text, place).value if text.strip() else {}


def set_key(text: str, path: Sequence[str], value: Any, place: str) -> str:
    """The text with a key set; objects on the way are made where they are missing."""
    if not text.strip():
        return json.dumps(_nest(path, value), indent=2, ensure_ascii=False) + "\n"
    node, missing = _walk(_parse(text, place), path)
    if not missing:
        return text if node.value == value else text[: node.start] + _render(text, node.start, value) + text[node.end :]
    _check_kind(node, dict, path, place)
    return _insert(text, node, f"{json.dumps(missing[0])}: ", _nest(missing[1:], value))


def append_item(text: str, path: Sequence[str], value: Any, place: str) -> str:
    """The text with an item at the end of the array under a key, which is made where it is missing."""
    node, missing = _walk(_parse(text, place), path) if text.strip() else (Node(0), list(path))
    if missing:
        return set_key(text, path, [value], place)
    _check_kind(node, list, path, place)
    return _insert(text, node, "", value)


def remove_key(text: str, path: Sequence[str], place: str) -> str:
    """The text without a key; one that is not there changes nothing. Objects that become empty go too."""
    if not text.strip():
        return text
    node, missing = _walk(_parse(text, place), path[:-1])
    if missing or not isinstance(node.value, dict) or path[-1] not in node.value:
        return text
    number = [key for key, _, _ in node.members].index(path[-1])
    if len(node.members) == 1 and len(path) > 1:
        return remove_key(text, path[:-1], place)
    return _delete(text, node, number)


def remove_items(text: str, path: Sequence[str], is_ours: Callable[[Any], bool], place: str) -> str:
    """The text without the items of an array for which `is_ours` holds; an array that becomes empty goes too."""
    while True:
        node, missing = _walk(_parse(text, place), path) if text.strip() else (Node(0), list(path))
        if missing or not isinstance(node.value, list):
            return text
        numbers = [number for number, item in enumerate(node.value) if is_ours(item)]
        if not numbers:
            return text
        if len(node.value) == 1:
            return remove_key(text, path, place)
        text = _delete(text, node, numbers[-1])


def _insert(text: str, node: Node, key: str, value: Any) -> str:
    """Add a member at the end of an object or array."""
    close = node.end - 1
    if not node.members:
        indent = _indent_at(text, node.start)
        inner = indent + _unit(text)
        rendered = _render_with(value, inner, _unit(text))
        kept = text[node.start + 1 : close].rstrip()
        return f"{text[: node.start + 1]}{kept}\n{inner}{key}{rendered}\n{indent}{text[close:]}"
    first, last = node.members[0][1], node.members[-1][2]
    between = text[node.start + 1 : first]
    end = len(text[:close].rstrip())
    has_comma = "," in _uncommented(text[last.end : close])
    comma = "" if has_comma else ","
    if "\n" not in between:
        rendered = json.dumps(value, ensure_ascii=False)
        return f"{text[: last.end]}{comma}{text[last.end : end]} {key}{rendered}{text[end:]}"
    indent = between.rpartition("\n")[2] if not between.rpartition("\n")[2].strip() else _indent_at(text, first)
    rendered = _render_with(value, indent, _unit(text))
    tail = "," if has_comma else ""
    return f"{text[: last.end]}{comma}{text[last.end : end]}\n{indent}{key}{rendered}{tail}{text[end:]}"


def _delete(text: str, node: Node, number: int) -> str:
    """Take one member out, with its comma and the space before it."""
    _, start, value = node.members[number]
    after = _SPACE.match(text, value.end)
    comma_at = after.end() if after and text[after.end() : after.end() + 1] == "," else -1
    begin = len(text[:start].rstrip())
    if number + 1 < len(node.members):
        return text[:begin] + text[comma_at + 1 :]
    if number == 0:
        end = comma_at + 1 if comma_at >= 0 else value.end
        rest = text[end : node.end - 1]
        return text[:begin] + (rest if rest.strip() else "") + text[node.end - 1 :]
    before = node.members[number - 1][2]
    end = value.end
    if comma_at >= 0:
        return text[:begin] + text[comma_at + 1 :]
    comma = text.index(",", before.end)
    return text[:comma] + text[comma + 1 : begin] + text[end:]


def _parse(text: str, place: str) -> Node:
    at = _skip(text, 1 if text.startswith("\ufeff") else 0)
    try:
        node = _value(text, at)
        if _skip(text, node.end) != len(text):
            raise ValueError("text after the end")
    except (ValueError, IndexError, RecursionError) as problem:
        line = text.count("\n", 0, at) + 1
        raise UserMistake(
            f"{place} is not valid JSON (from line {line} on: {problem}); correct it, nothing was changed"
        ) from None
    return node


def _value(text: str, at: int) -> Node:
    node = Node(at)
    if text[at] == "{" or text[at] == "[":
        return _members(text, node, is_object=text[at] == "{")
    match = _STRING.match(text, at) if text[at] == '"' else _SCALAR.match(text, at)
    if match is None:
        raise ValueError(f"no value at character {at}")
    node.value, node.end = json.loads(match[0]), match.end()
    return node


def _members(text: str, node: Node, *, is_object: bool) -> Node:
    node.value = {} if is_object else []
    at = _skip(text, node.start + 1)
    while text[at] not in "}]":
        start, key = at, ""
        if is_object:
            match = _STRING.match(text, at)
            if match is None:
                raise ValueError(f"no key at character {at}")
            key = json.loads(match[0])
            at = _skip(text, match.end())
            if text[at] != ":":
                raise ValueError(f"no colon at character {at}")
            at = _skip(text, at + 1)
        child = _value(text, at)
        node.members.append((key, start, child))
        if is_object:
            node.value[key] = child.value
        else:
            node.value.append(child.value)
        at = _skip(text, child.end)
        if text[at] == ",":
            at = _skip(text, at + 1)
        elif text[at] not in "}]":
            raise ValueError(f"no comma at character {at}")
    if text[at] != ("}" if is_object else "]"):
        raise ValueError(f"wrong bracket at character {at}")
    node.end = at + 1
    return node


def _walk(node: Node, path: Sequence[str]) -> tuple[Node, list[str]]:
    """The deepest value on a path, and the keys that are missing below it."""
    for number, key in enumerate(path):
        inner = [child for name, _, child in node.members if name == key] if isinstance(node.value, dict) else []
        if not inner:
            return node, list(path[number:])
        node = inner[-1]
    return node, []


def _check_kind(node: Node, kind: type, path: Sequence[str], place: str) -> None:
    if not isinstance(node.value, kind):
        raise UserMistake(f"{place}: {'.'.join(path)} has another form than expected; correct it, nothing was changed")


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _uncommented(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def _nest(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _unit(text: str) -> str:
    """The indentation of the file's first level."""
    match = re.search(r"\n([ \t]+)\S", text)
    return match[1] if match else "  "


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _render(text: str, at: int, value: Any) -> str:
    return _render_with(value, _indent_at(text, at), _unit(text))


def _render_with(value: Any, indent: str, unit: str) -> str:
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", f"\n{indent}")
