"""Fixtures of the tools' tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.tools.desk import Desk
from tests.tools.kit import desk_at


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_at(tmp_path)
