"""The public Python names and their signatures, without the modules in which internal types are defined."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re
from collections.abc import Collection, Iterator
from enum import Enum
from functools import cached_property
from types import ModuleType
from typing import Annotated, Any, get_args, get_origin

import pytest

import reverie
from tests.golden.golden import Golden
from tests.requirements import requirement

PACKAGES = ["reverie.testing", pytest.param("reverie.adapters", marks=pytest.mark.program)]
"""The adapters import large libraries."""
PROMISED = {
    "Memory": (
        *(
            "open",
            "save",
            "save_many",
            "recall",
            "recall_async",
            "topics",
            "read",
            "forget",
            "pin",
            "log",
            "diff",
            "why",
        ),
        *("undo", "erase", "search", "learn", "dream"),
    ),
    "Session": ("start", "resume", "send"),
    "Window": ("prepare", "observe", "compact"),
}
"""Methods that programs of others rely on; the remaining members of these classes may change more easily."""

_MODULE_PATH = re.compile(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z_])")
_ADDRESS = re.compile(r"<(?:function |bound method )?(?:[\w.]*\.)?<?(\w+)>?(?: object)? at 0x[0-9a-f]+>")
_DUNDERS = ("__enter__", "__aenter__", "__call__", "__iter__", "__aiter__", "__len__")


@requirement("golden:names")
def test_the_names_that_programs_rely_on(golden: Golden) -> None:
    names = sorted(name for name in reverie.__all__ if not name.startswith("__"))
    lines = [line for name in names for line in _render(name, getattr(reverie, name), keep=PROMISED.get(name))]
    golden.check("names/promised.txt", "\n".join(lines))


@requirement("golden:names")
def test_the_remaining_members_of_exported_classes(golden: Golden) -> None:
    lines: list[str] = []
    for name, promised in sorted(PROMISED.items()):
        remaining = _members(getattr(reverie, name)).keys() - set(promised)
        lines += _render(name, getattr(reverie, name), keep=remaining)
    golden.check("names/remaining.txt", "\n".join(lines))


@requirement("golden:names")
@pytest.mark.parametrize("package", PACKAGES)
def test_the_names_of_a_public_package(golden: Golden, package: str) -> None:
    lines: list[str] = []
    for module in sorted(pkgutil.iter_modules(importlib.import_module(package).__path__), key=lambda info: info.name):
        path = f"{package}.{module.name}"
        lines += [f"[{path}]", *_render_module(importlib.import_module(path)), ""]
    golden.check(f"names/{package}.txt", "\n".join(lines))


def _render_module(module: ModuleType) -> Iterator[str]:
    exported = getattr(module, "__all__", None)
    for name, member in sorted(vars(module).items()):
        is_own = getattr(member, "__module__", None) == module.__name__ and callable(member)
        is_constant = name.isupper() and isinstance(member, str | int | float)
        if name in exported if exported is not None else not name.startswith("_") and (is_own or is_constant):
            yield from _render(name, member)


def _render(name: str, member: object, indent: str = "", keep: Collection[str] | None = None) -> Iterator[str]:
    if inspect.isclass(member):
        yield from _render_class(name, member, indent, keep)
    elif isinstance(member, property | cached_property):
        getter = member.fget if isinstance(member, property) else member.func
        yield f"{indent}{name}: {_plain(inspect.signature(getter).return_annotation if getter else '?')}"
    elif isinstance(member, classmethod | staticmethod):
        yield f"{indent}{type(member).__name__} {_function(name, member.__func__)}"
    elif inspect.isroutine(member):
        yield indent + _function(name, member)
    else:
        yield f"{indent}{name} = {_plain(repr(member))}"


def _render_class(name: str, member: type, indent: str, keep: Collection[str] | None) -> Iterator[str]:
    inner = indent + "    "
    if dataclasses.is_dataclass(member):
        yield f"{indent}value {name}"
        fields = {field.name: field for field in dataclasses.fields(member)}
        yield from (f"{inner}{field.name}: {_plain(field.type)}{_default(field)}" for field in fields.values())
    elif issubclass(member, Enum):
        yield f"{indent}enum {name}: {', '.join(f'{one.name}={one.value!r}' for one in member)}"
        return
    else:
        fields = {}
        yield f"{indent}class {name}{_signature(member)}"
    for own, value in sorted(_members(member).items()):
        if own not in fields and (keep is None or own in keep):
            yield from _render(own, value, inner)


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return f" = {_plain(repr(field.default))}"
    return " = ..." if field.default_factory is not dataclasses.MISSING else ""


def _members(owner: type) -> dict[str, object]:
    """The public members of a class and its bases, apart from those of other packages."""
    members: dict[str, object] = {}
    for base in reversed(owner.__mro__):
        if base.__module__.partition(".")[0] == "reverie":
            members |= {
                name: value for name, value in vars(base).items() if not name.startswith("_") or name in _DUNDERS
            }
    return members


def _function(name: str, function: object) -> str:
    is_stream = inspect.isasyncgenfunction(function)
    kind = "async generator " if is_stream else "async " if inspect.iscoroutinefunction(function) else ""
    return f"{kind}def {name}{_signature(function)}"


def _signature(function: object) -> str:
    try:
        signature = inspect.signature(function)  # type: ignore[arg-type]  # not everything has one
    except (TypeError, ValueError):
        return "(...)"
    parameters = [
        one.replace(annotation=_Plain(one.annotation)) if one.annotation is not one.empty else one
        for one in signature.parameters.values()
    ]
    returned = signature.return_annotation
    plain = signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty)
    arrow = "" if returned is inspect.Signature.empty else f" -> {_plain(returned)}"
    return _ADDRESS.sub(r"<\1>", str(plain)) + arrow


class _Plain:
    """An annotation that is printed without quotes and modules."""

    def __init__(self, annotation: object) -> None:
        self._text = _plain(annotation)

    def __repr__(self) -> str:
        return self._text


def _plain(annotation: object) -> str:
    """Without the modules of types and the addresses of objects."""
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if isinstance(annotation, type) and not get_args(annotation):
        annotation = annotation.__name__
    text = annotation if isinstance(annotation, str) else repr(annotation)
    return _MODULE_PATH.sub("", _ADDRESS.sub(r"<\1>", text))
