"""When a memory applies: the `when:` of a standing instruction, which shares no words with the requests it governs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class When:
    """The situations a memory speaks to; any one of them is enough."""

    always: bool = False
    files: tuple[str, ...] = ()
    """Globs over the files in play, as in a `.gitignore` line."""
    tools: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    """Kinds of task: `test`, `commit`, `review`, …"""
    words: tuple[str, ...] = ()
    """Words or phrases of the request."""
