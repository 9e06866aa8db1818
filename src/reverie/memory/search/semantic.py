"""Loads vectors where the `semantic` extra and its weights are installed; otherwise search uses words alone."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reverie.memory.search.vectors import Embeds

EXTRA = ("numpy", "tokenizers")
_LAST_LATIN = "\u024f"


def missing_packages() -> tuple[str, ...]:
    """What of the `semantic` extra is not installed."""
    return tuple(name for name in EXTRA if find_spec(name) is None)


def can_read(text: str) -> bool:
    """Whether a text is in the script that the model was trained on; all other texts look alike to it."""
    if text.isascii():
        return True
    letters = [character for character in text if character.isalpha()]
    return 2 * sum(character > _LAST_LATIN for character in letters) <= len(letters)


def is_installed(models: Path) -> bool:
    """Whether there are weights, and what runs them."""
    if not models.is_dir():
        return False
    from reverie.memory.search.weights import find_weights

    return find_weights(models) is not None and not missing_packages()


def load_embedder(models: Path) -> Embeds | None:
    """What turns text into vectors; None when its weights or the extra are not installed."""
    if not is_installed(models):
        return None
    from reverie.memory.search.embed import Embedder
    from reverie.memory.search.weights import find_weights

    folder = find_weights(models)
    return Embedder(folder) if folder is not None else None
