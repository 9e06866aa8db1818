"""Loads vectors where the `semantic` extra and its weights are installed; otherwise search uses words alone."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reverie.memory.search.vectors import Embeds

EXTRA = ("numpy", "tokenizers")


def is_installed(models: Path) -> bool:
    """Whether there are weights, and what runs them."""
    if not models.is_dir():
        return False
    from reverie.memory.search.weights import find_weights

    return find_weights(models) is not None and all(find_spec(name) is not None for name in EXTRA)


def load_embedder(models: Path) -> Embeds | None:
    """What turns text into vectors; None when its weights or the extra are not installed."""
    if not is_installed(models):
        return None
    from reverie.memory.search.embed import Embedder
    from reverie.memory.search.weights import find_weights

    folder = find_weights(models)
    return Embedder(folder) if folder is not None else None
