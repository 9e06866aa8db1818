"""The forward pass with weights drawn by lot: what holds for any weights."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("tokenizers", reason="the `semantic` extra is not installed")

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from reverie.memory.search.blas import one_thread
from reverie.memory.search.embed import DIMENSIONS, WINDOW_TOKENS, Embedder

_WORDS = ("unknown", "red", "green", "blue", "kiwi", "mango", "plum", "fig")
_WIDE = 4 * DIMENSIONS


def shapes() -> dict[str, tuple[int, ...]]:
    """The tensors that the model file has."""
    found: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(_WORDS), DIMENSIONS),
        "embeddings.position_embeddings.weight": (WINDOW_TOKENS, DIMENSIONS),
        "embeddings.token_type_embeddings.weight": (2, DIMENSIONS),
        "embeddings.LayerNorm.weight": (DIMENSIONS,),
        "embeddings.LayerNorm.bias": (DIMENSIONS,),
    }
    for number in range(6):
        layer = f"encoder.layer.{number}."
        linears = [(f"attention.self.{name}", DIMENSIONS, DIMENSIONS) for name in ("query", "key", "value")]
        linears += [("attention.output.dense", DIMENSIONS, DIMENSIONS)]
        linears += [("intermediate.dense", _WIDE, DIMENSIONS), ("output.dense", DIMENSIONS, _WIDE)]
        for name, rows, columns in linears:
            found |= {f"{layer}{name}.weight": (rows, columns), f"{layer}{name}.bias": (rows,)}
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            found |= {f"{layer}{name}.weight": (DIMENSIONS,), f"{layer}{name}.bias": (DIMENSIONS,)}
    return found


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as `reverie models install` leaves it."""
    folder = tmp_path_factory.mktemp("model")
    draw = np.random.default_rng(5)
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    tensors: list[bytes] = []
    end = 0
    for name, shape in shapes().items():
        tensor = draw.standard_normal(shape, dtype=np.float32) * np.float32(0.1) + np.float32("Norm.weight" in name)
        start, end = end, end + tensor.nbytes
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [start, end]}
        tensors.append(tensor.tobytes())
    said = json.dumps(header).encode()
    said += b" " * (-len(said) % 8)
    (folder / "model.safetensors").write_bytes(len(said).to_bytes(8, "little") + said + b"".join(tensors))
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(_WORDS)}, unk_token="unknown"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


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
    long = " ".join(_WORDS[1:] * 60)
    pieces = embedder.windows(long)
    assert len(pieces) > 1
    assert np.allclose(embedder.embed([long]), embedder.embed([" ".join(long.split()[:WINDOW_TOKENS])]), atol=1e-5)


def test_the_copy_of_the_matrices_is_made_again_when_it_is_cut_off_and_missed_by_nobody(
    model: Path, embedder: Embedder
) -> None:
    copy = model / "model.layers"
    usual = embedder.embed(["red kiwi"])
    whole = copy.read_bytes()
    copy.unlink()
    copy.write_bytes(whole[:100])
    assert np.allclose(Embedder(model).embed(["red kiwi"]), usual, atol=1e-5)
    assert copy.read_bytes() == whole
    copy.unlink()
    copy.mkdir()
    assert np.allclose(Embedder(model).embed(["red kiwi"]), usual, atol=1e-5)
    copy.rmdir()


def test_one_thread_computes_what_many_do() -> None:
    draw = np.random.default_rng(2)
    first, second = draw.standard_normal((300, 384)), draw.standard_normal((384, 500))
    usual = first @ second
    with one_thread(), one_thread():
        assert np.allclose(first @ second, usual)
    assert np.allclose(first @ second, usual)
