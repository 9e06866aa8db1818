"""Printing: JSON for programs, tables for people.

Data goes to standard output and everything else to standard error. Colour is used on terminals only and never when
`NO_COLOR` is set; both are left to Rich.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reverie.amounts import dollars, format_count, short_count, short_size
from reverie.apps.plain import escape_json, strip_control_characters

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["console", "dollars", "format_count", "print_json", "print_table", "short_count", "short_size"]


UNBOUNDED = 100_000
"""The width of what is no terminal, in columns."""


NARROWEST = 12
"""To how many columns one that gives way is cut at most."""


def print_json(document: Any) -> None:
    """One JSON document, readable, in UTF-8."""
    import json

    sys.stdout.write(escape_json(json.dumps(document, indent=2, ensure_ascii=False)) + "\n")


def console(width: int | None = None) -> Console:
    """Where tables and pictures go: as wide as the terminal, or as said; a file or a pipe cuts and wraps nothing."""
    from rich.console import Console

    return Console(highlight=False, width=width or (None if sys.stdout.isatty() else UNBOUNDED))


def print_table(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]], *, title: str | None = None) -> None:
    """A plain table; `columns` are headings with `left`, `right`, or `flex` for those that give way on a terminal.

    The others are never cut: where even they do not fit, the terminal wraps the lines.
    """
    is_terminal = sys.stdout.isatty()
    screen = shutil.get_terminal_size().columns if is_terminal else UNBOUNDED
    cells = [tuple(heading for heading, _ in columns), *(tuple(map(_one_line, row)) for row in rows)]
    cells_by_column = list(zip(*cells, strict=True))
    rooms = _share_room(screen, columns, [max(_measure(column)) for column in cells_by_column])
    shown = (
        _fit(column, room, is_right=side == "right")
        for column, room, (_, side) in zip(cells_by_column, rooms, columns, strict=True)
    )
    head, *lines = ("  ".join(row).rstrip() for row in zip(*shown, strict=True))
    if is_terminal:
        from rich.text import Text

        for text, style in ((title, "italic"), (head, "bold")):
            if text is not None:
                console().print(Text(text, style), soft_wrap=True)
    else:
        sys.stdout.write(f"{title}\n{head}\n" if title is not None else f"{head}\n")
    # Thousands of lines: Rich would take a second for each two thousand.
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def _share_room(screen: int, columns: Sequence[tuple[str, str]], widths: Sequence[int]) -> list[int]:
    """How wide each column becomes: of those that give way the narrow ones keep their width, the others share."""
    rigid = sum(width for width, (_, side) in zip(widths, columns, strict=True) if side != "flex")
    room = max(0, screen - rigid - 2 * (len(columns) - 1))
    giving = sorted(width for width, (_, side) in zip(widths, columns, strict=True) if side == "flex")
    share = room
    for number, width in enumerate(giving):
        share = room // (len(giving) - number)
        room -= min(width, share)
    return [
        min(width, max(len(heading), NARROWEST, share)) if side == "flex" else width
        for (heading, side), width in zip(columns, widths, strict=True)
    ]


def _fit(column: Sequence[str], room: int, *, is_right: bool) -> list[str]:
    """Cells as wide as their column; what is longer ends with an ellipsis."""
    fitted = []
    for cell, width in zip(column, _measure(column), strict=True):
        gap = " " * (room - width)
        text = cell if width <= room else _cut(cell, room)
        fitted.append(gap + text if is_right else text + gap)
    return fitted


def _one_line(cell: str) -> str:
    """A cell without line ends and characters that steer a terminal; most have none."""
    return cell if cell.isascii() and cell.isprintable() else " ".join(strip_control_characters(cell).splitlines())


def _measure(column: Sequence[str]) -> list[int]:
    """How wide each cell is on a terminal; a list of all memories has tens of thousands."""
    if "".join(column).isascii():
        return list(map(len, column))
    from rich.cells import cell_len

    return list(map(cell_len, column))


def _cut(text: str, room: int) -> str:
    from rich.cells import set_cell_size

    return f"{set_cell_size(text, room - 1)}…"
