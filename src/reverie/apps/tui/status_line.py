"""The status line; less important parts are dropped on narrow terminals."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Group
from rich.text import Text
from textual.message import Message
from textual.widgets import Static

from reverie.amounts import dollars, short_count
from reverie.models.tokens.window import WindowLevel
from reverie.session.events import Status

BAR_CELLS = 10
_SIZE = 5
"""The rank of the window's size, which goes first and belongs to the bar before it."""
_EIGHTHS = " ▏▎▍▌▋▊▉█"
LEVEL_STYLES = {
    WindowLevel.CALM: "green",
    WindowLevel.WARNING: "yellow",
    WindowLevel.ERROR: "red",
    WindowLevel.COMPACT: "red",
    WindowLevel.BLOCKED: "bold red reverse",
}
_LEVEL_WORDS = {
    WindowLevel.WARNING: "filling",
    WindowLevel.ERROR: "nearly full",
    WindowLevel.COMPACT: "full",
    WindowLevel.BLOCKED: "blocked",
}
MODES = {
    "default": ("asks first", ""),
    "acceptEdits": ("edits freely", "magenta"),
    "plan": ("plans only", "cyan"),
    "bypassPermissions": ("never asks", "bold red"),
    "dontAsk": ("refuses unasked", "cyan"),
    "auto": ("decides itself", "magenta"),
}
"""What each permission mode means, in a few words, and its colour."""


def status_text(status: Status, width: int, *, meter: bool = True) -> Text:
    """The line for this width: model, window, cache, cost, mode, background."""
    words, style = MODES.get(status.mode, (status.mode, ""))
    mode = Text(words, style=style)
    pill = Text()
    if status.background:
        count = len(status.background)
        pill = Text(f" {count} in background ", style="reverse cyan")
    model = Text(status.model, style="bold")
    segments: list[tuple[int, Text]] = [(0, model)]
    if meter:
        segments.append((1, _window(status)))
        if status.window_tokens:
            segments.append((_SIZE, Text(f"of {short_count(status.window_tokens)}", style="dim")))
        if status.cache_share is not None:
            segments.append((4, Text(f"cache {status.cache_share:.0%}")))
        if status.cost_usd is not None:
            segments.append((3, Text(dollars(status.cost_usd))))
    segments.append((2, mode))
    if pill.plain:
        segments.append((1, pill))
    while len(segments) > 1 and _width(segments) > width:
        # Of two that matter as much, the later one goes.
        segments.remove(max(reversed(segments), key=lambda each: each[0]))
    line = Text(no_wrap=True, overflow="ellipsis")
    for number, (rank, part) in enumerate(segments):
        line.append(" " if rank == _SIZE else " · " if number else "", style="dim").append_text(part)
    return line


def _width(segments: list[tuple[int, Text]]) -> int:
    return sum(cell_len(part.plain) for _, part in segments) + 3 * (len(segments) - 1)


def _window(status: Status) -> Text:
    """The window as a bar, its share and, where it matters, its level in a word."""
    share = min(1.0, status.used_tokens / status.window_tokens) if status.window_tokens else 0.0
    style = LEVEL_STYLES[status.level]
    eighths = round(share * BAR_CELLS * 8)
    full, rest = divmod(eighths, 8)
    bar = "█" * full + (_EIGHTHS[rest] if rest else "")
    drawn = Text().append("▕", style="dim").append(bar, style=style)
    drawn.append("·" * (BAR_CELLS - len(bar)), style="dim").append("▏", style="dim")
    drawn.append(f"{share:.0%}", style=style if status.level is not WindowLevel.CALM else "")
    word = _LEVEL_WORDS.get(status.level)
    return drawn.append(f" {word}", style=style) if word else drawn


class StatusLine(Static):
    """The last line of the screen. A group keeps Rich's colours as they are, which are the terminal's own."""

    DEFAULT_CSS = "StatusLine { height: 1; padding: 0 1; }"

    def __init__(self, *, meter: bool = True, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__("", id=id)
        self._meter = meter
        self._status: Status | None = None
        self._hint = ""

    class Changed(Message):
        """Other figures are shown."""

    def show(self, status: Status) -> None:
        """Show these figures."""
        self._status = status
        self._draw()
        self.post_message(self.Changed())

    def hint(self, text: str) -> None:
        """Say something in place of the figures until it is taken back with an empty text."""
        self._hint = text
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        if self._hint:
            self.update(Group(Text(self._hint, style="dim", no_wrap=True, overflow="ellipsis")))
        elif self._status is not None:
            self.update(Group(status_text(self._status, max(1, self.size.width - 2), meter=self._meter)))
