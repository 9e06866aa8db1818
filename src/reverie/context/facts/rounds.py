"""A conversation as rounds: what the assistant said, what it did, and what came back.

Reads tool calls of the Messages API and, in plain replies, the one fenced shell block whose output is the next message
(as small shell agents write it). What the user typed is told apart from what the machine put into the user's place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reverie.context.facts.stated import typed_part
from reverie.messages.blocks import Block, Text, Thinking, ToolResult, ToolUse
from reverie.messages.message import Role
from reverie.messages.view import Item, Kind

SHELL = "Bash"
HEADER_BYTES = 110
"""What a reader of a span sees above each message: who, when and its id."""
_FENCED = re.compile(r"```(?:bash|sh|shell|console)\s*\n(.*?)\n?```", re.DOTALL)
_OBSERVED = re.compile(r"\s*<(?:returncode|output|exit_?code|stdout|observation)\b|\s*(?:OBSERVATION|Observation):")
_RETURNED = re.compile(r"\s*<returncode>(-?\d+)</returncode>")
_MARKUP = re.compile(r"</?(?:returncode|output|output_head|output_tail|stdout|stderr|observation|elided_chars)>")


@dataclass(frozen=True, slots=True)
class Action:
    """One call and its answer."""

    call: ToolUse
    result: str = ""
    failed: bool = False
    answered: bool = False

    def given(self, *keys: str) -> str:
        """The first of these parameters that holds text."""
        for key in keys:
            value = self.call.input.get(key)
            if isinstance(value, str) and value.strip():
                return value
        return ""


@dataclass(slots=True)
class Round:
    """One reply with the answers to its calls."""

    number: int
    first: str
    last: str
    said: str = ""
    actions: list[Action] = field(default_factory=list)
    size_bytes: int = 0


@dataclass(slots=True)
class Course:
    """The rounds of a conversation, and what stands between them."""

    rounds: list[Round] = field(default_factory=list)
    typed: list[tuple[Item, int]] = field(default_factory=list)
    """What the user wrote, with the number of the round that follows."""
    summaries: list[str] = field(default_factory=list)


def course_of(items: Sequence[Item]) -> Course:
    """Divide items into rounds."""
    course = Course()
    answers = {result.tool_use_id: result for item in items for result in item.message.tool_results}
    current: Round | None = None
    reply: str | None = None
    pending = ""
    for item in items:
        size = _size(item)
        if item.message.role is Role.ASSISTANT:
            if current is None or reply is None or item.message_id != reply:
                current = Round(len(course.rounds), item.uuid, item.uuid)
                course.rounds.append(current)
            reply = item.message_id or item.uuid
            text = item.message.text
            pending = _shell_block(text) if not item.message.tool_uses else ""
            current.said = f"{current.said}\n{_without_block(text, pending)}".strip()
            current.actions.extend(_action(call, answers) for call in item.message.tool_uses)
        elif item.kind is Kind.RESULT:
            reply = None
        elif current is not None and pending and _is_observation(item):
            current.actions.append(_observed(pending, item.message.text))
            reply, pending = None, ""
        elif item.kind is Kind.TYPED and typed_part(item.message.text):
            course.typed.append((item, len(course.rounds)))
            current, reply, pending = None, None, ""
            continue
        elif item.kind in {Kind.SUMMARY, Kind.FOLD}:
            course.summaries.append(item.message.text)
            continue
        if current is not None:
            current.last = item.uuid
            current.size_bytes += size
    return course


def _shell_block(text: str) -> str:
    blocks = _FENCED.findall(text)
    return str(blocks[-1]).strip() if blocks else ""


def _without_block(text: str, block: str) -> str:
    return _FENCED.sub(lambda found: "" if found[1].strip() == block else found[0], text) if block else text


def _is_observation(item: Item) -> bool:
    return item.kind is Kind.META or bool(_OBSERVED.match(item.message.text))


def _observed(command: str, text: str) -> Action:
    code = _RETURNED.match(text)
    plain = _MARKUP.sub("", text[code.end() :] if code else text)
    failed = code is not None and code[1] != "0"
    return Action(ToolUse("", SHELL, {"command": command}), plain.strip("\n"), failed, answered=True)


def _action(call: ToolUse, answers: Mapping[str, ToolResult]) -> Action:
    result = answers.get(call.id)
    if result is None:
        return Action(call)
    return Action(call, result.text, result.is_error, answered=True)


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
