"""A table to sit at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.apps.tui.scripted import Step, Table, table

MakeTable = Callable[..., Table]


@pytest.fixture
def sit(tmp_path: Path) -> MakeTable:
    """Makes a terminal whose conversation answers the turns given."""

    def make(*turns: list[Step]) -> Table:
        return table(tmp_path, *turns)

    return make
