from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.values import value
from tests.requirements import requirement


@value
class Point:
    """A value."""

    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list)


@value
class Lowered:
    """A value that completes itself."""

    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", self.text.lower())


@dataclass(frozen=True, slots=True)
class Standard:
    """What the standard library makes of the same fields."""

    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list)


Given = st.tuples(
    st.lists(st.integers(), max_size=4),
    st.dictionaries(st.sampled_from(["x", "y", "tags", "z"]), st.integers(), max_size=4),
)


@requirement("values:value:as-dataclass")
@given(Given)
def test_a_value_takes_the_arguments_that_a_dataclass_takes_and_holds_the_same(
    said: tuple[list[int], dict[str, int]],
) -> None:
    positional, named = said

    def made(kind: Any) -> tuple[object, ...] | None:
        try:
            found = kind(*positional, **named)
        except TypeError:
            return None
        return tuple(getattr(found, each.name) for each in fields(found))

    assert made(Point) == made(Standard)


@requirement("values:value:as-dataclass")
def test_a_value_is_compared_copied_matched_and_kept_like_a_dataclass() -> None:
    point = Point(1, tags=["a"])
    assert point == Point(1, 0, ["a"]) != Point(2, 0, ["a"])
    assert replace(point, y=5) == Point(1, 5, ["a"])
    assert pickle.loads(pickle.dumps(point)) == point
    assert repr(Point(3)) == "Point(x=3, tags=[])"
    match point:
        case Point(x, y):
            assert (x, y) == (1, 0)
    with pytest.raises(FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    assert Point(1).tags is not Point(1).tags


@requirement("values:value:as-dataclass")
def test_a_value_may_complete_itself() -> None:
    assert Lowered("ABC").text == "abc"
    assert replace(Lowered("abc"), text="X") == Lowered("x")


@requirement("values:value:as-dataclass")
def test_the_fields_of_a_value_are_described_like_those_of_a_dataclass() -> None:
    def described(kind: Any) -> list[tuple[object, ...]]:
        return [(each.name, each.type, each.default, each.default_factory) for each in fields(kind)]

    assert described(Point) == described(Standard)
    assert asdict(Point(1, tags=["a"])) == asdict(Standard(1, tags=["a"]))
    assert is_dataclass(Point)
