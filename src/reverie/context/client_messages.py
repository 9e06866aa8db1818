"""A loop that owns its messages, followed as entries.

People with their own loop hand over the whole conversation each time. `Followed` finds what is new, appends it as
entries and keeps the projection up to date; when earlier messages were changed, it starts a branch where they part, so
nothing that was recorded is ever rewritten. It decides nothing: reducing is the matter of `context`.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count, takewhile
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from reverie.context.conversation import Conversation
from reverie.errors import UserMistake
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
"""A message of ours, or one as the provider's client takes it: a mapping, in which objects of the client may stand."""
AnyTool: TypeAlias = ToolSpec | Mapping[str, Any]
AnySystem: TypeAlias = str | Iterable[SystemBlock | Mapping[str, Any] | str]


@dataclass(slots=True)
class _Seen:
    """One message of the caller as it was when we recorded it."""

    given: AnyMessage
    content: object
    parts: int
    message: Message
    uuid: str

    def is_still(self, message: AnyMessage) -> bool:
        """Whether this is the very object we know, without looking into it."""
        content = _content(message)
        return self.given is message and self.content is content and self.parts == _parts(content)


class Followed(Conversation):
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

    def id_at(self, place: int) -> str:
        """The id of the message at a place of the list that was last handed over."""
        if not 0 <= place < len(self._seen):
            raise UserMistake(f"there is no message {place}: {len(self._seen)} were handed over, counted from 0")
        return self._seen[place].uuid

    def __len__(self) -> int:
        return len(self._seen)

    def follow(self, messages: Sequence[AnyMessage], system: AnySystem = (), tools: Iterable[AnyTool] = ()) -> None:
        """Record what is new in the conversation, its system text and its tools.

        Raises `UserMistake`, naming the message, when one cannot be read; then nothing is recorded.
        """
        agreed = self._agreement(messages)
        fresh = [(source, read_message(source, number)) for number, source in enumerate(messages[agreed:], agreed)]
        prompt = (system_blocks(system), tuple(_tool(tool) for tool in tools))
        if agreed < len(self._seen):
            self._branch(agreed)
        if prompt != self._prompt:
            self.append(PromptEntry(self.envelope(), *prompt))
            self._prompt = prompt
        for source, message in fresh:
            self._record(source, message)

    def observe(self, usage: Usage, model: str | None = None) -> None:
        """Note what a provider reported; it belongs to the next reply that is recorded."""
        self._usage = (usage, model)

    def _agreement(self, messages: Sequence[AnyMessage]) -> int:
        if self._values == list(messages[: len(self._values)]):
            return len(self._values)
        for number, (recorded, message) in enumerate(zip(self._seen, messages, strict=False)):
            # Values of ours cannot change; what others hand over may, without becoming another object.
            if (recorded.message is message or recorded.is_still(message)) or recorded.message == read_message(
                message, number
            ):
                continue
            return number
        return min(len(self._seen), len(messages))

    def branch_from(self, leaf: str | None) -> None:
        """Go on from an earlier entry; what came after it stays in the entries and is no longer seen."""
        super().branch_from(leaf)
        chain_ids = (
            {envelope.uuid for entry in self.chain() if (envelope := envelope_of(entry)) is not None} if leaf else set()
        )
        # Messages that were recorded after that entry are recorded again when they are next handed over.
        self._seen = list(takewhile(lambda seen: seen.uuid in chain_ids, self._seen))
        self._values = self._values[: len(self._seen)]
        view = self.view
        self._prompt = (view.system, view.tools)

    def _branch(self, agreed: int) -> None:
        """Go on from the last message that both sides agree on."""
        self._seen, self._values = self._seen[:agreed], self._values[:agreed]
        self.branch_from(self._seen[-1].uuid if self._seen else None)

    def _record(self, source: AnyMessage, message: Message) -> None:
        envelope = self.envelope()
        if message.role is Role.ASSISTANT:
            usage, model = self._usage or (None, None)
            self._usage = None
            self.append(AssistantEntry(envelope, message, envelope.uuid, model=model, usage=usage))
        else:
            self.append(UserEntry(envelope, Message(Role.USER, message.content)))
        content = _content(source)
        self._seen.append(_Seen(source, content, _parts(content), message, envelope.uuid))
        self._values.append(message)


def system_blocks(system: AnySystem) -> tuple[SystemBlock, ...]:
    """System text in any form that the Messages API takes, as blocks."""
    if isinstance(system, str):
        return (SystemBlock(system),) if system else ()
    return tuple(
        block
        if isinstance(block, SystemBlock)
        else SystemBlock(block if isinstance(block, str) else str(to_plain(block).get("text", "")))
        for block in system
    )


def read_message(source: AnyMessage, number: int = 0) -> Message:
    """A message in any form that the provider's client takes; raises `UserMistake`, naming it by its number.

    Its cache marks are left out: a loop that moves them from message to message says nothing new by it.
    """
    if isinstance(source, Message):
        return source
    try:
        role, content = source["role"] if isinstance(source, Mapping) else source.role, _content(source)
        parts = content if isinstance(content, str) else [_plain_block(block) for block in _to_iterable(content)]
        return message_from_wire({"role": role, "content": parts})
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise UserMistake(
            f"messages[{number}] cannot be read ({type(problem).__name__}: {problem}); a message is a role, `user` or "
            "`assistant`, and its content, a text or a list of blocks, as the Messages API has them"
        ) from problem


def _tool(source: AnyTool) -> ToolSpec:
    return source if isinstance(source, ToolSpec) else tool_from_wire(_strip_cache_control(to_plain(source)))


def _content(source: AnyMessage) -> object:
    return source.get("content") if isinstance(source, Mapping) else getattr(source, "content", None)


def _parts(content: object) -> int:
    return len(content) if isinstance(content, list | tuple) else 0


def _to_iterable(content: Any) -> Iterable[Any]:
    return (content,) if isinstance(content, Mapping) or hasattr(content, "model_dump") else content


def _plain_block(block: Any) -> Any:
    # Nearly all blocks of a long conversation are these, and hold nothing that would have to be turned into JSON.
    if type(block) is dict and block.get("type") in ("text", "tool_use") and "cache_control" not in block:
        return block
    wire = block if isinstance(block, str) else _strip_cache_control(to_plain(block))
    if isinstance(wire, dict) and isinstance(wire.get("content"), list):
        wire["content"] = [_strip_cache_control(part) if isinstance(part, dict) else part for part in wire["content"]]
    return wire


def _strip_cache_control(wire: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in wire.items() if key != "cache_control"}


def to_plain(value: Any) -> Any:
    """What the provider's client would send of a value: its own objects, files and iterators become JSON."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {key: to_plain(item) for key, item in value.items()}
    if hasattr(value, "model_dump"):
        dumped = value.model_dump(mode="json", exclude_unset=True)
        return {key: item for key, item in dumped.items() if item is not None}
    if hasattr(value, "to_dict"):
        return to_plain(value.to_dict())
    if isinstance(value, PathLike) or hasattr(value, "read"):
        data = Path(value).read_bytes() if isinstance(value, PathLike) else value.read()
        return b64encode(data).decode("ascii")
    return [to_plain(item) for item in value]
