"""Vectors of documents: how they are kept in the index file and searched without any further library than numpy.

Kept as one signed byte per dimension. A query compares sign bits with all of them first (an XOR and a bit count),
then computes the exact products of the best.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Protocol

import numpy as np

from reverie.memory.search.blas import one_thread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

_SCALE = 127.0 / 0.35
"""Unit vectors of 384 dimensions hardly ever exceed 0.35 in one of them."""
_EXACT_UP_TO = 4_000
"""Below this many vectors the sign bits save nothing."""
_PREFILTERED = 1_000


class Embeds(Protocol):
    """What turns text into unit vectors."""

    def embed(self, texts: Sequence[str]) -> Matrix: ...

    def windows(self, text: str) -> tuple[str, ...]: ...


def pack(vector: Matrix) -> bytes:
    """A unit vector as bytes, or several end to end."""
    packed: bytes = np.clip(np.rint(vector * _SCALE), -127, 127).astype(np.int8).tobytes()
    return packed


class VectorTable:
    """All vectors of an index, ready to be searched."""

    def __init__(self, stored: Iterable[tuple[int, int, bytes]]) -> None:
        rows = iter(stored)
        first = next(rows, None)
        width = len(first[2]) if first else 0
        kind = np.dtype([("document", np.int64), ("part", np.int64), ("codes", np.void, width)])
        # Straight into one block: a hundred thousand small objects at once leave holes in memory that stay.
        records = np.fromiter(chain([first] if first else (), rows), dtype=kind)
        self._documents = records["document"].copy()
        self._is_context = records["part"] < 0
        self._codes: NDArray[np.int8] = records["codes"][:, None].view(np.int8)
        self._bits = _sign_bits(self._codes) if len(records) > _EXACT_UP_TO else None

    def __len__(self) -> int:
        return len(self._documents)

    @one_thread()
    def best(self, query: Matrix, limit: int) -> list[int]:
        """The ids of the documents with the vectors nearest to the query."""
        if not len(self):
            return []
        if self._bits is None:
            chosen = np.arange(len(self))
        else:
            differing = np.bitwise_count(self._bits ^ _sign_bits((query[None] * _SCALE).astype(np.int8))).sum(axis=1)
            chosen = np.argpartition(differing, min(_PREFILTERED, len(differing) - 1))[:_PREFILTERED]
        products = self._codes[chosen].astype(np.float32) @ query
        order = chosen[np.argsort(-products, kind="stable")[: limit * 2]]
        return list(dict.fromkeys(self._documents[order].tolist()))[:limit]

    @one_thread()
    def similarities(self, queries: Matrix, documents: Sequence[int]) -> dict[int, tuple[list[float], list[float]]]:
        """Document → its best cosine with each query, by its own text and by its text with the one before it."""
        if not len(self) or not documents:
            return {}
        # The table is in the order of document ids: each document's vectors lie side by side.
        ids = np.sort(np.array(documents, dtype=np.int64))
        first = np.searchsorted(self._documents, ids, side="left")
        last = np.searchsorted(self._documents, ids, side="right")
        counts = last - first
        if not counts.any():
            return {}
        # Every place of every document: its first one, and how far it is into its document.
        places = np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        cosines = self._codes[places].astype(np.float32) @ queries.T / np.float32(_SCALE)
        result: dict[int, tuple[list[float], list[float]]] = {}
        for place, row in zip(places.tolist(), cosines.tolist(), strict=True):
            own, context = result.setdefault(int(self._documents[place]), ([], []))
            target = context if self._is_context[place] else own
            target[:] = [max(pair) for pair in zip(target, row, strict=True)] if target else row
        return result


@one_thread()
def sentence_similarities(
    queries: Matrix, stored: Mapping[int, bytes]
) -> dict[int, tuple[list[float], list[float], list[float]]]:
    """Document → its best cosine with each query, by one sentence, by two neighbours and by up to three.

    These vectors stay in the file until a query needs them: they are several times as many as those searched.
    """
    if not stored:
        return {}
    width = queries.shape[1]
    codes = np.frombuffer(b"".join(stored.values()), dtype=np.int8).reshape(-1, width).astype(np.float32)
    counts = np.array([len(data) // width for data in stored.values()])
    owner = np.repeat(np.arange(len(counts)), counts)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    cosines = codes @ queries.T
    best = [np.maximum.reduceat(cosines / np.float32(_SCALE), starts).tolist()]
    # The vector of a run is the sum of its sentences'; its product and its length follow from theirs without adding up.
    products, squares = cosines.copy(), np.einsum("ij,ij->i", codes, codes)
    lengths = squares.copy()
    for step in (1, 2):
        together = owner[step:] == owner[:-step]
        products[:-step] += cosines[step:] * together[:, None]
        lengths[:-step] += squares[step:] * together
        for nearer in range(1, step + 1):
            beside = np.einsum("ij,ij->i", codes[nearer:], codes[:-nearer])
            first = step - nearer
            lengths[:-step] += 2 * beside[first : first + len(together)] * together
        best.append(np.maximum.reduceat(products / np.sqrt(lengths)[:, None], starts).tolist())
    return dict(zip(stored, zip(*best, strict=True), strict=True))


def _sign_bits(codes: NDArray[np.int8]) -> NDArray[np.uint64]:
    return np.ascontiguousarray(np.packbits(codes > 0, axis=1)).view(np.uint64)
