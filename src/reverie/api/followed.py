"""A loop that owns its messages, followed as entries.

People with their own loop hand over the whole conversation each time. `Followed` finds what is new, appends it as
entries and keeps the projection up to date; when earlier messages were changed, it starts a branch where they part, so
nothing that was recorded is ever rewritten. It decides nothing: reducing is the matter of `context`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count, takewhile
from typing import Any, TypeAlias

from reverie.agent.log import Log
from reverie.messages.codec import message_from_wire, tool_from_wire
from reverie.messages.entries import (
    AssistantEntry,
    PromptEntry,
    SystemBlock,
    ToolSpec,
    UserEntry,
    envelope_of,
)
from reverie.messages.message import Message, Role, Usage

AnyMessage: TypeAlias = Message | Mapping[str, Any]
AnyTool: TypeAlias = ToolSpec | Mapping[str, Any]
AnySystem: TypeAlias = str | Sequence[SystemBlock | Mapping[str, Any] | str]


@dataclass(slots=True)
class _Seen:
    """One message of the caller as it was when we recorded it."""

    given: AnyMessage
    content: object
    parts: int
    message: Message
    uuid: str

    def is_still(self, given: AnyMessage) -> bool:
        """Whether this is the very object we know, without looking into it."""
        content = _content(given)
        return self.given is given and self.content is content and self.parts == _parts(content)


class Followed(Log):
    """The entries of one conversation that somebody else keeps as messages."""

    def __init__(self, *, session: str, now: Callable[[], datetime]) -> None:
        numbers = count(1)
        super().__init__(session=session, now=now, new_id=lambda: f"{session}-{next(numbers)}")
        self._seen: list[_Seen] = []
        self._values: list[Message] = []
        """The messages of `_seen`, for a comparison at once."""
        self._prompt: tuple[tuple[SystemBlock, ...], tuple[ToolSpec, ...]] = ((), ())
        self._usage: tuple[Usage, str | None] | None = None

    def knows(self, messages: Sequence[AnyMessage]) -> int:
        """How many of our messages these begin with; as many as we have when they continue this conversation."""
        return self._agreement(messages)

    def __len__(self) -> int:
        return len(self._seen)

    def follow(self, messages: Sequence[AnyMessage], system: AnySystem = (), tools: Sequence[AnyTool] = ()) -> None:
        """Record what is new in the conversation, its system text and its tools."""
        agreed = self._agreement(messages)
        if agreed < len(self._seen):
            self._branch(agreed)
        prompt = (system_blocks(system), tuple(_tool(tool) for tool in tools))
        if prompt != self._prompt:
            self.append(PromptEntry(self.envelope(), *prompt))
            self._prompt = prompt
        for given in messages[agreed:]:
            self._record(given)

    def observe(self, usage: Usage, model: str | None = None) -> None:
        """Note what a provider reported; it belongs to the next reply that is recorded."""
        self._usage = (usage, model)

    def _agreement(self, messages: Sequence[AnyMessage]) -> int:
        if self._values == list(messages[: len(self._values)]):
            return len(self._values)
        for number, (known, given) in enumerate(zip(self._seen, messages, strict=False)):
            # Values of ours cannot change; what others hand over may, without becoming another object.
            if (known.message is given or known.is_still(given)) or known.message == _message(given):
                continue
            return number
        return min(len(self._seen), len(messages))

    def branch_from(self, leaf: str | None) -> None:
        """Go on from an earlier entry; what came after it stays in the entries and is no longer seen."""
        super().branch_from(leaf)
        known = {found.uuid for entry in self.chain() if (found := envelope_of(entry)) is not None} if leaf else set()
        # Messages that were recorded after that entry are recorded again when they are next handed over.
        self._seen = list(takewhile(lambda seen: seen.uuid in known, self._seen))
        self._values = self._values[: len(self._seen)]
        view = self.view
        self._prompt = (view.system, view.tools)

    def _branch(self, agreed: int) -> None:
        """Go on from the last message that both sides agree on."""
        self._seen, self._values = self._seen[:agreed], self._values[:agreed]
        self.branch_from(self._seen[-1].uuid if self._seen else None)

    def _record(self, given: AnyMessage) -> None:
        message = _message(given)
        envelope = self.envelope()
        if message.role is Role.ASSISTANT:
            usage, model = self._usage or (None, None)
            self._usage = None
            self.append(AssistantEntry(envelope, message, envelope.uuid, model=model, usage=usage))
        else:
            self.append(UserEntry(envelope, Message(Role.USER, message.content)))
        content = _content(given)
        self._seen.append(_Seen(given, content, _parts(content), message, envelope.uuid))
        self._values.append(message)


def system_blocks(system: AnySystem) -> tuple[SystemBlock, ...]:
    """System text in any form that the Messages API takes, as blocks."""
    if isinstance(system, str):
        return (SystemBlock(system),) if system else ()
    return tuple(
        block
        if isinstance(block, SystemBlock)
        else SystemBlock(block if isinstance(block, str) else str(block.get("text", "")))
        for block in system
    )


def _message(given: AnyMessage) -> Message:
    return given if isinstance(given, Message) else message_from_wire(given)


def _tool(given: AnyTool) -> ToolSpec:
    return given if isinstance(given, ToolSpec) else tool_from_wire(given)


def _content(given: AnyMessage) -> object:
    return given.content if isinstance(given, Message) else given.get("content")


def _parts(content: object) -> int:
    return len(content) if isinstance(content, list | tuple) else 0
