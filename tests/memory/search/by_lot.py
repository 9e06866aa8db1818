"""A model of vectors whose weights are drawn by lot: it loads and runs as the real one does, and means nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from reverie.memory.search.embed import DIMENSIONS, WINDOW_TOKENS

WORDS = ("unknown", "red", "green", "blue", "kiwi", "mango", "plum", "fig")
_WIDE = 4 * DIMENSIONS


def shapes(words: int = len(WORDS)) -> dict[str, tuple[int, ...]]:
    """The tensors that the model file has."""
    found: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (words, DIMENSIONS),
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


def write_model(folder: Path, words: Sequence[str] = WORDS) -> Path:
    """Fill a folder as `reverie models install` leaves it; the first word stands for all that are not known."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(5)
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    tensors: list[bytes] = []
    end = 0
    for name, shape in shapes(len(words)).items():
        tensor = draw.standard_normal(shape, dtype=np.float32) * np.float32(0.1) + np.float32("Norm.weight" in name)
        start, end = end, end + tensor.nbytes
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [start, end]}
        tensors.append(tensor.tobytes())
    said = json.dumps(header).encode()
    said += b" " * (-len(said) % 8)
    (folder / "model.safetensors").write_bytes(len(said).to_bytes(8, "little") + said + b"".join(tensors))
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(words)}, unk_token=words[0]))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "complete").touch()
    return folder
