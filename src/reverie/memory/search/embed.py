"""Sentence vectors from MiniLM-L6 in numpy alone: text in, unit vectors of 384 numbers out.

Owns the forward pass (BERT, six layers, mean pooling) and how long texts are cut into windows. Needs the `semantic`
extra and the weights that `weights.py` installs; nothing here is imported by a query that has neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

DIMENSIONS = 384
WINDOW_TOKENS = 256
"""The length the model was trained for; a longer text is cut into windows."""
_HEADS = 12
_LAYERS = 6
_BATCH_TOKENS = 1024
"""Large enough to keep the matrix products busy, small enough for the activations to stay in the cache."""
_LENGTH_STEP = 8
"""Texts are padded to a multiple of this, so that few lengths and little padding occur."""


class Embedder:
    """MiniLM-L6 loaded from a folder with `model.safetensors` and `tokenizer.json`."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        raw = load_file(str(folder / "model.safetensors"))
        self._words: Matrix = raw["embeddings.word_embeddings.weight"]
        self._places: Matrix = (
            raw["embeddings.position_embeddings.weight"] + raw["embeddings.token_type_embeddings.weight"][0]
        )
        self._first_norm = (raw["embeddings.LayerNorm.weight"], raw["embeddings.LayerNorm.bias"])
        self._layers = [_Layer(raw, f"encoder.layer.{number}.") for number in range(_LAYERS)]

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One unit vector per text; of a text beyond the window only its beginning counts (see `windows`)."""
        tokens = [encoding.ids[:WINDOW_TOKENS] for encoding in self._tokenizer.encode_batch_fast(list(texts))]
        vectors = np.empty((len(tokens), DIMENSIONS), dtype=np.float32)
        for batch in _batches([len(ids) for ids in tokens]):
            vectors[batch] = self._forward([tokens[number] for number in batch])
        return vectors

    def windows(self, text: str) -> tuple[str, ...]:
        """Cut a text into pieces that the model can read whole, overlapping by an eighth; a short text is one piece."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        room = WINDOW_TOKENS - 2
        offsets = encoding.offsets
        if len(offsets) <= room:
            return (text,)
        step = room - room // 8
        starts = range(0, max(1, len(offsets) - room // 8), step)
        return tuple(text[offsets[at][0] : offsets[min(at + room, len(offsets)) - 1][1]] for at in starts)

    def _forward(self, batch: Sequence[Sequence[int]]) -> Matrix:
        lengths = np.array([len(ids) for ids in batch])
        width = int(lengths.max())
        ids = np.zeros((len(batch), width), dtype=np.int64)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
        real = np.arange(width) < lengths[:, None]
        hidden = (self._words[ids] + self._places[:width]).reshape(-1, DIMENSIONS)
        _normalise(hidden, *self._first_norm)
        mask = None if real.all() else np.where(real, 0, -1e9).astype(np.float32)[:, None, None, :]
        for layer in self._layers:
            hidden = layer(hidden, len(batch), mask)
        stacked = hidden.reshape(len(batch), width, DIMENSIONS)
        pooled: Matrix = np.einsum("bwd,bw->bd", stacked, real.astype(np.float32))
        pooled /= np.linalg.norm(pooled, axis=1, keepdims=True)
        return pooled


class _Layer:
    """Self-attention and feed-forward, each followed by its normalisation."""

    def __init__(self, raw: dict[str, Matrix], prefix: str) -> None:
        def linear(name: str) -> tuple[Matrix, Matrix]:
            return np.ascontiguousarray(raw[f"{prefix}{name}.weight"].T), raw[f"{prefix}{name}.bias"]

        query, key, value = (linear(f"attention.self.{name}") for name in ("query", "key", "value"))
        scale = np.float32(1 / (DIMENSIONS // _HEADS) ** 0.5)
        self._mix = np.concatenate([query[0] * scale, key[0], value[0]], axis=1)
        self._mix_bias = np.concatenate([query[1] * scale, key[1], value[1]])
        self._out = linear("attention.output.dense")
        self._out_norm = (
            raw[f"{prefix}attention.output.LayerNorm.weight"],
            raw[f"{prefix}attention.output.LayerNorm.bias"],
        )
        self._up = linear("intermediate.dense")
        self._down = linear("output.dense")
        self._norm = (raw[f"{prefix}output.LayerNorm.weight"], raw[f"{prefix}output.LayerNorm.bias"])

    def __call__(self, hidden: Matrix, rows: int, mask: Matrix | None) -> Matrix:
        mixed = hidden @ self._mix
        mixed += self._mix_bias
        parts = mixed.reshape(rows, -1, 3, _HEADS, DIMENSIONS // _HEADS).transpose(2, 0, 3, 1, 4)
        scores = parts[0] @ parts[1].transpose(0, 1, 3, 2)
        if mask is not None:
            scores += mask
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        heads = (scores @ parts[2]).transpose(0, 2, 1, 3).reshape(-1, DIMENSIONS)
        attended = heads @ self._out[0]
        attended += self._out[1]
        attended += hidden
        _normalise(attended, *self._out_norm)
        wide = attended @ self._up[0]
        wide += self._up[1]
        narrow: Matrix = _gelu(wide) @ self._down[0]
        narrow += self._down[1]
        narrow += attended
        _normalise(narrow, *self._norm)
        return narrow


def _normalise(rows: Matrix, weight: Matrix, bias: Matrix) -> None:
    rows -= rows.mean(axis=1, keepdims=True)
    spread = np.sqrt(np.einsum("ij,ij->i", rows, rows) / rows.shape[1] + 1e-12)
    rows /= spread[:, None]
    rows *= weight
    rows += bias


def _gelu(rows: Matrix) -> Matrix:
    # The tanh form: numpy has no error function, and the ranking does not change.
    inner = rows * rows
    inner *= np.float32(0.044715)
    inner += 1
    inner *= rows
    inner *= np.float32(0.7978845608028654)
    np.tanh(inner, out=inner)
    inner += 1
    inner *= rows
    inner *= np.float32(0.5)
    return inner


def _batches(lengths: Sequence[int]) -> list[list[int]]:
    """Group texts of like length so that little is padding and each batch has about the same number of tokens."""
    batches: list[list[int]] = []
    current: list[int] = []
    step = -1
    for number in sorted(range(len(lengths)), key=lambda each: lengths[each]):
        own = -(-lengths[number] // _LENGTH_STEP)
        if current and (own != step or (len(current) + 1) * own * _LENGTH_STEP > _BATCH_TOKENS):
            batches.append(current)
            current = []
        step = own
        current.append(number)
    if current:
        batches.append(current)
    return batches
