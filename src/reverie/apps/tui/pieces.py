"""The pieces that a conversation log consists of, as values that can draw themselves.

A piece is drawn from its parts; a part that stays equal is not drawn again. Whether a piece is folded is the matter of
the log, which asks for the parts of either state.
"""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import Protocol, TypeAlias

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from reverie.amounts import format_count
from reverie.apps.tui.diff import Folded, balance, colour_diff, is_diff
from reverie.apps.tui.markdown import TerminalMarkdown, parts_of
from reverie.values import value

PROGRESS_LINES = 3
"""How much of a tool at work is shown below its line."""
OUTPUT_LINES = 2_000
"""Most lines of an unfolded result; the rest is in the transcript."""
SAID_LINES = 12
"""Longer messages of the user are shown folded."""


class DrawnPart(Protocol):
    """Something that is drawn once for each width; equal parts look equal."""

    def draw(self) -> RenderableType:
        """What Rich is to render."""
        ...


@value
class ProsePiece:
    """A block of Markdown."""

    text: str

    def draw(self) -> RenderableType:
        return TerminalMarkdown(self.text)


@value
class Drawn:
    """Text that is drawn already; equal when it reads equal in both words and styles."""

    text: Text
    indent: int = 0

    def draw(self) -> RenderableType:
        return Padding(self.text, (0, 0, 0, self.indent)) if self.indent else self.text


