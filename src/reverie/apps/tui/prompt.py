"""The input widget: several lines, history, completion, folded pastes.

Enter sends; Shift+Enter, Alt+Enter, Ctrl+J or a backslash before Enter begin a new line.

`Pastes` folds long pasted text, which is sent in full, and attaches the picture behind a pasted path.
"""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.cells import cell_len
from rich.console import Group
from rich.table import Table
from rich.text import Text
from textual import events
from textual.message import Message
from textual.widgets import Static, TextArea

from reverie.apps.tui.completion import MOST, NONE, Choice, Completion, complete
from reverie.apps.tui.history import Walk

NEW_LINE_KEYS = frozenset({"shift+enter", "alt+enter", "ctrl+j", "ctrl+enter"})


class Popup(Static):
    """The choices of a completion, above the prompt."""

    DEFAULT_CSS = "Popup { height: auto; max-height: 10; padding: 0 1; display: none; }"

    def show(self, choices: Sequence[Choice], chosen: int) -> None:
        """Show some of the choices around the chosen one; none hides it."""
        self.display = bool(choices)
        if not choices:
            return
        first = max(0, min(chosen - MOST // 2, len(choices) - MOST))
        grid = Table.grid(padding=(0, 2, 0, 0))
        widest = max(cell_len(choice.label) for choice in choices)
        grid.add_column(no_wrap=True, overflow="ellipsis", max_width=max(20, min(widest, 50)))
        grid.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
        for number, choice in enumerate(choices[first : first + MOST], first):
            style = "reverse" if number == chosen else ""
            grid.add_row(Text(choice.label, style=style or "cyan"), Text(choice.help, style="dim"))
        self.update(Group(grid))


class Prompt(TextArea):
    """The input."""

    DEFAULT_CSS = """
    Prompt { height: auto; max-height: 12; border: none; padding: 0; background: transparent; }
    Prompt:focus { border: none; }
    Prompt .text-area--placeholder { text-style: dim; color: ansi_default; }
    """

    @dataclass
    class Sent(Message):
        """The user has finished a message; pastes are in it in full."""

        text: str

    def __init__(
        self,
        walk: Walk,
        popup: Popup,
        *,
        commands: Callable[[], Sequence[tuple[str, str]]],
        files: Callable[[], Sequence[str]],
        clipboard_image: Callable[[], Path | None] = lambda: None,
        id: str | None = None,  # noqa: A002 - Textual's word
    ) -> None:
        super().__init__(
            id=id,
            soft_wrap=True,
            compact=True,
            highlight_cursor_line=False,
            tab_behavior="focus",
            placeholder="Type a message.  / commands  @ files  # remember  ! shell",
        )
        self.walk = walk
        self._popup = popup
        self._commands = commands
        self._files = files
        self._clipboard_image = clipboard_image
        self._pastes = Pastes()
        self._completion: Completion = NONE
        self._chosen = 0
        self._quiet_text: str | None = ""
        """The text for which nothing is offered: it was put in whole, or the offer was waved away."""

    def fill(self, text: str) -> None:
        """Put a text in, with the cursor at its end."""
        self.load_text(text)
        self.move_cursor(self.document.end)
        self._wave_away()

    def clear_all(self) -> None:
        """Forget what was typed."""
        self._pastes.clear()
        self.fill("")

    async def _on_key(self, event: events.Key) -> None:
        if self._take_key(event.key):
            event.stop()
            event.prevent_default()
            return
        await super()._on_key(event)

    def _take_key(self, key: str) -> bool:
        """Do what a key means here; False leaves it to the text area."""
        if key in ("enter", "tab"):
            # Fast fingers are ahead of the message that tells of the change.
            self._look()
        choosing = bool(self._completion.choices)
        if key in NEW_LINE_KEYS:
            self.insert("\n")
        elif key == "ctrl+v":
            self.run_worker(self._paste_picture())
        elif key == "enter":
            self._enter(choosing)
        elif key == "tab":
            if choosing:
                self._accept()
        elif key == "escape" and choosing:
            self._wave_away()
        elif key in ("up", "down") and choosing:
            step = -1 if key == "up" else 1
            self._chosen = (self._chosen + step) % len(self._completion.choices)
            self._popup.show(self._completion.choices, self._chosen)
        elif key == "up" and self.cursor_at_first_line:
            self._walk(self.walk.older(self.text))
        elif key == "down" and self.cursor_at_last_line:
            self._walk(self.walk.newer())
        else:
            return False
        return True

    def _enter(self, choosing: bool) -> None:
        row, column = self.cursor_location
        if choosing:
            typed = self.document[row][self._completion.start : column]
            if self._completion.choices[self._chosen].text.strip() != typed:
                is_command = typed.startswith("/")
                self._accept()
                if not is_command:
                    return
        row, column = self.cursor_location
        if column and self.document[row][column - 1] == "\\":
            self.replace("\n", (row, column - 1), (row, column))
            return
        text = self._pastes.whole(self.text).strip("\n")
        if text.strip():
            self.clear_all()
            self.post_message(self.Sent(text))

    def _accept(self) -> None:
        row, column = self.cursor_location
        choice = self._completion.choices[self._chosen]
        self.replace(choice.text, (row, self._completion.start), (row, column))
        self.move_cursor((row, self._completion.start + len(choice.text)))

    def _walk(self, text: str | None) -> None:
        if text is not None:
            self.fill(text)

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.insert(picture_mention(event.text) or self._pastes.fold_paste(event.text))

    async def _paste_picture(self) -> None:
        path = await asyncio.to_thread(self._clipboard_image)
        if path is not None:
            self.insert(f'@"{path}" ')
        else:
            self.action_paste()

    def on_text_area_changed(self) -> None:
        """The text is another one."""
        self._look()

    def _wave_away(self) -> None:
        self._quiet_text = self.text
        self._show_choices(NONE)

    def _look(self) -> None:
        """See what could stand here; what was chosen stays chosen while the offer is the same."""
        if self.text == self._quiet_text:
            return
        self._quiet_text = None
        row, column = self.cursor_location
        before = self.document[row][:column]
        offer = complete(before, is_first_line=row == 0, commands=self._commands(), files=self._files)
        if offer != self._completion:
            self._show_choices(offer)

    def _show_choices(self, completion: Completion) -> None:
        self._completion, self._chosen = completion, 0
        self._popup.show(completion.choices, 0)


LONG_LINES = 6
LONG_CHARS = 800
_TOKEN = re.compile(r"\[pasted text (\d+): \d+ (?:lines?|characters)\]")

_PICTURES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp"})


def picture_mention(text: str) -> str | None:
    """A mention of the picture whose path was pasted or dropped, as terminals write it; None for any other text."""
    words = text.strip()
    if not words or "\n" in words or len(words) > 1_000:
        return None
    try:
        (name,) = shlex.split(words.removeprefix("file://"))
        path = Path(name).expanduser()
        is_picture = path.is_absolute() and path.suffix.lower() in _PICTURES and path.is_file()
    except (ValueError, OSError, RuntimeError):
        return None
    return f'@"{path}" ' if is_picture else None


class Pastes:
    """The long texts that were pasted into the present message."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def fold_paste(self, text: str) -> str:
        """What to show for a pasted text: itself when it is short."""
        clean = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = clean.count("\n") + 1
        if lines < LONG_LINES and len(clean) < LONG_CHARS:
            return clean
        self._texts.append(clean)
        size = f"{lines} lines" if lines > 1 else f"{len(clean)} characters"
        return f"[pasted text {len(self._texts)}: {size}]"

    def whole(self, text: str) -> str:
        """A message with its pastes in full."""

        def expand_paste(match: re.Match[str]) -> str:
            number = int(match[1])
            return self._texts[number - 1] if 0 < number <= len(self._texts) else match[0]

        return _TOKEN.sub(expand_paste, text)

    def clear(self) -> None:
        """The message was sent."""
        self._texts.clear()
