"""Sentence vectors from MiniLM-L6 in numpy alone: text in, unit vectors of 384 numbers out.

Owns the forward pass (BERT, six layers, mean pooling) and how long texts are cut into windows. Needs the `semantic`
extra and the weights that `weights.py` installs; nothing here is imported by a query that has neither.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from tokenizers import Tokenizer

from reverie.memory.search.blas import one_thread
from reverie.memory.search.tensors import read_tensors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

DIMENSIONS = 384
WINDOW_TOKENS = 256
"""The length the model was trained for; a longer text is cut into windows."""
_HEADS = 12
_LAYERS = 6
_SCORE_SCALE = np.float32((DIMENSIONS // _HEADS) ** -0.5)
_BATCH_TOKENS = 1024
"""Large enough to keep the matrix products busy, small enough for the activations to stay in the cache."""
_LENGTH_STEP = 8
"""Texts of about the same length are computed together, so that little is padding."""
_SMALL_TOKENS = 64
"""Up to so many tokens one pass over texts of any length is quicker than two."""
_MOST_WORKERS = 8
_RECENT_TEXTS = 256
"""A query is asked of several indexes in a row; embedding it takes longer than all else."""


class Embedder:
    """MiniLM-L6 loaded from a folder with `model.safetensors` and `tokenizer.json`."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._recent: dict[str, Matrix] = {}
        raw = read_tensors(folder / "model.safetensors")
        self._words: Matrix = raw["embeddings.word_embeddings.weight"]
        self._places: Matrix = (
            raw["embeddings.position_embeddings.weight"] + raw["embeddings.token_type_embeddings.weight"][0]
        )
        self._first_norm = (_column(raw, "embeddings.LayerNorm.weight"), _column(raw, "embeddings.LayerNorm.bias"))
        self._layers = [_Layer(raw, f"encoder.layer.{number}.") for number in range(_LAYERS)]

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One unit vector per text; of a text beyond the window only its beginning counts (see `windows`)."""
        if len(self._recent) + len(texts) > _RECENT_TEXTS:
            self._recent.clear()
        if len(texts) > _RECENT_TEXTS:
            return self._embed_texts(texts)
        new = [text for text in dict.fromkeys(texts) if text not in self._recent]
        self._recent.update(zip(new, self._embed_texts(new), strict=True))
        return np.array([self._recent[text] for text in texts], dtype=np.float32).reshape(-1, DIMENSIONS)

    def _embed_texts(self, texts: Sequence[str]) -> Matrix:
        # A batch is shared out to threads, which takes longer than a query and its variant.
        few = len(texts) <= 2
        encodings = map(self._tokenizer.encode, texts) if few else self._tokenizer.encode_batch_fast(list(texts))
        tokens = [encoding.ids[:WINDOW_TOKENS] for encoding in encodings]
        vectors = np.empty((len(tokens), DIMENSIONS), dtype=np.float32)

        def fill(batch: list[int]) -> None:
            vectors[batch] = self._forward([tokens[number] for number in batch])

        batches = _batches([len(ids) for ids in tokens])
        with one_thread():
            if len(batches) < 2:
                deque(map(fill, batches), maxlen=0)
            else:
                with ThreadPoolExecutor(min(_MOST_WORKERS, os.cpu_count() or 1)) as workers:
                    deque(workers.map(fill, batches), maxlen=0)
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
        hidden = np.ascontiguousarray((self._words[ids] + self._places[:width]).reshape(-1, DIMENSIONS).T)
        _normalise(hidden, *self._first_norm)
        mask = None if real.all() else np.where(real, 0, -1e9).astype(np.float32)[:, None, None, :]
        for layer in self._layers:
            hidden = layer(hidden, len(batch), mask)
        stacked = hidden.reshape(DIMENSIONS, len(batch), width)
        pooled: Matrix = np.einsum("dbw,bw->bd", stacked, real.astype(np.float32))
        pooled /= np.linalg.norm(pooled, axis=1, keepdims=True)
        return pooled


class _Layer:
    """Self-attention and feed-forward, each followed by its normalisation.

    A token is a column: the matrices are used as they lie in their file, and few columns are multiplied faster than
    few rows.
    """

    def __init__(self, raw: dict[str, Matrix], prefix: str) -> None:
        self._query, self._key, self._value, self._out, self._up, self._down = (
            (raw[f"{prefix}{name}.weight"], _column(raw, f"{prefix}{name}.bias"))
            for name in (
                "attention.self.query",
                "attention.self.key",
                "attention.self.value",
                "attention.output.dense",
                "intermediate.dense",
                "output.dense",
            )
        )
        self._out_norm, self._norm = (
            (_column(raw, f"{prefix}{name}.weight"), _column(raw, f"{prefix}{name}.bias"))
            for name in ("attention.output.LayerNorm", "output.LayerNorm")
        )

    def __call__(self, hidden: Matrix, texts: int, mask: Matrix | None) -> Matrix:
        query, key, value = (
            _linear(hidden, *each).reshape(_HEADS, DIMENSIONS // _HEADS, texts, -1).transpose(2, 0, 1, 3)
            for each in (self._query, self._key, self._value)
        )
        scores: Matrix = query.transpose(0, 1, 3, 2) @ key
        scores *= _SCORE_SCALE
        if mask is not None:
            scores += mask
        scores -= np.maximum.reduce(scores, axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= np.add.reduce(scores, axis=-1, keepdims=True)
        heads = (value @ scores.transpose(0, 1, 3, 2)).transpose(1, 2, 0, 3).reshape(DIMENSIONS, -1)
        attended = _linear(heads, *self._out)
        attended += hidden
        _normalise(attended, *self._out_norm)
        narrow = _linear(_gelu(_linear(attended, *self._up)), *self._down)
        narrow += attended
        _normalise(narrow, *self._norm)
        return narrow


def _column(raw: dict[str, Matrix], name: str) -> Matrix:
    return raw[name][:, None]


def _linear(columns: Matrix, weight: Matrix, bias: Matrix) -> Matrix:
    product: Matrix = weight @ columns
    product += bias
    return product


def _normalise(columns: Matrix, weight: Matrix, bias: Matrix) -> None:
    columns -= np.add.reduce(columns, axis=0) / np.float32(DIMENSIONS)
    spread = np.einsum("dt,dt->t", columns, columns) / np.float32(DIMENSIONS)
    spread += np.float32(1e-12)
    columns /= np.sqrt(spread, out=spread)
    columns *= weight
    columns += bias


def _gelu(rows: Matrix) -> Matrix:
    # The tanh form: numpy has no error function, and the ranking does not change.
    inner = rows * rows
    inner *= np.float32(0.044715 * _TANH_SCALE)
    inner += np.float32(_TANH_SCALE)
    inner *= rows
    np.tanh(inner, out=inner)
    inner += 1
    inner *= rows
    inner *= np.float32(0.5)
    return inner


_TANH_SCALE = 0.7978845608028654
"""The root of 2 / π."""


def _batches(lengths: Sequence[int]) -> list[list[int]]:
    """Group texts of like length so that little is padding and each batch has about the same number of tokens."""
    batches: list[list[int]] = []
    current: list[int] = []
    step = -1
    for number in sorted(range(len(lengths)), key=lambda each: lengths[each]):
        own = -(-lengths[number] // _LENGTH_STEP)
        tokens = (len(current) + 1) * own * _LENGTH_STEP
        if current and tokens > (_BATCH_TOKENS if own == step else _SMALL_TOKENS):
            batches.append(current)
            current = []
        step = own
        current.append(number)
    if current:
        batches.append(current)
    return batches
