"""Fixtures of the golden tests."""

from __future__ import annotations

import pytest

from tests.golden.golden import Golden


@pytest.fixture
def golden(pytestconfig: pytest.Config) -> Golden:
    return Golden(updates=bool(pytestconfig.getoption("--update-golden")))
