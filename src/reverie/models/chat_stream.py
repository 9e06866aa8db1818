"""Assembles the chunks of a chat completion into the events of `ports`.

Pure, and written for servers that bend the protocol: calls without id or index, every call with index 0, arguments as
an object, names that repeat, no finish reason, no usage, a whole message instead of pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from reverie.errors import Interrupted
from reverie.messages.blocks import Block, Text, Thinking, ToolUse
from reverie.messages.codec import as_count, encode_json
from reverie.messages.message import Message, Role, Usage
from reverie.models.messages_stream import CUT_OFF
from reverie.models.ports import (
    INVALID_INPUT,
    BlockDone,
    Event,
    Finished,
    Reply,
    TextDelta,
    ThinkingDelta,
    ToolUseStarted,
)
from reverie.models.received import Characters, free_id, parse_input, whole_text

_STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}
_REASONING_FIELDS = ("reasoning_content", "reasoning")
"""DeepSeek, vLLM and llama.cpp use the first name, Ollama and some routers the second."""


@dataclass(slots=True)
class _Call:
    """A tool call on its way."""

    id: str
    """Ours, unique in the conversation."""
    server_id: str
    index: int | None
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    is_announced: bool = False

    def is_continued_by(self, server_id: str, index: int | None, name: str) -> bool:
        """True unless something speaks against it: another id, index or name, or a name after a whole input.

        Id and index together outweigh the last: some servers repeat all three with every piece.
        """
        if server_id and self.server_id and server_id != self.server_id:
            return False
        if index is not None and self.index is not None and index != self.index:
            return False
        if name and self.name and name != self.name:
            return False
        is_certain = bool(server_id) and (server_id, index) == (self.server_id, self.index) and index is not None
        so_far = "".join(self.pieces).strip() if name else ""
        return is_certain or not so_far or parse_input(so_far) is None


@dataclass(slots=True)
class ChatAssembly:
    """The answer as far as it has arrived."""

    taken_ids: set[str]
    """Ids of earlier calls of the conversation; a server that gives one twice is overruled."""
    new_id: Callable[[], str]
    model: str = ""
    """Who was asked; the server may tell a more exact name."""
    _text: list[str] = field(default_factory=list)
    _reasoning: list[str] = field(default_factory=list)
    _calls: list[_Call] = field(default_factory=list)
    _shown_text: Characters = field(default_factory=Characters)
    _shown_reasoning: Characters = field(default_factory=Characters)
    _usage: Mapping[str, Any] = field(default_factory=dict)
    _finish_reason: str | None = None
    _is_refusal: bool = False
    _id: str | None = None
    has_begun: bool = False
    """Something of an answer has arrived."""

    def take(self, chunk: Mapping[str, Any]) -> Iterator[Event]:
        """Add one chunk and tell what it means."""
        self._id = self._id or _text_of(chunk.get("id")) or None
        self.model = _text_of(chunk.get("model")) or self.model
        self._usage = _object(chunk.get("usage")) or self._usage
        choices = chunk.get("choices")
        for choice in choices[:1] if isinstance(choices, list) else ():
            self.has_begun = True
            choice = _object(choice)
            yield from self._grow(_object(choice.get("delta")) or _object(choice.get("message")))
            self._finish_reason = _text_of(choice.get("finish_reason")) or self._finish_reason

    def finish(self, request_id: str | None) -> Iterator[Event]:
        """Tell the end; raises `Interrupted` when there was no answer at all."""
        if not self.has_begun:
            raise Interrupted("the server closed the stream without a reply", request_id=request_id)
        blocks = tuple(self._blocks())
        for block in blocks:
            yield BlockDone(block)
        yield Finished(
            Reply(
                message=Message(Role.ASSISTANT, blocks),
                usage=_usage(self._usage),
                stop_reason=self._stop_reason(),
                model=self.model,
                message_id=self._id,
                request_id=request_id,
            )
        )

    def _grow(self, delta: Mapping[str, Any]) -> Iterator[Event]:
        for name in _REASONING_FIELDS:
            if reasoning := _text_of(delta.get(name)):
                self._reasoning.append(reasoning)
                if shown := self._shown_reasoning.take(reasoning):
                    yield ThinkingDelta(shown)
                break
        for text in (_text_of(delta.get("content")), _text_of(delta.get("refusal"))):
            if text:
                self._text.append(text)
                if shown := self._shown_text.take(text):
                    yield TextDelta(shown)
        self._is_refusal = self._is_refusal or bool(delta.get("refusal"))
        for call in _calls_in(delta):
            yield from self._grow_call(call)

    def _grow_call(self, delta: Mapping[str, Any]) -> Iterator[Event]:
        function = _object(delta.get("function"))
        name = _text_of(function.get("name"))
        call = self._call_for(delta, name)
        call.name = call.name or name
        arguments = function.get("arguments")
        if isinstance(arguments, Mapping):
            call.pieces = [encode_json(arguments).decode("utf-8")]
        elif isinstance(arguments, str):
            call.pieces.append(arguments)
        if call.name and not call.is_announced:
            call.is_announced = True
            yield ToolUseStarted(call.id, call.name)

    def _call_for(self, delta: Mapping[str, Any], name: str) -> _Call:
        """The call which a piece continues, or a fresh one."""
        server_id = _text_of(delta.get("id"))
        index = delta.get("index", _object(delta.get("function")).get("index"))
        index = index if isinstance(index, int) else None
        is_addressed = bool(server_id) or index is not None
        for call in reversed(self._calls if is_addressed else self._calls[-1:]):
            if call.is_continued_by(server_id, index, name):
                return call
        fresh = _Call(free_id(server_id, self.taken_ids, self.new_id), server_id, index)
        self._calls.append(fresh)
        return fresh

    def _stop_reason(self) -> str:
        """What stopped the model; servers often say `stop` after tool calls, or nothing."""
        stop_reason = _STOP_REASONS.get(self._finish_reason or "stop", self._finish_reason or "")
        if self._is_refusal:
            return "refusal"
        if stop_reason in ("end_turn", "tool_use"):
            return "tool_use" if self._calls else "end_turn"
        return stop_reason

    def _blocks(self) -> Iterator[Block]:
        if reasoning := "".join(self._reasoning):
            yield Thinking(whole_text(reasoning))
        if text := "".join(self._text):
            yield Text(whole_text(text))
        for call in self._calls:
            raw = "".join(call.pieces)
            parsed = parse_input(raw)
            if parsed is not None:
                yield ToolUse(call.id, call.name, parsed)
            elif self._stop_reason() not in CUT_OFF:
                yield ToolUse(call.id, call.name, {INVALID_INPUT: whole_text(raw)})


def _calls_in(delta: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    calls = delta.get("tool_calls")
    if isinstance(calls, list):
        return [_object(call) for call in calls]
    if isinstance(calls, Mapping):
        return [calls]
    function = delta.get("function_call")
    return [{"index": 0, "function": function}] if isinstance(function, Mapping) else []


def _usage(wire: Mapping[str, Any]) -> Usage:
    """Cached tokens are part of the prompt here, and beside it in our count."""
    cached = as_count(_object(wire.get("prompt_tokens_details")).get("cached_tokens"))
    prompt = as_count(wire.get("prompt_tokens"))
    return Usage(
        input_tokens=max(0, prompt - cached),
        output_tokens=as_count(wire.get("completion_tokens")),
        cache_read_tokens=min(cached, prompt),
    )


def _text_of(value: Any) -> str:
    """A string, or the joined text of a list of parts; anything else is nothing."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(_text_of(_object(part).get("text")) for part in value)
    return ""


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
