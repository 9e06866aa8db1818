from __future__ import annotations

from pathlib import Path

import pytest

from tests.api.session_parts.extracting_kill import kills
from tests.requirements import requirement

KILLS = 20


@requirement("extracting:session:killed")
@pytest.mark.timeout(180)
def test_killed_anywhere_the_store_is_readable_and_the_cursor_truthful(tmp_path: Path) -> None:
    left = list(kills(tmp_path, KILLS, seed=20261116))

    assert [problem for each in left for problem in each.problems] == []
    assert sum(each.kept < each.said for each in left) >= 3, "hardly a session was killed while it learned"
    assert any(each.kept for each in left), "no session had learned anything before it was killed"
