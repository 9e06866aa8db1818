from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.memory.search.passages.sessions import Sessions


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[Sessions]:
    folder = tmp_path / "transcripts"
    folder.mkdir()
    made = Sessions(folder, tmp_path / "cache" / "passages.db")
    yield made
    for past in made.opened:
        past.close()
