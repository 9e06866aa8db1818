"""A conversation as rounds: what the assistant said, what it did, and what came back.

Reads tool calls of the Messages API and, in plain replies, the one fenced shell block whose output is the next message
(as small shell agents write it). What the user typed is told apart from what the machine put into the user's place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reverie.context.facts.stated import strip_machine_text
from reverie.messages.blocks import Block, Text, Thinking, ToolResult, ToolUse
from reverie.messages.message import Role
from reverie.messages.view import Item, ItemKind
from reverie.patterns import lazy_regex
from reverie.values import value

SHELL = "Bash"
HEADER_BYTES = 110
"""What a reader of a span sees above each message: who, when and its id."""
_FENCED = lazy_regex(r"```(?:bash|sh|shell|console)\s*\n(.*?)\n?```", re.DOTALL)
_OBSERVED = lazy_regex(r"\s*<(?:returncode|output|exit_?code|stdout|observation)\b|\s*(?:OBSERVATION|Observation):")
_RETURNED = lazy_regex(r"\s*<returncode>(-?\d+)</returncode>")
_MARKUP = lazy_regex(r"</?(?:returncode|output|output_head|output_tail|stdout|stderr|observation|elided_chars)>")


@value
class RoundAction:
    """One call and its answer."""

    call: ToolUse
    result: str = ""
    failed: bool = False
    answered: bool = False

    def get_text(self, *keys: str) -> str:
        """The first of these parameters that holds text."""
        for key in keys:
            value = self.call.input.get(key)
            if isinstance(value, str) and value.strip():
                return value
        return ""


@dataclass(slots=True)
class FactRound:
    """One reply with the answers to its calls."""

    number: int
    first: str
    last: str
    said: str = ""
    actions: list[RoundAction] = field(default_factory=list)
    size_bytes: int = 0


class Course:
    """The rounds of a conversation, and what stands between them."""

    def __init__(self) -> None:
        self.rounds: list[FactRound] = []
        self.typed: list[tuple[Item, int]] = []
        """What the user wrote, with the number of the round that follows."""
        self.summaries: list[str] = []
        self._answers: dict[str, ToolResult] = {}
        self._called: set[str] = set()
        self._current: FactRound | None = None
        self._reply: str | None = None
        self._pending = ""
        """A command of the current round whose output is still to come."""

    def extend(self, items: Sequence[Item]) -> bool:
        """Take in the items that follow.

        False when one of them belongs to a round that was there before, such as a late answer: then this course is of
        no more use, and a new one must take in everything. Only the end and the size of the last round may still grow.
        """
        rounds_before = len(self.rounds)
        answers = {result.tool_use_id: result for item in items for result in item.message.tool_results}
        if not self._called.isdisjoint(answers):
            return False
        self._answers |= answers
        done = all(self._take(item, rounds_before) for item in items)
        self._called.update(action.call.id for one in self.rounds[rounds_before:] for action in one.actions)
        return done

    def _take(self, item: Item, rounds_before: int) -> bool:
        """Whether the first so many rounds are still what they were, but for the end of the last."""
        if item.message.role is Role.ASSISTANT:
            if not self._take_reply(item, rounds_before):
                return False
        elif item.kind is ItemKind.RESULT:
            self._reply = None
        elif self._current is not None and self._pending and _is_observation(item):
            if self._current.number < rounds_before:
                return False
            self._current.actions.append(_parse_observation(self._pending, item.message.text))
            self._reply, self._pending = None, ""
        elif item.kind is ItemKind.TYPED and strip_machine_text(item.message.text):
            self.typed.append((item, len(self.rounds)))
            self._current, self._reply, self._pending = None, None, ""
            return True
        elif item.kind in {ItemKind.SUMMARY, ItemKind.FOLD}:
            self.summaries.append(item.message.text)
            return True
        if self._current is not None:
            self._current.last = item.uuid
            self._current.size_bytes += _size(item)
        return True

    def _take_reply(self, item: Item, rounds_before: int) -> bool:
        if self._current is None or self._reply is None or item.message_id != self._reply:
            self._current = FactRound(len(self.rounds), item.uuid, item.uuid)
            self.rounds.append(self._current)
        elif self._current.number < rounds_before:
            return False
        self._reply = item.message_id or item.uuid
        text = item.message.text
        self._pending = _shell_block(text) if not item.message.tool_uses else ""
        self._current.said = f"{self._current.said}\n{_without_block(text, self._pending)}".strip()
        self._current.actions.extend(_action(call, self._answers) for call in item.message.tool_uses)
        return True


def course_of(items: Sequence[Item]) -> Course:
    """Divide items into rounds."""
    course = Course()
    course.extend(items)
    return course


def _shell_block(text: str) -> str:
    blocks = _FENCED.findall(text)
    return str(blocks[-1]).strip() if blocks else ""


def _without_block(text: str, block: str) -> str:
    return _FENCED.sub(lambda match: "" if match[1].strip() == block else match[0], text) if block else text


def _is_observation(item: Item) -> bool:
    return item.kind is ItemKind.META or bool(_OBSERVED.match(item.message.text))


def _parse_observation(command: str, text: str) -> RoundAction:
    code = _RETURNED.match(text)
    plain = _MARKUP.sub("", text[code.end() :] if code else text)
    failed = code is not None and code[1] != "0"
    return RoundAction(ToolUse("", SHELL, {"command": command}), plain.strip("\n"), failed, answered=True)


def _action(call: ToolUse, answers: Mapping[str, ToolResult]) -> RoundAction:
    result = answers.get(call.id)
    if result is None:
        return RoundAction(call)
    return RoundAction(call, result.text, result.is_error, answered=True)


def _size(item: Item) -> int:
    return HEADER_BYTES + sum(_bytes(part) for block in item.message.content for part in _texts(block))


def _texts(block: Block) -> Iterable[str]:
    if isinstance(block, Text | ToolResult):
        yield block.text
    elif isinstance(block, Thinking):
        yield block.thinking
    elif isinstance(block, ToolUse):
        yield str(block.input)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
