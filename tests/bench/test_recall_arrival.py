"""The real program: what is recalled is in the first request, of one printed turn and of turns in a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.recall.arrival import VOCABULARY, count_arrived

from tests.apps.tui.tmux import needs_tmux
from tests.requirements import requirement


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with weights, as `reverie models install` leaves it."""
    pytest.importorskip("tokenizers", reason="the `semantic` extra is not installed")
    from tests.memory.search.by_lot import write_model

    folder = tmp_path_factory.mktemp("models")
    write_model(folder / "all-MiniLM-L6-v2", VOCABULARY)
    return folder


@needs_tmux
@requirement("recall:arrives")
@pytest.mark.parametrize("kind", ["words", "vectors", "selector", "late selector"])
@pytest.mark.parametrize("way", ["print", "terminal", "library"])
def test_the_first_request_of_every_turn_has_the_memory_that_ranks_first(
    way: str, kind: str, thorough: bool, models: Path
) -> None:
    if not thorough and kind == "late selector":
        pytest.skip("with --thorough")
    # A terminal and a library are warm with their second turn, a printed turn never is.
    turns = 50 if thorough else 1 if way == "print" else 2
    assert count_arrived(way, kind, turns, models) == turns
