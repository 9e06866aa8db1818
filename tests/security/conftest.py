"""A user at a terminal, in a project that somebody else made."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.apps.cli.conftest import Terminal
from tests.security.hostile import Trap, trap


@pytest.fixture
def made(tmp_path: Path) -> Trap:
    return trap(tmp_path)


@pytest.fixture
def victim(made: Trap) -> Terminal:
    """Somebody who works in it with the real program."""
    home = made.project.parent / "home"
    home.mkdir()
    return Terminal(home, made.project)
