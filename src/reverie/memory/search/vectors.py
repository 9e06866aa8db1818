"""Vectors of documents: how they are kept in the index file and searched without any further library than numpy.

Kept as one signed byte per dimension. A query compares sign bits with all of them first (an XOR and a bit count),
then computes the exact products of the best.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
_LEAST_EACH = 2
_SAMPLED = 1_000
"""How many texts tell what cosine is usual for a query."""
_SUPPOSED, _USUAL_MEAN, _USUAL_SPREAD = 10, 0.1, 0.1
"""A store of a few texts does not tell what is usual; so many are supposed beside them, as they are on the average."""
TITLE = 0
"""The part that name and description are; the windows of the whole text follow, asks have numbers below."""
FIRST_WINDOW = 1


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
        self._parts = records["part"].copy()
        documents = int(np.count_nonzero(np.diff(self._documents))) + 1
        self._each = max(_LEAST_EACH, -(-len(records) // documents))
        """How many vectors a document has, about: so many more are taken for a number of documents."""
        self._codes: NDArray[np.int8] = records["codes"][:, None].view(np.int8)
        self._numbers: Matrix | None = None
        self._bits: NDArray[np.uint64] | None = None
        if len(records) > _EXACT_UP_TO:
            self._bits = np.ascontiguousarray(_sign_bits(self._codes).T)
        else:
            self._numbers = self._codes.astype(np.float32)

    def __len__(self) -> int:
        return len(self._documents)

    @one_thread()
    def best(self, query: Matrix, limit: int) -> list[int]:
        """The ids of the documents with the vectors nearest to the query."""
        if not len(self):
            return []
        if self._numbers is not None:
            order = np.argsort(-(self._numbers @ query), kind="stable")[: limit * self._each]
        else:
            chosen = self._alike(query)
            order = chosen[np.argsort(-(self._numbers_at(chosen) @ query), kind="stable")[: limit * self._each]]
        return list(dict.fromkeys(self._documents[order].tolist()))[:limit]

    def _numbers_at(self, places: NDArray[np.int64]) -> Matrix:
        return self._codes[places].astype(np.float32) if self._numbers is None else self._numbers[places]

    def _alike(self, query: Matrix) -> NDArray[np.int64]:
        """The places of the vectors with the fewest differing signs; all of those that differ in equally many."""
        assert self._bits is not None
        signs = _sign_bits((query[None] * _SCALE).astype(np.int8))[0]
        differing = np.zeros(len(self), dtype=np.uint16)
        # Word by word over all vectors: sums along a vector's six words would take three times as long.
        for words, sign in zip(self._bits, signs, strict=True):
            differing += np.bitwise_count(words ^ sign)
        at_most = np.searchsorted(np.cumsum(np.bincount(differing)), min(_PREFILTERED, len(self)))
        return np.flatnonzero(differing <= at_most)

    @one_thread()
    def similarities(self, query: Matrix, documents: Sequence[int]) -> dict[int, tuple[float, float, float]]:
        """Document → its best cosine with the query by its title, by its text and by an ask (0 where it has none)."""
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
        cosines = self._numbers_at(places) @ query / np.float32(_SCALE)
        result: dict[int, tuple[float, float, float]] = {}
        owners, parts = self._documents[places].tolist(), self._parts[places].tolist()
        for document, part, cosine in zip(owners, parts, cosines.tolist(), strict=True):
            title, text, ask = result.get(document, (-1.0, -1.0, 0.0))
            if part == TITLE:
                title = cosine
            elif part > TITLE:
                text = max(text, cosine)
            else:
                ask = max(ask, cosine)
            result[document] = title, text, ask
        return result

    @one_thread()
    def usual(self, query: Matrix) -> tuple[float, float]:
        """The mean and the spread of the cosines of the texts with a query, by a sample of them."""
        texts = np.flatnonzero(self._parts == FIRST_WINDOW)
        sample = texts[:: max(1, len(texts) // _SAMPLED)]
        cosines = self._numbers_at(sample) @ query / np.float32(_SCALE) if len(sample) else np.zeros(0)
        every = len(sample) + _SUPPOSED
        mean = (float(cosines.sum()) + _SUPPOSED * _USUAL_MEAN) / every
        squares = float(((cosines - mean) ** 2).sum()) + _SUPPOSED * (_USUAL_SPREAD**2 + (_USUAL_MEAN - mean) ** 2)
        return mean, (squares / every) ** 0.5


@one_thread()
def sentence_similarities(query: Matrix, stored: Sequence[tuple[int, bytes]]) -> dict[int, float]:
    """Document → the best cosine of one of its sentences with the query.

    `stored` has each document's id and its vectors end to end. They stay in the file until a query needs them: they are
    several times as many as those searched.
    """
    if not stored:
        return {}
    ids, packed = zip(*stored, strict=True)
    codes = np.frombuffer(b"".join(packed), dtype=np.int8).reshape(-1, len(query))
    starts = np.cumsum([0, *(len(data) // len(query) for data in packed[:-1])])
    cosines = codes.astype(np.float32) @ query / np.float32(_SCALE)
    return dict(zip(ids, np.maximum.reduceat(cosines, starts).tolist(), strict=True))


def _sign_bits(codes: NDArray[np.int8]) -> NDArray[np.uint64]:
    return np.ascontiguousarray(np.packbits(codes > 0, axis=1)).view(np.uint64)
