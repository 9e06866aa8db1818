"""A list to choose one row from, filtered as you type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.console import Group
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from reverie.values import value

_SHARE = 0.8
_ROWS = 16
"""As in the style sheet below."""


@value
class PickerRow:
    """One thing to choose."""

    key: str
    label: str
    facts: str = ""
    """A few words at the right: when, how many."""


class Picker(ModalScreen[str | None]):
    """A list; dismissed with the key of a row, or with None."""

    DEFAULT_CSS = """
    Picker { align: center bottom; background: transparent; }
    Picker > Vertical { height: auto; max-height: 80%; border-top: solid ansi_cyan; padding: 0 1;
        background: ansi_default; }
    Picker Static { height: auto; }
    Picker Input { border: none; height: 1; padding: 0; background: transparent; }
    Picker OptionList { height: auto; max-height: 16; }
    """
    BINDINGS: ClassVar = [
        Binding("escape,ctrl+c", "leave", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("pageup", "move(-10)", show=False, priority=True),
        Binding("pagedown", "move(10)", show=False, priority=True),
    ]

    def __init__(self, title: str, rows: Sequence[PickerRow], *, empty: str = "no matches") -> None:
        """Of a title of several lines the first is the question; the others say what it is about."""
        super().__init__()
        self._title, _, self._about = title.partition("\n")
        self._rows = tuple(rows)
        self._fitting = self._rows
        """What the list shows, in its order; two rows may have one key, such as a session that lies in two homes."""
        self._empty = empty

    def height(self, screen_lines: int) -> int:
        """How many lines it takes of a screen."""
        about = self._about.count("\n") + 1 if self._about else 0
        return min(round(screen_lines * _SHARE), 3 + about + min(_ROWS, len(self._rows)))

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Text(self._title, style="bold"))
            if self._about:
                yield Static(Group(Text(self._about, no_wrap=True, overflow="ellipsis")))
            yield Input(placeholder="type to filter · Enter select · Esc cancel", compact=True)
            yield OptionList()
            yield Static("", id="none")

    def on_mount(self) -> None:
        self._show("")
        self.query_one(OptionList).can_focus = False
        self.query_one(Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._show(event.value)

    def on_input_submitted(self) -> None:
        options = self.query_one(OptionList)
        if options.highlighted is not None:
            self.dismiss(self._fitting[options.highlighted].key)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._fitting[event.option_index].key)

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_move(self, step: int) -> None:
        options = self.query_one(OptionList)
        if options.option_count:
            options.highlighted = min(max(0, (options.highlighted or 0) + step), options.option_count - 1)

    def _show(self, typed: str) -> None:
        words = typed.casefold().split()
        self._fitting = tuple(
            row for row in self._rows if all(word in f"{row.label} {row.facts}".casefold() for word in words)
        )
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options(Option(_drawn(row)) for row in self._fitting)
        options.highlighted = 0 if self._fitting else None
        self.query_one("#none", Static).update("" if self._fitting else Text(self._empty, style="dim"))


def _drawn(row: PickerRow) -> Table:
    grid = Table.grid(expand=True, padding=(0, 1, 0, 0))
    grid.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    grid.add_column(justify="right", no_wrap=True)
    grid.add_row(Text(row.label), Text(row.facts, style="dim"))
    return grid
