"""The list of all setting keys, read from the classes, and the validation of a raw value for one.

A key is a path such as `("spill", "result_chars")`. In `("models", "*", "base_url")` the star stands for a name that
the user chooses. Nothing is written twice: a field added to an area is a key, a variable and a line of the documents.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Annotated, Literal, TypeAlias, Union, get_args, get_origin

from reverie.settings.tree import Declaration, Guard, ListJoin, Pattern, Range, Settings
from reverie.values import value

KeyPath: TypeAlias = tuple[str, ...]

ANY_NAME = "*"
PREFIX = "REVERIE_"


class Form(Enum):
    """How many values a key holds."""

    ONE = "one"
    LIST = "list"
    DECLARATION = "declaration"


@value
class Key:
    """One setting as its class declares it."""

    path: KeyPath
    owner: type
    """The class whose field it is."""
    field: str
    form: Form
    base: type
    """`bool`, `int`, `float` or `str`; for a list, of its items."""
    default: object
    choices: tuple[str, ...]
    range: Range
    pattern: Pattern | None
    guard: Guard
    stands_alone: bool
    """A list that is not joined with those of lower sources."""

    @property
    def name(self) -> str:
        return format_key_path(self.path)

    @property
    def variable(self) -> str | None:
        """The environment variable that sets it; a name of the user's own and a declaration have none."""
        if ANY_NAME in self.path or self.form is Form.DECLARATION:
            return None
        return PREFIX + "_".join(self.path).upper()


Wants: TypeAlias = Callable[[KeyPath], bool]
"""Whether keys at or below a path are looked for: describing all of them takes longer than a recall."""


@cache
def keys() -> Mapping[KeyPath, Key]:
    """Every key there is, in the order of the classes."""
    return {key.path: key for key in _keys_of(Settings, Settings(), (), Guard.ANY, lambda _path: True)}


@cache
def find(path: KeyPath) -> Key | None:
    """The key that a path names, with the user's own names taken as stars."""
    return next((key for key in _keys_around(path) if len(key.path) == len(path)), None)


def is_group(path: KeyPath) -> bool:
    """Whether a path names a table of settings."""
    return any(len(key.path) > len(path) for key in _keys_around(path))


def find_by_variable(variable: str) -> Key | None:
    """The key that an environment variable sets by its name."""

    def wants(path: KeyPath) -> bool:
        name = PREFIX + "_".join(path).upper()
        return variable == name or variable.startswith(f"{name}_")

    return next((key for key in _keys_of(Settings, Settings(), (), Guard.ANY, wants) if key.variable == variable), None)


def format_key_path(path: KeyPath) -> str:
    """A path as one writes it in a settings file."""
    return ".".join(part if part.replace("-", "_").isidentifier() or part == ANY_NAME else f'"{part}"' for part in path)


def _keys_around(path: KeyPath) -> Iterator[Key]:
    """The keys at or below a path, and the one above it."""

    def wants(here: KeyPath) -> bool:
        return all(part in (name, ANY_NAME) for part, name in zip(here, path, strict=False))

    return _keys_of(Settings, Settings(), (), Guard.ANY, wants)


def _keys_of(owner: type, example: object, path: KeyPath, guard: Guard, wants: Wants) -> Iterator[Key]:
    for name, hint in owner.__annotations__.items():
        if wants((*path, name)):
            default = getattr(example, name) if example is not None else _field_default(owner, name)
            yield from _keys_at((*path, name), owner, name, hint, default, guard, wants)


def _field_default(owner: type, name: str) -> object:
    return next(field.default for field in fields(owner) if field.name == name)


def _keys_at(
    path: KeyPath, owner: type, field: str, hint: object, default: object, guard: Guard, wants: Wants
) -> Iterator[Key]:
    hint, marks = _split_annotation(hint)
    guard = next((mark for mark in marks if isinstance(mark, Guard)), guard)
    if isinstance(hint, type) and is_dataclass(hint):
        yield from _keys_of(hint, default, path, guard, wants)
        return
    item = _item(hint)
    if isinstance(item, type) and is_dataclass(item) and item is not Declaration:
        for key in _keys_of(item, None, (*path, ANY_NAME), guard, wants):
            if key.field != "name":
                yield key
        return
    if get_origin(item) is tuple:
        yield from _keys_at((*path, ANY_NAME), owner, field, get_args(item)[1], MISSING, guard, wants)
        return
    yield _key(path, owner, field, hint, marks, default, guard)


def _key(
    path: KeyPath, owner: type, field: str, hint: object, marks: tuple[object, ...], default: object, guard: Guard
) -> Key:
    if get_origin(hint) in (Union, types.UnionType):
        (some,) = (part for part in get_args(hint) if part is not type(None))
        hint, inner = _split_annotation(some)
        marks += inner
    form, item = Form.ONE, hint
    if get_origin(hint) is tuple:
        item, inner = _split_annotation(_item(hint))
        marks += inner
        form = Form.DECLARATION if item is Declaration else Form.LIST
    choices = get_args(item) if get_origin(item) is Literal else ()
    return Key(
        path=path,
        owner=owner,
        field=field,
        form=form,
        base=item if isinstance(item, type) else str,
        default=None if default is MISSING else default,
        choices=choices,
        range=next((mark for mark in marks if isinstance(mark, Range)), Range()),
        pattern=next((mark for mark in marks if isinstance(mark, Pattern)), None),
        guard=guard,
        stands_alone=ListJoin.HIGHEST in marks,
    )


