"""The manifest and the tests agree in both directions, and every promise is kept in a clone without the sample data."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from tests.requirements import REQUIREMENTS

_TESTS = Path(__file__).parent
_SAMPLES = "shared_data"
_Part = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@cache
def _parts(path: Path) -> tuple[_Part, ...]:
    """The functions and classes of a file; a class stands for its tests."""
    return tuple(node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, _Part))


def _arguments(part: _Part) -> set[str]:
    if isinstance(part, ast.ClassDef):
        return set()
    return {one.arg for one in (*part.args.posonlyargs, *part.args.args, *part.args.kwonlyargs)}


def _promises(part: _Part) -> set[str]:
    marks = [one for one in part.decorator_list if isinstance(one, ast.Call)]
    names = [mark.args for mark in marks if isinstance(mark.func, ast.Name) and mark.func.id == "requirement"]
    return {str(one.value) for arguments in names for one in arguments if isinstance(one, ast.Constant)}


def _with_samples(path: Path) -> set[str]:
    """The names of functions of a file that need the sample data, directly or through a fixture of the file."""
    found = {_SAMPLES}
    while more := {one.name for one in _parts(path) if _arguments(one) & found} - found:
        found |= more
    return found


@cache
def _marked() -> dict[str, bool]:
    """The promises that tests name, and whether a test keeps them that runs without the sample data."""
    found: dict[str, bool] = {}
    for path in _TESTS.rglob("test_*.py"):
        skipped = _with_samples(path)
        for part in _parts(path):
            for name in _promises(part):
                found[name] = found.get(name, False) or part.name not in skipped
    return found


def test_every_promise_has_a_test_or_says_why_not() -> None:
    untested = {name for name, promise in REQUIREMENTS.items() if promise.deferred is None} - _marked().keys()

    assert untested == set()


def test_a_deferred_promise_has_no_test() -> None:
    deferred = {name for name, promise in REQUIREMENTS.items() if promise.deferred is not None}

    assert deferred & _marked().keys() == set()


def test_every_promise_is_kept_where_the_sample_data_is_absent() -> None:
    assert {name for name, is_kept in _marked().items() if not is_kept} == set()


def test_no_fixture_for_all_needs_the_sample_data() -> None:
    """Those of single files are followed above."""
    for path in _TESTS.rglob("conftest.py"):
        assert _with_samples(path) == {_SAMPLES}, path
