"""The manifest of promises: every behaviour we stand for, and the mark that ties a test to one.

The promises lie in `tests/promises/`, one module per area; `tests/test_requirements.py` holds both directions together:
no promise without a test, no mark without a promise. A gap is data: `deferred` says why a promise has no test.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import TypeVar

import pytest

from tests import promises
from tests.promises import Requirement

Test = TypeVar("Test", bound=Callable[..., object])


def _collect() -> dict[str, Requirement]:
    merged: dict[str, Requirement] = {}
    for module in pkgutil.iter_modules(promises.__path__):
        found: dict[str, Requirement] = importlib.import_module(f"tests.promises.{module.name}").PROMISES
        twice = merged.keys() & found.keys()
        assert not twice, f"promised twice: {sorted(twice)}"
        merged.update(found)
    return merged


REQUIREMENTS: dict[str, Requirement] = _collect()


def requirement(*ids: str) -> Callable[[Test], Test]:
    """Tie a test to the promises it keeps."""
    for name in ids:
        if name not in REQUIREMENTS:
            raise KeyError(f"{name!r} is not in tests/promises; write the promise first")

    def mark(test: Test) -> Test:
        for name in ids:
            test = pytest.mark.requirement(name)(test)
        return test

    return mark
