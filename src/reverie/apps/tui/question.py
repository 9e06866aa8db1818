"""The permission question: what the call would do, with its diff, and the possible answers.

It stands where one types, so that the conversation above stays in sight and can be scrolled.
"""

from __future__ import annotations

import asyncio
from typing import ClassVar

from rich.console import Group, RenderableType
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from reverie.apps.plain import escape_control_characters
from reverie.apps.tui.diff import Folded, balance, colour_diff, is_diff
from reverie.apps.tui.markdown import TerminalMarkdown
from reverie.permissions.approval import Approval, Question
from reverie.permissions.need import Act
from reverie.values import value

PLAN_TOOL = "ExitPlanMode"
MOST_SUGGESTIONS = 2
ROUND_ABOUT_LINES = 9
"""What stands around the diff and the answers: rules, the reason, the status, a little of the conversation."""


@value
class OfferedAnswer:
    """One answer that is offered."""

    label: str
    approval: Approval
    asks_why: bool = False


def ways(question: Question) -> tuple[OfferedAnswer, ...]:
    """The answers to a question, the usual one first."""
    if question.need.tool == PLAN_TOOL:
        return (
            OfferedAnswer("Yes, and edit without asking", Approval(True, mode="acceptEdits")),
            OfferedAnswer("Yes, and ask before each change", Approval(True, mode="default")),
            OfferedAnswer("No, keep planning and say what is missing", Approval(False), asks_why=True),
        )
    answers = [OfferedAnswer("Yes", Approval(True))]
    for rule in question.suggestions[:MOST_SUGGESTIONS]:
        answers.append(OfferedAnswer(f"Yes, and allow {rule} for this session", Approval(True, rule, "session")))
        answers.append(
            OfferedAnswer(f"Yes, and allow {rule} in this project from now on", Approval(True, rule, "local"))
        )
    answers.append(OfferedAnswer("No, and say why", Approval(False), asks_why=True))
    return tuple(answers)


def picture(question: Question) -> RenderableType:
    """What would be done."""
    need = question.need
    who = f"{question.agent}: " if question.agent else ""
    # A command's own words say what it is for, and not that it is one.
    what = f"{need.tool}: " if need.act is Act.RUN and need.summary else ""
    title = Text(escape_control_characters(f"{who}{what}{need.summary or need.tool}"), style="bold")
    preview = escape_control_characters(need.preview or need.command or need.url)
    body: RenderableType
    if is_diff(preview):
        added, removed = balance(preview)
        title.append("  ").append(f"+{added}", style="green").append(" ").append(f"−{removed}", style="red")
        body = Folded(colour_diff(preview))
    elif need.act is Act.RUN:
        body = Folded(Text(f"$ {preview}"))
    elif need.tool == PLAN_TOOL:
        body = TerminalMarkdown(preview)
    else:
        body = Text(preview, overflow="fold")
    return Group(title, body) if preview.strip() and preview != title.plain else Group(title)


class Asking(Vertical):
    """The question on the screen."""

    DEFAULT_CSS = """
    Asking { height: auto; border-top: solid ansi_yellow; padding: 0 1; }
    Asking > VerticalScroll { height: auto; scrollbar-size-vertical: 1; }
    Asking > VerticalScroll > Static { height: auto; }
    Asking > #reason { height: auto; margin: 1 0; }
    Asking > OptionList { height: auto; max-height: 9; margin: 0 0 1 0; }
    Asking > Input { border: none; height: 1; padding: 0; display: none; background: transparent; }
    """
    BINDINGS: ClassVar = [
        Binding("y", "choose(0)", show=False),
        Binding("n", "choose(-1)", show=False),
        Binding("escape", "refuse", show=False),
        Binding("pageup", "page(-1)", show=False, priority=True),
        Binding("pagedown", "page(1)", show=False, priority=True),
    ]

    def __init__(self, question: Question, answer: asyncio.Future[Approval]) -> None:
        super().__init__(id="asking")
        self._question = question
        self._answer = answer
        self._ways = ways(question)

    def compose(self) -> ComposeResult:
        with VerticalScroll(can_focus=False):
            yield Static(picture(self._question))
        if self._question.reason:
            yield Static(Group(Text(escape_control_characters(self._question.reason), style="yellow")), id="reason")
        numbered = (
            Content(escape_control_characters(f"{number}. {way.label}")) for number, way in enumerate(self._ways, 1)
        )
        yield OptionList(*(Option(label) for label in numbered))
        yield Input(placeholder="reason, or what to do instead (Enter to send, Esc to go back)", compact=True)

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()
        self.fit(self.app.size.height)

    def fit(self, height: int) -> None:
        """Leave the answers in sight, however long the diff is and however low the screen."""
        self.query_one(VerticalScroll).styles.max_height = max(3, height - len(self._ways) - ROUND_ABOUT_LINES)

    def on_key(self, event: events.Key) -> None:
        """A digit answers at once."""
        if event.key.isdigit() and not self.query_one(Input).has_focus and 0 < int(event.key) <= len(self._ways):
            event.stop()
            self.action_choose(int(event.key) - 1)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_choose(event.option_index)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._settle(Approval(False, message=event.value.strip()))

    def action_choose(self, number: int) -> None:
        """Give an answer by its place."""
        way = self._ways[number]
        if not way.asks_why:
            self._settle(way.approval)
            return
        reason = self.query_one(Input)
        reason.display = True
        reason.focus()

    def action_refuse(self) -> None:
        """Back from the reason to the answers; from there it is a no."""
        reason = self.query_one(Input)
        if reason.has_focus:
            reason.display = False
            self.query_one(OptionList).focus()
        else:
            self._settle(Approval(False))

    def action_page(self, pages: int) -> None:
        """Look through a long diff."""
        scroll = self.query_one(VerticalScroll)
        scroll.scroll_relative(y=pages * max(1, scroll.size.height - 1), animate=False)

    def _settle(self, approval: Approval) -> None:
        if not self._answer.done():
            self._answer.set_result(approval)
