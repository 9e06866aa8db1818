"""Validates a raw value for a setting, or says what was expected."""

from __future__ import annotations

import math
from collections.abc import Mapping

from reverie.settings.schema import Form, Key
from reverie.values import value

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
