"""The shape of everything that reduces a view.

A stage looks at the view and says what it wants as data: entries to append and files to write. It never computes the
reduced view itself; the pipeline appends the entries and projects again, so what a stage claims and what the model sees
cannot differ. Stages are pure: the scene brings time, ids, sizes and limits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from reverie.messages.entries import Entry, Envelope
from reverie.messages.message import user
from reverie.messages.view import Item, ItemKind, View
from reverie.models.tokens.window import WindowBudget
from reverie.values import value

CHARS_PER_TOKEN = 3
"""For figures in reports only; no decision and no count of a view rests on it."""


@value
class FileWrite:
    """A file that a stage wants written before its entries are appended."""

    path: Path
    content: str
    instead: str | None = None
    """What stands in the view when the file cannot be written; None for the whole text."""


@value
class Reduction:
    """One thing that was taken out of the view, for reports, the ledger and the announced cache break."""

    kind: str
    """`spill`, `snip`, `clear`, `collapse`, `notes compaction`, `full compaction`, …"""
    freed_tokens: int
    items: int = 0
    detail: str = ""


@value
class StageOutcome:
    """What a stage wants: nothing, or entries with the files and the report that belong to them."""

    entries: tuple[Entry, ...] = ()
    writes: tuple[FileWrite, ...] = ()
    reductions: tuple[Reduction, ...] = ()

    def __add__(self, other: StageOutcome) -> StageOutcome:
        return StageOutcome(
            self.entries + other.entries, self.writes + other.writes, self.reductions + other.reductions
        )


NOTHING = StageOutcome()


@value
class StageContext:
    """What a stage may know besides the view."""

    budget: WindowBudget
    """The lines of the window, and the canonical count of the view as it stands."""
    now: datetime
    envelope: Callable[[], Envelope]
    """Makes the envelope of the next entry, hanging under the one made before it."""
    weigh: Callable[[Item], int]
    """The estimated size of one item, which depends on its message alone."""
    rereads: bool = True
    """Whether the model has a tool that reads messages again by their ids; without one no such pointer is given."""
    reads_files: bool = True
    """Whether the model has a tool that reads files; without one a file is no place to send it to."""
    edits_cache: bool = False
    """Whether the provider deletes results inside its cache."""
    entries: Sequence[Entry] = ()
    """What was recorded so far; a stage that has something to take away reads from it what is pinned."""

    def weigh_text(self, text: str) -> int:
        """The estimated size of a text as a message of its own."""
        return self.weigh(Item("", ItemKind.META, user(text))) if text else 0


Stage: TypeAlias = Callable[[View, StageContext], StageOutcome]
