"""What a memory is tied to in the world, so that it can be checked instead of believed.

This module owns the values; how they stand in front matter is `topic.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class FileAnchor:
    """A file of the project."""

    path: str
    """Relative to the project root, with forward slashes."""
    sha256: str | None = None
    """Of its bytes when the memory was written or last verified; None ties the memory to its existence only."""


@dataclass(frozen=True, slots=True)
class SymbolAnchor:
    """A function, class, flag or other name in the code."""

    name: str
    path: str | None = None
    """The file it stands in; None when the memory does not say."""


@dataclass(frozen=True, slots=True)
class CommitAnchor:
    """A commit of the project's repository."""

    id: str


@dataclass(frozen=True, slots=True)
class UrlAnchor:
    """A page elsewhere; never fetched here."""

    url: str


Anchor: TypeAlias = FileAnchor | SymbolAnchor | CommitAnchor | UrlAnchor