@value
class UserPiece:
    """Words of the user."""

    text: str
    mark: str = "❯"

    @property
    def folds(self) -> bool:
        return self.text.count("\n") >= SAID_LINES

    def parts(self, is_open: bool) -> tuple[DrawnPart, ...]:
        lines = self.text.split("\n")
        shown = lines if is_open or not self.folds else lines[: SAID_LINES // 2]
        words = Text("\n".join(shown), style="bold")
        if len(shown) < len(lines):
            words.append(f"\n… {format_count(len(lines) - len(shown), 'more line')}", style="not bold dim")
        return (Marked(self.mark, "bold cyan", words),)


@value
class Marked:
    """Text that hangs beside a mark."""

    mark: str
    style: str
    text: Text
    wraps: bool = True
    """False cuts it to one line. Rich leaves this out when it compares texts, so it must stand here."""

    def draw(self) -> RenderableType:
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column(ratio=1, overflow="fold")
        text = self.text.copy()
        text.no_wrap, text.overflow = not self.wraps, "fold" if self.wraps else "ellipsis"
        grid.add_row(Text(self.mark, style=self.style), text)
        return grid


@value
class AnswerPiece:
    """Words of the model."""

    text: str
    folds = False

    def parts(self, is_open: bool) -> tuple[DrawnPart, ...]:  # noqa: ARG002 - an answer is always open
        drawn: list[DrawnPart] = []
        for text in parts_of(self.text):
            drawn += [BLANK, ProsePiece(text)] if drawn else [ProsePiece(text)]
        return tuple(drawn)


BLANK = Drawn(Text(" "))


@value
class Thought:
    """What the model thought before it spoke; folded unless asked for."""

    text: str
    folds = True

    def parts(self, is_open: bool) -> tuple[DrawnPart, ...]:
        if is_open:
            return (Marked("✻", "dim", Text(self.text.strip(), style="dim italic")),)
        return (Marked("✻", "dim", Text(" ".join(self.text.split()), style="dim italic"), wraps=False),)


class Progress(StrEnum):
    """How far a call has come."""

    ASKED = "asked"
    """The model is still writing its input."""
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"


_MARKS = {
    Progress.ASKED: ("○", "dim"),
    Progress.RUNNING: ("◌", "cyan"),
    Progress.DONE: ("●", "green"),
    Progress.FAILED: ("●", "red"),
    Progress.REFUSED: ("⊘", "yellow"),
}


@value
class Call:
    """A tool call: one line, and below it on demand the diff or what came out."""

    name: str
    summary: str = ""
    progress: Progress = Progress.ASKED
    lines: tuple[str, ...] = ()
    """The last lines of the tool at work."""
    output: str = ""
    diff: str = ""
    seconds: float = 0.0

    @property
    def folds(self) -> bool:
        return bool(self.diff or self.output.strip())

    def parts(self, is_open: bool) -> tuple[DrawnPart, ...]:
        mark, style = _MARKS[self.progress]
        drawn: list[DrawnPart] = [Marked(mark, style, self._line(), wraps=False)]
        if self.progress is Progress.RUNNING and self.lines:
            drawn.append(Drawn(Text("\n".join(self.lines[-PROGRESS_LINES:]), style="dim", overflow="fold"), 2))
        if is_open and self.folds:
            drawn.append(Below(self._body()))
        elif self.progress in (Progress.FAILED, Progress.REFUSED):
            reason = next((line for line in self.output.splitlines() if line.strip()), "")
            drawn.append(Drawn(Text(reason, style=style, no_wrap=True, overflow="ellipsis"), 2))
        return tuple(drawn)

    def _line(self) -> Text:
        line = Text()
        rest = self.summary.removeprefix(self.name).strip()
        line.append(self.name, style="bold")
        if rest:
            line.append(f" {' '.join(rest.split())}")
        facts = self._facts()
        if facts:
            line.append("  ").append_text(facts)
        return line

    def _facts(self) -> Text:
        facts = Text(style="dim")
        if self.diff:
            added, removed = balance(self.diff)
            facts.append(f"+{added}", style="not dim green").append(" ").append(f"−{removed}", style="not dim red")
        elif self.progress is Progress.DONE and self.output.strip():
            facts.append(format_count(len(self.output.strip().splitlines()), "line"))
        if self.progress in (Progress.DONE, Progress.FAILED) and self.seconds >= 1:
            facts.append((" · " if facts.plain else "") + f"{self.seconds:.1f} s")
        return facts

    def _body(self) -> Text:
        if self.diff:
            return colour_diff(self.diff)
        if is_diff(self.output):
            return colour_diff(self.output)
        lines = self.output.rstrip().split("\n")
        body = Text("\n".join(lines[:OUTPUT_LINES]).replace("\t", "    "), style="dim", overflow="fold")
        if len(lines) > OUTPUT_LINES:
            body.append(f"\n… {format_count(len(lines) - OUTPUT_LINES, 'more line')}")
        return body


@value
class Below:
    """Text under a line, set in."""

    text: Text

    def draw(self) -> RenderableType:
        return Padding(Folded(self.text), (0, 0, 0, 4))


_LEVELS = {"info": ("·", "dim"), "warning": ("!", "yellow"), "error": ("✗", "red")}


@value
class Note:
    """A sentence of the program; with details, if there are any, on demand."""

    text: str
    level: str = "info"
    details: str = ""

    @property
    def folds(self) -> bool:
        return bool(self.details)

    def parts(self, is_open: bool) -> tuple[DrawnPart, ...]:
        mark, style = _LEVELS.get(self.level, _LEVELS["info"])
        drawn: list[DrawnPart] = [Marked(mark, style, Text(self.text, style=style))]
        if is_open and self.details:
            drawn.append(Below(Text(self.details, style="dim", overflow="fold")))
        return tuple(drawn)


@value
class ListingPiece:
    """Rows of a name and what it is."""

    title: str
    rows: tuple[tuple[str, str], ...]
    empty: str = "nothing"
    folds = False

    def parts(self, is_open: bool) -> tuple[DrawnPart, ...]:  # noqa: ARG002 - a listing is always open
        return (
            (Titled(self.title), RowsPiece(self.rows))
            if self.rows
            else (Titled(self.title), Drawn(Text(self.empty), 2))
        )


@value
class Titled:
    """A heading inside the log."""

    title: str

    def draw(self) -> RenderableType:
        return Text(self.title, style="bold")


@value
class RowsPiece:
    """Two columns, of which the second gives way."""

    rows: tuple[tuple[str, str], ...]

    def draw(self) -> RenderableType:
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(no_wrap=True, max_width=34, overflow="ellipsis")
        grid.add_column(ratio=1, overflow="fold")
        for name, rest in self.rows:
            grid.add_row(Text(name, style="cyan"), Text(rest))
        return Padding(grid, (0, 0, 0, 2))


@value
class Picture:
    """Something drawn elsewhere that stands in the log as it is."""

    title: str
    renderables: tuple[RenderableType, ...] = field(compare=False)
    folds = False

    def parts(self, is_open: bool) -> tuple[DrawnPart, ...]:  # noqa: ARG002 - a picture is always open
        return (Framed(self.title, self.renderables),)


@value
class Framed:
    """A picture under its title."""

    title: str
    renderables: tuple[RenderableType, ...] = field(compare=False)

    def draw(self) -> RenderableType:
        return Group(Text(self.title, style="bold"), *self.renderables)


@value
class Nothing:
    """The place of a piece that was taken back."""

    folds = False

    def parts(self, is_open: bool) -> tuple[DrawnPart, ...]:  # noqa: ARG002 - there is nothing to open
        return ()


NOTHING = Nothing()

Piece: TypeAlias = UserPiece | AnswerPiece | Thought | Call | Note | ListingPiece | Picture | Nothing
