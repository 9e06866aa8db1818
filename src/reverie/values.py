"""`@value`: a frozen, slotted dataclass whose methods are shared instead of generated.

Hooks and commands start a process for every question. The standard decorator takes most of a millisecond a class: it
writes and compiles methods, and describes fields that hardly anybody asks about. Here all classes share their methods,
and fields are described when somebody asks. `dataclasses.fields`, `replace`, `asdict` and `match` work as on any
dataclass; inheriting fields does not. Making an instance takes a little longer, which a class that is made by the ten
thousand should mind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, fields
from typing import Any, NoReturn, TypeVar, dataclass_transform

Kind = TypeVar("Kind")


@dataclass_transform(frozen_default=True)
def value(cls: type[Kind]) -> type[Kind]:
    """Make a class of annotated fields an immutable value."""
    body = {name: each for name, each in cls.__dict__.items() if name not in {"__dict__", "__weakref__"}}
    names = tuple(cls.__annotations__)
    defaults = {name: body.pop(name) for name in names if name in body}
    body |= _METHODS
    body["__slots__"] = body["__match_args__"] = names
    body["__dataclass_fields__"] = _FIELDS
    body["__qualname__"] = cls.__qualname__
    # A new class, as slots cannot be added to one that exists.
    made: type[Kind] = type(cls.__name__, cls.__bases__, body)
    _DEFAULTS[made] = defaults
    return made


class _Fields:
    """Stands for the fields of a class as `dataclasses` describes them, until somebody asks."""

    def __get__(self, instance: object, cls: type) -> dict[str, Field[Any]]:
        body = {name: getattr(cls, name) for name in ("__annotations__", "__module__", "__doc__")} | _DEFAULTS[cls]
        described: type = dataclass(init=False, repr=False, eq=False)(type(cls.__name__, (), body))
        found = {field.name: field for field in fields(described)}
        cls.__dataclass_fields__ = found  # type: ignore[attr-defined] # this, until now
        return found


_FIELDS = _Fields()
_DEFAULTS: dict[type, dict[str, object]] = {}


class _Plan:
    """How instances of one class are filled."""

    __slots__ = ("after", "factories", "missing", "names", "puts")

    def __init__(self, cls: type) -> None:
        self.names: tuple[str, ...] = cls.__match_args__  # type: ignore[attr-defined] # put there by `value`
        # The slots themselves: the instance refuses to be set.
        self.puts: tuple[Callable[[object, object], None], ...] = tuple(
            getattr(cls, name).__set__ for name in self.names
        )
        given = _DEFAULTS[cls]
        said = {name: each for name, each in given.items() if isinstance(each, Field)}
        plain = given | {name: field.default for name, field in said.items()}
        self.missing = tuple(plain.get(name, MISSING) for name in self.names)
        self.factories = {
            name: field.default_factory for name, field in said.items() if field.default_factory is not MISSING
        }
        self.after: Callable[[object], None] | None = getattr(cls, "__post_init__", None)


_PLANS: dict[type, _Plan] = {}


def _plan(cls: type) -> _Plan:
    found = _PLANS[cls] = _Plan(cls)
    return found


def _init(self: Any, /, *given: object, **named: object) -> None:
    cls = type(self)
    plan = _PLANS.get(cls) or _plan(cls)
    if named or len(given) != len(plan.puts):
        given = _completed(cls, plan, given, named)
    for put, each in zip(plan.puts, given, strict=True):
        put(self, each)
    if plan.after is not None:
        plan.after(self)


def _completed(cls: type, plan: _Plan, given: tuple[object, ...], named: dict[str, object]) -> tuple[object, ...]:
    """The arguments in the order of fields, with the defaults of those that were left out."""
    start = len(given)
    if start > len(plan.names):
        raise TypeError(f"{cls.__name__} takes {len(plan.names)} values, not {start}")
    rest = []
    for name, default in zip(plan.names[start:], plan.missing[start:], strict=True):
        each = named.pop(name, default)
        if each is MISSING:
            if name not in plan.factories:
                raise TypeError(f"{cls.__name__} needs {name!r}")
            each = plan.factories[name]()
        rest.append(each)
    if named:
        raise TypeError(f"{cls.__name__} has no {', '.join(map(repr, named))}, or it was given twice")
    return (*given, *rest)


def _values(self: Any) -> tuple[object, ...]:
    return tuple(getattr(self, name) for name in self.__match_args__)


def _eq(self: object, other: object) -> object:
    if type(self) is not type(other):
        return NotImplemented
    return _values(self) == _values(other)


def _hash(self: object) -> int:
    return hash((type(self), _values(self)))


def _repr(self: Any) -> str:
    said = [field for field in fields(self) if getattr(self, field.name) != field.default]
    return f"{type(self).__name__}({', '.join(f'{field.name}={getattr(self, field.name)!r}' for field in said)})"


def _setattr(self: object, name: str, value: object) -> NoReturn:  # noqa: ARG001 - the shape of the method
    raise FrozenInstanceError(f"cannot assign to {name!r}; use dataclasses.replace")


def _delattr(self: object, name: str) -> NoReturn:  # noqa: ARG001 - the shape of the method
    raise FrozenInstanceError(f"cannot delete {name!r}")


def _reduce(self: Any) -> tuple[object, ...]:
    return _rebuild, (type(self), {name: getattr(self, name) for name in self.__match_args__})


def _rebuild(cls: type[Kind], values: dict[str, object]) -> Kind:
    return cls(**values)


_METHODS = {
    "__init__": _init,
    "__eq__": _eq,
    "__hash__": _hash,
    "__repr__": _repr,
    "__setattr__": _setattr,
    "__delattr__": _delattr,
    "__reduce__": _reduce,
}
