from __future__ import annotations

from pathlib import Path

import pytest

from tests.requirements import requirement
from tests.session.extraction_kill import kills


@requirement("extracting:session:killed")
@pytest.mark.timeout(1200)
def test_killed_anywhere_the_store_is_readable_and_the_cursor_truthful(tmp_path: Path, thorough: bool) -> None:
    left = list(kills(tmp_path, 200 if thorough else 6, seed=20261116))

    assert [problem for each in left for problem in each.problems] == []
    assert sum(each.kept < each.said for each in left) >= 1, "hardly a session was killed while it learned"
    assert any(each.kept for each in left), "no session had learned anything before it was killed"
