"""Promises by area: each module holds `PROMISES`, a mapping from id to `Requirement`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Requirement:
    """One promised behaviour."""

    behavior: str
    source: str
    """Where the promise comes from: a section of the specification, of the product page, or an issue."""
    deferred: str | None = None
    """Why no test keeps this promise yet; None when one does."""
