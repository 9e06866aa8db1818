"""The manifest and the tests agree in both directions."""

from __future__ import annotations

import re
from pathlib import Path

from tests.requirements import REQUIREMENTS

_MARK = re.compile(r"@requirement\(\s*((?:\"[^\"]+\"\s*,?\s*)+)\)")


def _marked() -> set[str]:
    found: set[str] = set()
    for path in Path(__file__).parent.rglob("test_*.py"):
        for match in _MARK.finditer(path.read_text(encoding="utf-8")):
            found.update(re.findall(r"\"([^\"]+)\"", match.group(1)))
    return found


def test_every_promise_has_a_test_or_says_why_not() -> None:
    untested = {name for name, promise in REQUIREMENTS.items() if promise.deferred is None} - _marked()

    assert untested == set()


def test_a_deferred_promise_has_no_test() -> None:
    deferred = {name for name, promise in REQUIREMENTS.items() if promise.deferred is not None}

    assert deferred & _marked() == set()
