"""`reverie worker` where there is no queue, and what it says about wrong arguments."""

from __future__ import annotations

import pytest

from tests.apps.cli.conftest import Terminal
from tests.requirements import requirement


@requirement("fleet:commands")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["jobs"], "jobs need a server on PostgreSQL"),
        (["submit", "dream"], "name repositories with --repo, or all of them with --all"),
        (["submit", "learn", "--repo", "acme/app"], "learn needs transcripts"),
        (["submit", "learn", "--yes", "--repo", "acme/app", "x"], "--yes belongs to dream"),
    ],
)
def test_a_mistake_names_the_next_step(terminal: Terminal, arguments: list[str], message: str) -> None:
    ran = terminal.run("worker", *arguments)
    assert ran.code == 2
    assert message in ran.err
