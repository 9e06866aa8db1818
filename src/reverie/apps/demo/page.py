"""How the demonstration is printed: short headings, aligned rows, nothing wider than the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.markup import escape

WIDEST = 100
_INDENT = "  "


class Page:
    """A terminal, or a pipe, on which a story is told."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.width = min(console.width, WIDEST)
        self._chapters = count(1)

    def head(self, title: str, *, numbered: bool = True) -> None:
        """The beginning of a chapter."""
        number = f"{next(self._chapters)}  " if numbered else ""
        self.console.print(f"\n[bold cyan]{number}{escape(title)}[/]\n", soft_wrap=True)

    def say(self, text: str, style: str = "") -> None:
        """A paragraph."""
        for line in wrap(text, self.width - len(_INDENT)):
            self._print(escape(line), style)

    def blank(self) -> None:
        self.console.print()

    def line(self, text: str, style: str = "", *, indent: int = 0) -> None:
        """One line, cut where the terminal ends."""
        self._print(" " * indent + escape(cut(text, self.width - len(_INDENT) - indent)), style)

    def rows(self, rows: Sequence[Sequence[str]], *, right: Sequence[int] = (), first: str = "bold") -> None:
        """Rows of columns, aligned; those in `right` to the right. The last column is cut where the terminal ends."""
        widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            room = self.width - len(_INDENT)
            parts: list[str] = []
            for number, (text, width) in enumerate(zip(row, widths, strict=True)):
                is_last = number == len(row) - 1
                shown = cut(text, max(8, room)) if is_last else text
                padding = "" if is_last and number not in right else " " * (width - cell_len(shown))
                padded = padding + shown if number in right else shown + padding
                parts.append(f"[{first}]{escape(padded)}[/]" if number == 0 and first else escape(padded))
                room -= width + 2
            self._print("  ".join(parts).rstrip())

    @contextmanager
    def working(self, text: str) -> Iterator[Callable[[str], None]]:
        """Tells what is being done while it is done, on a terminal; gives a function that tells how far it is."""
        with self.console.status(escape(text)) as status:
            yield lambda words: status.update(escape(words))

    def _print(self, markup: str, style: str = "") -> None:
        self.console.print(f"{_INDENT}{markup}", style=style or None, soft_wrap=True)


def cut(text: str, cells: int) -> str:
    """A text in one line of so many cells."""
    flat = " ".join(text.split())
    return flat if cell_len(flat) <= cells else set_cell_size(flat, cells - 1).rstrip() + "…"


def wrap(text: str, cells: int) -> list[str]:
    """A text in lines of at most so many cells, broken between words."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if cell_len(longer) > cells and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines
