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


@value
class Guarded:
    """A value with a field that is not shown, one that does not count, and an order of its own."""

    name: str
    key: str = field(default="", repr=False)
    read: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return self.name


@requirement("values:value:as-dataclass")
def test_fields_may_be_left_out_of_the_text_and_of_comparison() -> None:
    assert "hidden" not in repr(Guarded("a", "hidden"))
    assert Guarded("a", "k", 1) == Guarded("a", "k", 2) != Guarded("a", "l", 1)
    assert hash(Guarded("a", "k", 1)) == hash(Guarded("a", "k", 2))
    assert f"{Guarded('a')}" == "a"


@value
class Folded:
    """A value that says itself when it equals another."""

    text: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Folded) and self.text.lower() == other.text.lower()

    def __hash__(self) -> int:
        return hash(self.text.lower())


@requirement("values:value:as-dataclass")
def test_methods_of_the_class_itself_stand() -> None:
    assert len({Folded("A"), Folded("a")}) == 1


@requirement("values:value:as-dataclass")
def test_no_value_asks_for_what_values_do_not_have() -> None:
    import importlib
    import pkgutil

    import reverie
    from reverie.values import _DEFAULTS

    for found in pkgutil.walk_packages(reverie.__path__, "reverie."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    values = [each for each in _DEFAULTS if each.__module__.startswith("reverie.")]

    assert len(values) > 400
    for each in values:
        assert all(one.init and not one.kw_only for one in fields(each)), each
        assert not any(is_dataclass(base) for base in each.__mro__[1:]), each
        assert not each.__subclasses__(), each
        assert "ClassVar" not in str(each.__annotations__), each
