"""Vectors, where they can be had: the `semantic` extra and its weights. Without either, search goes by words."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reverie.memory.search.vectors import Embeds

EXTRA = ("numpy", "tokenizers")


def load_embedder(models: Path) -> Embeds | None:
    """What turns text into vectors; None when its weights or the extra are not installed."""
    if not models.is_dir():
        return None
    from reverie.memory.search.weights import find_weights

    folder = find_weights(models)
    if folder is None or any(find_spec(name) is None for name in EXTRA):
        return None
    from reverie.memory.search.embed import Embedder

    return Embedder(folder)
