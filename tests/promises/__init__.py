"""Promises by area: each module holds `PROMISES`, a mapping from id to `Requirement`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Requirement:
    """One promised behaviour."""

    behavior: str
    deferred: str | None = None
    """Why no test keeps this promise yet; None when one does."""