def _item(hint: object) -> object:
    return get_args(hint)[0] if get_origin(hint) is tuple else None


def _split_annotation(hint: object) -> tuple[object, tuple[object, ...]]:
    if get_origin(hint) is Annotated:
        plain, *marks = get_args(hint)
        return plain, tuple(marks)
    return hint, ()


_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
_LONGEST_QUOTE = 60


@value
class ValueMismatch:
    """Why a value cannot be taken."""

    sentence: str


def read(key: Key, raw: object) -> object | ValueMismatch:
    """Check a value that a file holds, typed by its format."""
    if key.form is Form.DECLARATION:
        return _declaration(raw)
    if key.form is Form.LIST:
        if not isinstance(raw, list | tuple):
            return _mismatch(key, raw)
        items = [_one(key, item) for item in raw]
        return next((item for item in items if isinstance(item, ValueMismatch)), None) or tuple(items)
    return _one(key, raw)


def parse(key: Key, text: str) -> object | ValueMismatch:
    """Check a value that a variable or a flag holds as text."""
    if key.form is Form.DECLARATION or (key.form is Form.LIST and text.lstrip().startswith("[")):
        return _from_json(key, text)
    if key.form is Form.LIST:
        return read(key, [part.strip() for part in text.split(",") if part.strip()])
    return read(key, _convert_text(key.base, text.strip() if key.base is not str else text))


def describe_expected(key: Key) -> str:
    """What a key takes, in words."""
    if key.form is Form.DECLARATION:
        return "a table"
    words = _describe_expected_item(key)
    return f"a list, each item {words}" if key.form is Form.LIST else words


def _describe_expected_item(key: Key) -> str:
    if key.choices:
        return "one of " + ", ".join(f"`{choice}`" for choice in key.choices)
    if key.pattern is not None:
        return key.pattern.meaning
    if key.base is bool:
        return "`true` or `false`"
    if key.base is str:
        return "a text"
    number = "a whole number" if key.base is int else "a number"
    low, high = key.range
    if low is not None and high is not None:
        return f"{number} from {low:g} to {high:,g}"
    return number if low is None else f"{number} of at least {low:g}"


def _one(key: Key, raw: object) -> object | ValueMismatch:
    value = _as_float(raw) if key.base is float and type(raw) is int else raw
    if type(value) is not key.base:
        return _mismatch(key, raw)
    if isinstance(value, int | float) and not isinstance(value, bool) and not _within(key, value):
        return _mismatch(key, raw)
    if key.choices and value not in key.choices:
        return _mismatch(key, raw)
    if key.pattern is not None and not _matches(key.pattern.expression, str(value)):
        # The text is not repeated: somebody may have pasted a key where its variable's name belongs.
        return ValueMismatch(f"takes {describe_expected(key)}")
    return value


def _as_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _within(key: Key, value: float) -> bool:
    low, high = key.range
    return math.isfinite(value) and (low is None or value >= low) and (high is None or value <= high)


def _matches(expression: str, text: str) -> bool:
    import re

    return re.fullmatch(expression, text) is not None


def _convert_text(base: type, text: str) -> object:
    """The value that a text stands for, or the text itself where it stands for none."""
    if base is bool:
        low = text.lower()
        return True if low in _TRUE else False if low in _FALSE else text
    if base in (int, float):
        try:
            return base(text)
        except ValueError:
            return text
    return text


def _from_json(key: Key, text: str) -> object | ValueMismatch:
    import json

    try:
        return read(key, json.loads(text))
    except ValueError:
        return ValueMismatch(f"takes {describe_expected(key)}; this is not valid JSON")


def _declaration(raw: object) -> object | ValueMismatch:
    import json

    if not isinstance(raw, Mapping):
        return ValueMismatch(f"takes a table, not {_describe_value(raw)}")
    try:
        return json.dumps(raw, ensure_ascii=False)
    except (TypeError, ValueError):
        return ValueMismatch("takes a table of texts, numbers, lists and tables; dates have no place in it")


def _mismatch(key: Key, raw: object) -> ValueMismatch:
    return ValueMismatch(f"takes {describe_expected(key)}, not {_describe_value(raw)}")


def _describe_value(raw: object) -> str:
    if isinstance(raw, Mapping):
        return "a table"
    if isinstance(raw, list | tuple):
        return "a list"
    if isinstance(raw, str):
        return f"the text {raw[:_LONGEST_QUOTE]!r}"
    return f"{str(raw).lower() if isinstance(raw, bool) else raw}"
