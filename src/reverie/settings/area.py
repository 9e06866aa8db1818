"""`@area`: a frozen, slotted dataclass whose methods are shared instead of generated.

Every process loads the settings, hooks with their tight start-up budget included. The standard decorator writes and
compiles six methods for each class, about a millisecond a class; one set of methods for all takes a fifteenth of that.
`dataclasses.fields`, `replace` and `asdict` work as on any dataclass. Arguments are given by name. The modules of areas
leave out the postponed evaluation of annotations, so that `schema` finds types in the fields and need not evaluate any.
"""

from __future__ import annotations

from dataclasses import MISSING, FrozenInstanceError, dataclass, fields
from typing import Any, NoReturn, TypeVar, dataclass_transform

Kind = TypeVar("Kind")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def area(cls: type[Kind]) -> type[Kind]:
    """Make a class of annotated fields an immutable value."""
    made = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    for name, method in _METHODS.items():
        setattr(made, name, method)
    return made


def _init(self: Any, **values: object) -> None:
    for field in fields(self):
        value = values.pop(field.name, field.default)
        if value is MISSING:
            raise TypeError(f"{type(self).__name__} needs {field.name!r}")
        object.__setattr__(self, field.name, value)
    if values:
        raise TypeError(f"{type(self).__name__} has no {', '.join(map(repr, values))}")


def _values(self: Any) -> tuple[object, ...]:
    return tuple(getattr(self, field.name) for field in fields(self))


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
    return _rebuild, (type(self), {field.name: getattr(self, field.name) for field in fields(self)})


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
