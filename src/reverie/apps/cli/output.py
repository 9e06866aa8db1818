"""Printing: JSON for programs, tables for people.

Data goes to standard output and everything else to standard error. Colour is used on terminals only and never when
`NO_COLOR` is set; both are left to Rich.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from reverie.apps.amounts import counted, dollars, short_count, short_size
from reverie.apps.plain import escaped, unsteered

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["console", "counted", "dollars", "print_json", "print_table", "short_count", "short_size"]


UNBOUNDED = 100_000
"""The width of what is no terminal, in columns."""


NARROWEST = 12
"""To how many columns one that gives way is cut at most."""


def print_json(document: Any) -> None:
    """One JSON document, readable, in UTF-8."""
    import json

    sys.stdout.write(escaped(json.dumps(document, indent=2, ensure_ascii=False)) + "\n")


def console(width: int | None = None) -> Console:
    """Where tables and pictures go: as wide as the terminal, or as said; a file or a pipe cuts and wraps nothing."""
    from rich.console import Console

    return Console(highlight=False, width=width or (None if sys.stdout.isatty() else UNBOUNDED))


def print_table(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]], *, title: str | None = None) -> None:
    """A plain table; `columns` are headings with `left`, `right`, or `flex` for those that give way on a terminal.

    The others are never cut: where even they do not fit, the terminal wraps the lines.
    """
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    screen = console()
    widths = [
        max([cell_len(heading), *(cell_len(row[number]) for row in rows)])
        for number, (heading, _) in enumerate(columns)
    ]
    gaps = 2 * (len(columns) - 1)
    rigid = sum(width for width, (_, side) in zip(widths, columns, strict=True) if side != "flex") + gaps
    table = Table(
        title=title, box=None, pad_edge=False, header_style="bold", title_justify="left", padding=(0, 2, 0, 0)
    )
    left = max(0, screen.width - rigid)
    giving = sorted(width for width, (_, side) in zip(widths, columns, strict=True) if side == "flex")
    share = left
    for number, width in enumerate(giving):
        # The narrow ones take what they need; the others share what is left.
        share = left // (len(giving) - number)
        left -= min(width, share)
    needed = gaps + 2
    for (heading, side), width in zip(columns, widths, strict=True):
        room = min(width, max(len(heading), NARROWEST, share)) if side == "flex" else width
        justify: Literal["left", "right"] = "right" if side == "right" else "left"
        table.add_column(heading, justify=justify, overflow="ellipsis", no_wrap=True, width=room)
        needed += room
    for row in rows:
        table.add_row(*(Text(unsteered(cell)) for cell in row))
    console(max(screen.width, needed)).print(table)
