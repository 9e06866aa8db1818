"""`@value`: a frozen, slotted dataclass whose methods are shared instead of generated.

Hooks and commands start a process for every question. The standard decorator takes most of a millisecond a class: it
writes and compiles methods, and describes fields that hardly anybody asks about. With it a cold `recall` takes 232 ms
of processor time instead of 118, and `-p` 906 instead of 497 (`bench/NOTES.md`, start-up).

Here all classes share their methods, the constructor is written for a class that many are made of, and fields are
described when somebody asks. `dataclasses.fields`, `replace`, `asdict` and `match` work as on any dataclass. Inherited
fields do not, nor `init` and `kw_only` of `field`; `tests/test_values.py` holds that no value of ours has them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any, NoReturn, TypeVar, dataclass_transform

Kind = TypeVar("Kind")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[Kind]) -> type[Kind]:
    """Make a class of annotated fields an immutable value."""
    own = {name: each for name, each in cls.__dict__.items() if name not in {"__dict__", "__weakref__"}}
    names = tuple(cls.__annotations__)
    defaults = {name: own.pop(name) for name in names if name in own}
    if own.get("__hash__") is None:
        # A class that says when it is equal has lost the hash that it did not give itself.
        own.pop("__hash__", None)
    body = _METHODS | own
    body["__slots__"] = body["__match_args__"] = names
    body["__dataclass_fields__"] = _FIELDS
    body["__qualname__"] = cls.__qualname__
    # A new class, as slots cannot be added to one that exists.
    slotted: type[Kind] = type(cls.__name__, cls.__bases__, body)
    _DEFAULTS[slotted] = defaults
    return slotted


class _Fields:
    """Stands for the fields of a class as `dataclasses` describes them, until somebody asks."""

    def __get__(self, instance: object, cls: type) -> dict[str, Field[Any]]:
        body = {name: getattr(cls, name) for name in ("__annotations__", "__module__", "__doc__")} | _DEFAULTS[cls]
        described: type = dataclass(init=False, repr=False, eq=False)(type(cls.__name__, (), body))
        by_name = {field.name: field for field in fields(described)}
        cls.__dataclass_fields__ = by_name  # type: ignore[attr-defined] # this, until now
        return by_name


_FIELDS = _Fields()
_DEFAULTS: dict[type, dict[str, object]] = {}


_SET_ONE_BY_ONE = 16
"""Writing a constructor takes as long as making some fifty instances without it; most classes of a command have few."""
_INSTANCES: dict[type, int] = {}


def _init(self: Any, /, *given: object, **named: object) -> None:
    """The first instances of a class; the one after them writes the constructor, as `dataclass` does at import."""
    cls = type(self)
    count = _INSTANCES[cls] = _INSTANCES.get(cls, 0) + 1
    if count > _SET_ONE_BY_ONE or not _set_slots(self, given, named):
        cls.__init__ = _constructor(cls)
        cls.__init__(self, *given, **named)


def _set_slots(self: Any, given: tuple[object, ...], named: dict[str, object]) -> bool:
    """Set the fields one by one; False where the arguments do not fit, which the constructor then explains."""
    names, defaults = self.__match_args__, _DEFAULTS[type(self)]
    values = dict(zip(names, given, strict=False)) | named
    if len(values) != len(given) + len(named) or not values.keys() <= set(names):
        return False
    for name in names:
        value = values[name] if name in values else defaults.get(name, MISSING)
        if isinstance(value, Field) and name not in values:
            value = value.default if value.default_factory is MISSING else value.default_factory()
        if value is MISSING:
            return False
        object.__setattr__(self, name, value)
    if hasattr(self, "__post_init__"):
        self.__post_init__()
    return True


def _constructor(cls: type) -> Callable[..., None]:
    names: tuple[str, ...] = cls.__match_args__  # type: ignore[attr-defined] # put there by `value`
    namespace: dict[str, object] = {"_MISSING": MISSING}
    parameters, puts = [], []
    for number, name in enumerate(names):
        # The slot itself: the instance refuses to be set.
        namespace[f"_put{number}"] = getattr(cls, name).__set__
        default = _DEFAULTS[cls].get(name, MISSING)
        factory = default.default_factory if isinstance(default, Field) else MISSING
        default = default.default if isinstance(default, Field) else default
        argument = name
        if factory is not MISSING:
            namespace[f"_make{number}"], default = factory, MISSING
            argument = f"_make{number}() if {name} is _MISSING else {name}"
        namespace[f"_default{number}"] = default
        is_optional = factory is not MISSING or default is not MISSING
        parameters.append(f"{name}=_default{number}" if is_optional else name)
        puts.append(f" _put{number}(self, {argument})")
    if hasattr(cls, "__post_init__"):
        puts.append(" self.__post_init__()")
    exec(f"def __init__({', '.join(['self', *parameters])}):\n" + "\n".join(puts or [" pass"]), namespace)  # noqa: S102
    constructor: Callable[..., None] = namespace["__init__"]  # type: ignore[assignment]
    constructor.__qualname__ = f"{cls.__qualname__}.__init__"
    return constructor


def _compared(self: object) -> object:
    """The values that make two of a class equal."""
    cls = type(self)
    get = _GETTERS.get(cls)
    if get is None:
        names = [each.name for each in fields(cls) if each.compare]  # type: ignore[arg-type] # it is a dataclass to all
        get = _GETTERS[cls] = attrgetter(*names) if names else lambda _self: ()
    return get(self)


_GETTERS: dict[type, Callable[[object], object]] = {}


def _eq(self: object, other: object) -> object:
    return _compared(self) == _compared(other) if type(self) is type(other) else NotImplemented


def _hash(self: object) -> int:
    return hash((type(self), _compared(self)))


def _repr(self: Any) -> str:
    shown_fields = [each for each in fields(self) if each.repr and getattr(self, each.name) != each.default]
    return f"{type(self).__name__}({', '.join(f'{each.name}={getattr(self, each.name)!r}' for each in shown_fields)})"


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
