"""Fixtures that every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_BESIDE_THE_PROJECT = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real sample data; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("REVERIE_SHARED_DATA", _BESIDE_THE_PROJECT))
    if not folder.is_dir():
        pytest.skip("no sample data here: set REVERIE_SHARED_DATA to its folder")
    return folder
