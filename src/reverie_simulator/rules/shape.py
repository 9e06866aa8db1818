"""A small validator that words its findings like the provider's: `messages.0.content.1.text.text: Field required`.

A shape is a function from a value and its place to the first problem, or None. Only the first problem is ever reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from reverie.messages.blocks import Json
from reverie.values import value

Shape: TypeAlias = Callable[[Json, str], str | None]


@value
class Required:
    """A field that must be there."""

    shape: Shape


Fields: TypeAlias = Mapping[str, Shape | Required]


def at(path: str, key: str | int) -> str:
    """The place of something inside another."""
    return f"{path}.{key}" if path else str(key)


def anything(value: Json, path: str) -> str | None:  # noqa: ARG001 - it is a shape
    """Whatever it is."""
    return None


def string(*, at_least: int = 0, at_most: int | None = None, pattern: str | None = None) -> Shape:
    """A string, of bounded length or of a pattern."""
    compiled = re.compile(pattern) if pattern else None

    def check(value: Json, path: str) -> str | None:
        if not isinstance(value, str):
            return f"{path}: Input should be a valid string"
        if len(value) < at_least:
            return f"{path}: String should have at least {at_least} character{'s' if at_least > 1 else ''}"
        if at_most is not None and len(value) > at_most:
            return f"{path}: String should have at most {at_most} characters"
        if compiled and not compiled.search(value):
            return f"{path}: String should match pattern '{pattern}'"
        return None

    return check


def integer(at_least: int | None = None) -> Shape:
    """A whole number."""

    def check(value: Json, path: str) -> str | None:
        if isinstance(value, float) and not value.is_integer():
            return f"{path}: Input should be a valid integer, got a number with a fractional part"
        if isinstance(value, bool) or not isinstance(value, int | float):
            return f"{path}: Input should be a valid integer"
        if at_least is not None and value < at_least:
            return f"{path}: Input should be greater than or equal to {at_least}"
        return None

    return check


def number(low: float, high: float) -> Shape:
    """A number within a range."""

    def check(value: Json, path: str) -> str | None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return f"{path}: Input should be a valid number"
        return None if low <= value <= high else f"{path}: range: {low:g}..{high:g}"

    return check


def boolean(value: Json, path: str) -> str | None:
    """True or false."""
    return None if isinstance(value, bool) else f"{path}: Input should be a valid boolean"


def any_object(value: Json, path: str) -> str | None:
    """An object with any fields."""
    return None if isinstance(value, dict) else f"{path}: Input should be an object"


def literal(*allowed: str) -> Shape:
    """One of a few words."""
    quoted = [f"'{word}'" for word in allowed]
    listed = quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"

    def check(value: Json, path: str) -> str | None:
        return None if isinstance(value, str) and value in allowed else f"{path}: Input should be {listed}"

    return check


def nullable(shape: Shape) -> Shape:
    """The shape, or null."""
    return lambda value, path: None if value is None else shape(value, path)


def array(item: Shape, *, at_least: int = 0, at_most: int | None = None) -> Shape:
    """A list of one shape."""

    def check(value: Json, path: str) -> str | None:
        if not isinstance(value, list):
            return f"{path}: Input should be a valid list"
        if len(value) < at_least:
            plural = "s" if at_least > 1 else ""
            return f"{path}: List should have at least {at_least} item{plural} after validation, not {len(value)}"
        if at_most is not None and len(value) > at_most:
            return f"{path}: List should have at most {at_most} items after validation, not {len(value)}"
        for index, entry in enumerate(value):
            if problem := item(entry, at(path, index)):
                return problem
        return None

    return check


def string_or_array(item: Shape) -> Shape:
    """A string, or a list of one shape."""
    listed = array(item)
    return lambda value, path: None if isinstance(value, str) else listed(value, path)


def record(fields: Fields, *, is_open: bool = False) -> Shape:
    """An object with these fields, checked in this order; others are refused unless it is open."""

    def check(value: Json, path: str) -> str | None:
        if not isinstance(value, dict):
            return f"{path}: Input should be an object"
        for key, field in fields.items():
            if key not in value:
                if isinstance(field, Required):
                    return f"{at(path, key)}: Field required"
                continue
            shape = field.shape if isinstance(field, Required) else field
            if problem := shape(value[key], at(path, key)):
                return problem
        if not is_open:
            for key in value:
                if key not in fields:
                    return f"{at(path, key)}: Extra inputs are not permitted"
        return None

    return check


def tagged_union(variants: Mapping[str, Shape], *, default: str | None = None) -> Shape:
    """One of several records, told apart by `type`; the tag becomes part of the place."""
    expected = ", ".join(f"'{tag}'" for tag in sorted(variants))

    def check(value: Json, path: str) -> str | None:
        if not isinstance(value, dict):
            return f"{path}: Input should be an object"
        tag = value.get("type")
        if tag is None and default is not None:
            tag = default
        if tag is None:
            return f"{at(path, 'type')}: Field required"
        if not isinstance(tag, str) or tag not in variants:
            return f"{path}: Input tag '{tag}' found using 'type' does not match any of the expected tags: {expected}"
        return variants[tag](value, at(path, tag))

    return check
