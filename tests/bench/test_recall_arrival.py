"""The real program: what is recalled is in the first request, of one printed turn and of turns in a terminal."""

from __future__ import annotations

import pytest
from bench.recall.arrival import count_arrived

from tests.apps.tui.tmux import needs_tmux
from tests.requirements import requirement

_SAMPLE = (("print", "selector"), ("terminal", "words"))


@needs_tmux
@requirement("recall:arrives")
@pytest.mark.parametrize("kind", ["words", "selector", "late selector"])
@pytest.mark.parametrize("way", ["print", "terminal", "library"])
def test_the_first_request_of_every_turn_has_the_memory_that_ranks_first(way: str, kind: str, thorough: bool) -> None:
    if not thorough and (way, kind) not in _SAMPLE:
        pytest.skip("with --thorough")
    turns = 50 if thorough else 2
    assert count_arrived(way, kind, turns) == turns
