"""Key bindings of the conversation, and their actions that change nothing: scrolling, folding, input history.

Keys that stop, send or change something act in `app`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from textual import events, work
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.app import App
from textual.binding import Binding
from textual.keys import Keys
from textual.screen import ModalScreen

from reverie.apps.tui.log import Log
from reverie.apps.tui.picker import Picker, PickerRow
from reverie.apps.tui.prompt import Prompt
from reverie.apps.tui.question import Asking

# Alt+Enter arrives as ESC CR in terminals without the newer keyboard protocol, tmux among them. Textual has no entry
# for it and reports a plain Enter, which would send the message.
cast("dict[str, tuple[Keys, ...]]", ANSI_SEQUENCES_KEYS)["\x1b\r"] = (Keys.ControlJ,)


class Keyed(App[None]):
    """An app with a log and a prompt."""

    BINDINGS: ClassVar = [
        Binding("ctrl+c", "interrupt", show=False, priority=True),
        Binding("ctrl+d", "end_of_input", show=False, priority=True),
        Binding("escape", "stop", show=False),
        Binding("shift+tab", "next_mode", show=False, priority=True),
        Binding("pageup", "page(-1)", show=False, priority=True),
        Binding("pagedown", "page(1)", show=False, priority=True),
        Binding("ctrl+home", "go(False)", show=False, priority=True),
        Binding("ctrl+end", "go(True)", show=False, priority=True),
        Binding("ctrl+o", "unfold", show=False, priority=True),
        Binding("ctrl+t", "unfold_all", show=False, priority=True),
        Binding("ctrl+r", "search_history", show=False, priority=True),
        Binding("ctrl+g", "edit_message", show=False, priority=True),
        Binding("ctrl+z", "suspend_process", show=False, priority=True),
    ]

    _talk: Log
    _prompt: Prompt

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys of the conversation rest while another screen is open."""
        del parameters
        resting = ("page", "go", "unfold", "unfold_all", "search_history", "edit_message", "next_mode", "end_of_input")
        return not (action in resting and isinstance(self.screen, ModalScreen))

    def action_page(self, pages: int) -> None:
        """Scroll the log, or the diff that is asked about."""
        for asking in self.query(Asking):
            asking.action_page(pages)
            return
        self._talk.scroll_relative(y=pages * max(1, self._talk.size.height - 2), animate=False)

    def action_go(self, end: bool) -> None:
        """To the end or the beginning of the log."""
        if end:
            self._talk.scroll_end(animate=False)
        else:
            self._talk.scroll_home(animate=False)

    def action_unfold(self) -> None:
        """Show or hide what the newest call did."""
        self._talk.toggle_last()

    def action_unfold_all(self) -> None:
        """Show or hide everything that folds."""
        self._talk.toggle_all()

    @work
    async def action_search_history(self) -> None:
        """Find something that was typed before."""
        texts = list(reversed(self._prompt.walk.texts))
        rows = [PickerRow(str(number), " ".join(text.split())) for number, text in enumerate(texts)]
        chosen = await self.choose("Search input history", rows)
        if chosen is not None:
            self.fill(texts[int(chosen)])

    def action_edit_message(self) -> None:
        """Write the message in an editor."""
        edited = self._edit(self._prompt.text)
        if edited is not None:
            self.fill(edited.rstrip("\n"))

    def fill(self, text: str) -> None:
        """Put a text where the user types."""
        self._prompt.fill(text)
        self._prompt.focus()

    async def choose(self, title: str, rows: Sequence[PickerRow]) -> str | None:
        """Let the user choose a row; the end of the log stays in sight above."""
        picker = Picker(title, rows)
        room = self.query_one("#room")
        below = sum(self.query_one(name).outer_size.height for name in ("#entry", "#status", "#own"))
        room.styles.height = max(0, picker.height(self.size.height) - below)
        try:
            return await self.push_screen_wait(picker)
        finally:
            room.styles.height = 0

    def on_resize(self, event: events.Resize) -> None:
        """A question keeps its answers in sight."""
        for asking in self.query(Asking):
            asking.fit(event.size.height)

    def on_text_selected(self, event: events.TextSelected) -> None:
        """What is selected with the mouse is copied at once, as terminals do."""
        del event
        text = self.screen.get_selected_text()
        if text:
            self.copy(text)

    def copy(self, text: str) -> None:
        """Put a text on every clipboard that can be reached."""
        raise NotImplementedError

    def _edit(self, text: str) -> str | None:
        """Leave the screen to an editor for a while."""
        raise NotImplementedError
