"""Vectors for the bench, kept on disk between runs: embedding all sets takes minutes, comparing rankings need not."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from reverie.memory.search.embed import DIMENSIONS, Embedder

if TYPE_CHECKING:
    from numpy.typing import NDArray


class RememberingEmbedder:
    """An embedder that looks a text up before it computes."""

    def __init__(self, model: Path, cache: Path) -> None:
        self._embedder = Embedder(model)
        self._store = sqlite3.connect(cache)
        self._store.execute("CREATE TABLE IF NOT EXISTS vectors(text BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")

    def windows(self, text: str) -> tuple[str, ...]:
        return self._embedder.windows(text)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        names = [hashlib.blake2b(text.encode(), digest_size=16).digest() for text in texts]
        found = {name: self._read(name) for name in names}
        missing = [number for number, name in enumerate(names) if found[name] is None]
        for start in range(0, len(missing), 512):
            batch = missing[start : start + 512]
            vectors = self._embedder.embed([texts[number] for number in batch])
            for number, vector in zip(batch, vectors, strict=True):
                found[names[number]] = vector.astype(np.float16).tobytes()
                self._store.execute(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?)", (names[number], found[names[number]])
                )
            self._store.commit()
        joined = b"".join(found[name] or b"" for name in names)
        return np.frombuffer(joined, dtype=np.float16).reshape(-1, DIMENSIONS).astype(np.float32)

    def _read(self, name: bytes) -> bytes | None:
        row = self._store.execute("SELECT vector FROM vectors WHERE text = ?", (name,)).fetchone()
        return row[0] if row else None
