"""Fixtures that every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says nothing on a machine that does other things too; every test has a time-out of its own.
settings.register_profile("reverie", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("reverie")

_BESIDE_THE_PROJECT = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real sample data; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("REVERIE_SHARED_DATA", _BESIDE_THE_PROJECT))
    if not folder.is_dir():
        pytest.skip("no sample data here: set REVERIE_SHARED_DATA to its folder")
    return folder
