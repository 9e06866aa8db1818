"""The forward pass with weights drawn by lot: what holds for any weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("tokenizers", reason="the `semantic` extra is not installed")

from reverie.memory.search.blas import one_thread
from reverie.memory.search.embed import DIMENSIONS, WINDOW_TOKENS, Embedder
from tests.memory.search.by_lot import WORDS, write_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def embedder(model: Path) -> Embedder:
    return Embedder(model)


def test_a_text_has_the_same_unit_vector_alone_and_in_any_company(embedder: Embedder) -> None:
    texts = ["kiwi", "red kiwi", "green mango plum fig " * 9, "blue " * 100, "fig", "plum red"]
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    many = embedder.embed([*texts, *(f"kiwi {number}" for number in range(300))])[: len(texts)]
    assert np.allclose(np.linalg.norm(alone, axis=1), 1)
    assert np.allclose(alone, many, atol=1e-5)
    assert np.allclose(alone[::-1], embedder.embed(texts[::-1]), atol=1e-5)
    assert not np.allclose(alone[0], alone[1], atol=1e-3)
    assert embedder.embed([]).shape == (0, DIMENSIONS)


def test_a_text_is_cut_where_the_window_ends(embedder: Embedder) -> None:
    long = " ".join(WORDS[1:] * 60)
    pieces = embedder.windows(long)
    assert len(pieces) > 1
    assert np.allclose(embedder.embed([long]), embedder.embed([" ".join(long.split()[:WINDOW_TOKENS])]), atol=1e-5)


def test_one_thread_computes_what_many_do() -> None:
    draw = np.random.default_rng(2)
    first, second = draw.standard_normal((300, 384)), draw.standard_normal((384, 500))
    usual = first @ second
    with one_thread(), one_thread():
        assert np.allclose(first @ second, usual)
    assert np.allclose(first @ second, usual)
