"""The widget that shows a conversation: pieces one below the other, drawn line by line, of any length.

Each piece keeps its drawn lines until it or the width changes, so scrolling and streaming cost what is visible and
what moved; of a long log the older part is drawn when somebody scrolls there. A click on a foldable piece unfolds it.
Text can be selected with the mouse.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from rich.style import Style as RichStyle
from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from reverie.apps.plain import strip_control_characters
from reverie.apps.tui.pieces import Call, DrawnPart, Note, Piece, ProsePiece, Thought

RECENT = 150
"""How many pieces are drawn at once."""
MARGIN = 1
"""Columns left free on either side."""
_NARROW = 40
_SELECTED = RichStyle(reverse=True)


@dataclass(slots=True)
class _Row:
    """A piece and how it looks at present."""

    piece: Piece
    is_open: bool = False
    drawn: list[tuple[DrawnPart, list[Strip]]] = field(default_factory=list)
    lines: list[Strip] = field(default_factory=list)


class Log(ScrollView, can_focus=False):
    """The pieces of a conversation."""

    DEFAULT_CSS = """
    Log { height: 1fr; scrollbar-size-vertical: 1; scrollbar-gutter: stable; overflow-x: hidden; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self._rows: list[_Row] = []
        self._starts: list[int] = []
        self._width = 0
        self._first = 0
        """The pieces before this one are not drawn yet."""
        self._unfold_all = False
        self._follows = True
        """Whether the end is kept in sight; scrolling up lets go of it, scrolling to the end takes it up again."""

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """All pieces, the oldest first."""
        return tuple(row.piece for row in self._rows)

    def piece(self, number: int) -> Piece:
        """One piece by its number."""
        return self._rows[number].piece

    def add(self, piece: Piece) -> int:
        """Put a piece at the end and return its number."""
        self._rows.append(_Row(piece, self._unfold_all and piece.folds))
        self._draw_from(len(self._rows) - 1)
        return len(self._rows) - 1

    def replace_all(self, pieces: Iterable[Piece]) -> None:
        """Show these instead, from their end."""
        self._rows = [_Row(piece, self._unfold_all and piece.folds) for piece in pieces]
        self._follows = True
        self._draw_all()

    def put(self, number: int, piece: Piece) -> None:
        """Replace a piece."""
        if self._rows[number].piece != piece:
            self._rows[number].piece = piece
            self._draw_from(number, also_after=False)

    def toggle(self, number: int) -> None:
        """Fold or unfold a piece."""
        row = self._rows[number]
        if row.piece.folds:
            row.is_open = not row.is_open
            self._draw_from(number, also_after=False, follow=False)

    def toggle_last(self) -> None:
        """Fold or unfold the newest piece that can be."""
        for number in range(len(self._rows) - 1, -1, -1):
            if self._rows[number].piece.folds:
                self.toggle(number)
                self._bring_into_sight(number)
                return

    def _bring_into_sight(self, number: int) -> None:
        """Scroll down as far as is needed to see a piece, of a long one its beginning."""
        if number >= len(self._starts):
            return
        top, lines, height = self._starts[number], len(self._rows[number].lines), self.size.height
        if top + lines > self.scroll_offset.y + height:
            self.scroll_to(y=min(top, top + lines - height), animate=False)

    def toggle_all(self) -> None:
        """Unfold everything that folds; or, when that is so, fold it."""
        self._unfold_all = not self._unfold_all
        for row in self._rows:
            row.is_open = self._unfold_all and row.piece.folds
        self._draw_all()

    def is_open(self, number: int) -> bool:
        """Whether a piece is unfolded."""
        return self._rows[number].is_open

    @property
    def plain(self) -> str:
        """All that is drawn, as text."""
        return "\n".join(line.text.rstrip() for row in self._rows for line in row.lines)

    def on_resize(self) -> None:
        width = self.scrollable_content_region.width
        if width != self._width:
            self._width = width
            for row in self._rows:
                row.drawn.clear()
            self._draw_all()
        elif self._follows:
            self.scroll_end(animate=False, x_axis=False)

    def on_click(self, event: events.Click) -> None:
        if self.text_selection is not None or not self._rows:
            return
        line = int(event.y + self.scroll_offset.y)
        number = bisect_right(self._starts, line) - 1
        if 0 <= number < len(self._rows) and line < self.virtual_size.height:
            self.toggle(number)

    def _draw_all(self) -> None:
        """Draw anew what is recent."""
        self._first = max(0, len(self._rows) - RECENT)
        for row in self._rows[: self._first]:
            row.lines = []
        self._starts[:] = [0] * self._first
        self._draw_from(self._first)

    def _draw_older(self) -> None:
        """Draw some more of what came before, without moving what is seen."""
        before, self._first = self._first, max(0, self._first - RECENT)
        height = self.virtual_size.height
        for index in range(self._first, before):
            self._draw(index)
        self._draw_from(self._first, also_after=False, follow=False)
        self.scroll_to(y=self.scroll_offset.y + self.virtual_size.height - height, animate=False, immediate=True)

    def _draw_from(self, number: int, *, also_after: bool = True, follow: bool = True) -> None:
        """Draw a piece, and those after it where they changed too, and keep the end in sight if it was."""
        if not self._width:
            return
        last = len(self._rows) if also_after else number + 1
        for index in range(number, last):
            self._draw(index)
        del self._starts[number:]
        line = self._starts[-1] + len(self._rows[number - 1].lines) if number else 0
        for row in self._rows[number:]:
            self._starts.append(line)
            line += len(row.lines)
        self.virtual_size = Size(self._width, line)
        if self._follows and follow:
            self.scroll_end(animate=False, x_axis=False)
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Notice whether the reader has left the end."""
        super().watch_scroll_y(old_value, new_value)
        if new_value >= self.max_scroll_y:
            self._follows = True
        elif new_value < old_value:
            self._follows = False
            if new_value == 0 and self._first:
                self.call_next(self._draw_older)

    def _draw(self, index: int) -> None:
        row = self._rows[index]
        drawn_before = row.drawn
        drawn: list[tuple[DrawnPart, list[Strip]]] = []
        for place, part in enumerate(row.piece.parts(row.is_open)):
            if place < len(drawn_before) and drawn_before[place][0] == part:
                drawn.append(drawn_before[place])
            else:
                drawn.append((part, self._strips(part)))
        row.drawn = drawn
        row.lines = [line for _, strips in drawn for line in strips]
        above = next((self._rows[each].piece for each in range(index - 1, -1, -1) if self._rows[each].lines), None)
        if row.lines and above is not None and not _is_close(above, row.piece):
            row.lines.insert(0, Strip.blank(0))

    def _strips(self, part: DrawnPart) -> list[Strip]:
        console = self.app.console
        margin = MARGIN if self._width > _NARROW else 0
        options = console.options.update(width=max(4, self._width - 2 * margin), height=None, highlight=False)
        gap = Text(" " * margin)
        lines = console.render_lines(part.draw(), options, pad=False)
        strips = [Strip([*gap.render(console, end=""), *line]) for line in lines]
        return _trim_blank_lines(strips) if isinstance(part, ProsePiece) else strips

    def render_line(self, y: int) -> Strip:
        """One line of what is visible."""
        line = y + self.scroll_offset.y
        width = self.size.width
        number = bisect_right(self._starts, line) - 1
        if number < 0:
            return Strip.blank(width)
        offset = line - self._starts[number]
        lines = self._rows[number].lines
        strip = lines[offset] if offset < len(lines) else Strip.blank(0)
        selection = self.text_selection
        span = selection.get_span(line) if selection is not None else None
        if span is not None:
            strip = _highlight_span(strip, *span)
        return strip.apply_offsets(0, line).adjust_cell_length(width)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, without the margin."""
        chosen = selection.extract("\n".join(line.text for row in self._rows for line in row.lines))
        return strip_control_characters("\n".join(line.rstrip().removeprefix(" ") for line in chosen.split("\n"))), "\n"

    def selection_updated(self, selection: Selection | None) -> None:  # noqa: ARG002 - Textual's signature
        """Draw what is selected."""
        self.refresh()


def _trim_blank_lines(strips: list[Strip]) -> list[Strip]:
    """Without the blank lines that Markdown puts around tables and code, since parts are set apart already."""
    spoken = [number for number, strip in enumerate(strips) if strip.text.strip()]
    return strips[spoken[0] : spoken[-1] + 1] if spoken else strips


def _is_close(one: Piece, other: Piece) -> bool:
    """Whether two pieces belong together, so that no blank line stands between them."""
    return isinstance(one, Call | Note | Thought) and isinstance(other, Call | Note | Thought)


def _highlight_span(strip: Strip, start: int, end: int) -> Strip:
    """A line with the characters of a span reversed."""
    text = Text(end="")
    for segment in strip:
        text.append(segment.text, segment.style)
    text.stylize(_SELECTED, start, len(text) if end == -1 else end)
    from rich.console import Console

    return Strip(text.render(Console(width=10_000), end=""))
