"""What of a conversation a provider would refuse."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from reverie.messages.blocks import Text, Thinking, ToolResult, ToolUse
from reverie.messages.message import Message, Role
from reverie.values import value


class Rule(StrEnum):
    """The demands, each with its sentence."""

    STARTS_WITH_USER = "the first message is the user's"
    CALL_ANSWERED = "every tool call is answered in the next message"
    RESULT_CALLED = "every result answers a call of the message before"
    RIGHT_SIDE = "the model calls tools and the user's side answers"
    RESULTS_FIRST = "results stand before other content of their message"
    ANSWERED_ONCE = "a call is answered once"
    CALLED_ONCE = "a call id is used once"
    NOT_EMPTY = "a message has content and its text is not empty"
    ROLES_ALTERNATE = "neighbours have different roles"
    THINKING_FIRST = "a reply that thought before calling a tool starts with its thinking"


@value
class Violation:
    """One broken demand and the message where it shows."""

    rule: Rule
    message: int
    detail: str = ""


def violations(messages: Sequence[Message]) -> tuple[Violation, ...]:
    """Everything that a provider would refuse, in the order of the messages."""
    found: list[Violation] = []
    if messages and messages[0].role is Role.ASSISTANT:
        found.append(Violation(Rule.STARTS_WITH_USER, 0))
    called: set[str] = set()
    open_calls: dict[str, None] = {}
    for number, message in enumerate(messages):
        if number and messages[number - 1].role is message.role:
            found.append(Violation(Rule.ROLES_ALTERNATE, number))
        if not message.content or any(isinstance(block, Text) and not block.text for block in message.content):
            found.append(Violation(Rule.NOT_EMPTY, number))
        misplaced = ToolResult if message.role is Role.ASSISTANT else ToolUse
        if any(isinstance(block, misplaced) for block in message.content):
            found.append(Violation(Rule.RIGHT_SIDE, number))
        found.extend(_results_in(message, number, open_calls))
        open_calls = {}
        for call in message.tool_uses:
            if call.id in called:
                found.append(Violation(Rule.CALLED_ONCE, number, call.id))
            called.add(call.id)
            open_calls[call.id] = None
        if not _thinks_first(message):
            found.append(Violation(Rule.THINKING_FIRST, number))
    found.extend(Violation(Rule.CALL_ANSWERED, len(messages) - 1, call) for call in open_calls)
    return tuple(found)


def _results_in(message: Message, number: int, open_calls: dict[str, None]) -> Iterable[Violation]:
    waiting = dict(open_calls)
    seen_other = False
    for block in message.content:
        if not isinstance(block, ToolResult):
            seen_other = True
        elif block.tool_use_id not in open_calls:
            yield Violation(Rule.RESULT_CALLED, number, block.tool_use_id)
        elif block.tool_use_id not in waiting:
            yield Violation(Rule.ANSWERED_ONCE, number, block.tool_use_id)
        else:
            del waiting[block.tool_use_id]
            if seen_other:
                yield Violation(Rule.RESULTS_FIRST, number, block.tool_use_id)
    for call in waiting:
        yield Violation(Rule.CALL_ANSWERED, number, call)


def _thinks_first(message: Message) -> bool:
    if message.role is not Role.ASSISTANT or not message.tool_uses:
        return True
    thinks = [isinstance(block, Thinking) for block in message.content]
    return not any(thinks) or thinks[0]
