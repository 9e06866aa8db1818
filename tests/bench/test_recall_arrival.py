"""The real program: what is recalled is in the first request, of one printed turn and of turns in a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.recall.arrival import VOCABULARY, count_arrived

from tests.apps.tui.tmux import needs_tmux
from tests.requirements import requirement

pytestmark = pytest.mark.program


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with weights, as `reverie models install` leaves it."""
    pytest.importorskip("tokenizers", reason="the `semantic` extra is not installed")
    from tests.memory.search.by_lot import write_model

    folder = tmp_path_factory.mktemp("models")
    write_model(folder / "all-MiniLM-L6-v2", VOCABULARY)
    return folder


WAYS, KINDS = ("print", "terminal", "library"), ("words", "vectors", "selector", "late selector")
SAMPLE = [("print", "vectors"), ("terminal", "words"), ("library", "selector")]
"""Every way once; a printed turn with what takes longest to be ready. Each costs two seconds of processor time."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """All ways with all kinds, or each way with another kind."""
    if "kind" in metafunc.fixturenames:
        whole = [(way, kind) for way in WAYS for kind in KINDS]
        metafunc.parametrize(("way", "kind"), whole if metafunc.config.getoption("--thorough") else SAMPLE)


@needs_tmux
@requirement("recall:arrives")
def test_the_first_request_of_every_turn_has_the_memory_that_ranks_first(
    way: str, kind: str, thorough: bool, models: Path
) -> None:
    # A terminal and a library are warm with their second turn, a printed turn never is.
    turns = 50 if thorough else 1 if way == "print" else 2
    assert count_arrived(way, kind, turns, models) == turns
