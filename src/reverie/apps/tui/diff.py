"""Draws a unified diff, or a text to look at closely; readable without colours."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import get_character_cell_size
from rich.console import Console, ConsoleOptions
from rich.text import Text

from reverie.values import value

ADDED, REMOVED, PLACE, QUIET = "green", "red", "cyan", "dim"


def is_diff(text: str) -> bool:
    """Whether a text is a unified diff."""
    lines = text.splitlines()
    return any(line.startswith("@@ ") for line in lines[:8]) or (
        len(lines) > 1 and lines[0].startswith("--- ") and lines[1].startswith("+++ ")
    )


def colour_diff(text: str) -> Text:
    """A diff with colours; the names of a single file are left to whoever shows it under its name."""
    drawn = Text(no_wrap=False, overflow="fold")
    lines = text.rstrip("\n").split("\n")
    if len(lines) > 2 and lines[0].startswith("--- ") and sum(line.startswith("--- ") for line in lines) == 1:
        lines = lines[2:]
    for number, line in enumerate(lines):
        style = ""
        if line.startswith(("--- ", "+++ ")) and number < 4:
            style = QUIET
        elif line.startswith("@@"):
            style = PLACE
        elif line.startswith("+"):
            style = ADDED
        elif line.startswith("-"):
            style = REMOVED
        drawn.append(line.replace("\t", "    "), style=style)
        if number < len(lines) - 1:
            drawn.append("\n")
    return drawn


def balance(text: str) -> tuple[int, int]:
    """How many lines a diff adds and removes."""
    lines = [line for line in text.splitlines() if not line.startswith(("+++ ", "--- "))]
    return sum(line.startswith("+") for line in lines), sum(line.startswith("-") for line in lines)


@value
class Folded:
    """Text whose long lines go on in the next wherever they are, as in a terminal: in code no place is better."""

    text: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        for line in self.text.split("\n", allow_blank=True):
            for part in line.divide(_breaks(line.plain, options.max_width)):
                part.no_wrap, part.overflow = True, "crop"
                yield part


def _breaks(line: str, width: int) -> list[int]:
    """Where a line must go on in the next, in characters."""
    positions: list[int] = []
    used = 0
    for place, letter in enumerate(line):
        size = get_character_cell_size(letter)
        if used + size > width and used:
            positions.append(place)
            used = 0
        used += size
    return positions
