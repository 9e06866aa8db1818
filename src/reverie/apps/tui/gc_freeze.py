"""Moves long-lived objects out of the garbage collector's reach (`gc.freeze`), which shortens its pauses."""

from __future__ import annotations

import gc


def set_aside_what_stays() -> None:
    """Let later collections pass over what is loaded now: programs, and the session as it was read."""
    gc.freeze()


def let_go_of_what_went() -> None:
    """A conversation was closed: collect it, also what was set aside."""
    gc.unfreeze()
    gc.collect()
