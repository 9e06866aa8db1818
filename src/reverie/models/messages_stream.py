"""Assembles the stream of the Messages API into the events of `ports`.

Pure and tolerant: unknown events and deltas are passed over, as the provider asks. Where the events come from and what
a broken connection means is known by `anthropic`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any

from reverie.errors import Interrupted
from reverie.messages.blocks import Block, Text, Thinking, ToolUse
from reverie.messages.codec import block_from_wire, usage_from_wire
from reverie.messages.message import Message, Role, Usage
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
from reverie.models.received import Characters, free_id, is_too_deep, parse_input, whole_text, whole_value

CUT_OFF = frozenset({"max_tokens", "model_context_window_exceeded"})
"""Stop reasons that may come in the middle of a block."""


@dataclass(slots=True)
class _Growing:
    """A block on its way."""

    wire: dict[str, Any]
    pieces: list[str] = field(default_factory=list)
    """What is to be joined: text, reasoning or the JSON of an input."""
    shown: Characters = field(default_factory=Characters)


@dataclass(slots=True)
class MessageAssembly:
    """The answer as far as it has arrived."""

    model: str = ""
    """Who was asked; the provider may tell a more exact name."""
    taken_ids: set[str] = field(default_factory=set)
    """Ids of earlier calls of the conversation; a server that gives one twice is overruled."""
    new_id: Callable[[], str] = lambda: token_hex(12)
    _growing: dict[int, _Growing] = field(default_factory=dict)
    _done: dict[int, Block] = field(default_factory=dict)
    _unparsed: dict[int, _Growing] = field(default_factory=dict)
    _head: Mapping[str, Any] = field(default_factory=dict)
    _usage: dict[str, Any] = field(default_factory=dict)
    _stop_reason: str | None = None
    _applied_edits: tuple[Mapping[str, Any], ...] = ()

    def take(self, event: Mapping[str, Any]) -> Iterator[Event]:
        """Add one wire event and tell what it means."""
        index = event.get("index", len(self._done))
        match event.get("type"):
            case "message_start":
                yield from self._begin(_object(event.get("message")))
            case "content_block_start":
                yield from self._open(index, _object(event.get("content_block")))
            case "content_block_delta" if index in self._growing:
                yield from self._grow(self._growing[index], _object(event.get("delta")))
            case "content_block_stop" if index in self._growing:
                yield from self._close(index)
            case "message_delta":
                self._conclude(_object(event.get("delta")), event)
            case _:
                pass

    def finish(self, request_id: str | None) -> Iterator[Event]:
        """Tell the end; raises `Interrupted` when the answer has none."""
        if self._stop_reason is None:
            raise Interrupted("the stream ended before the reply was complete", request_id=request_id)
        for index in list(self._growing):
            yield from self._close(index)
        for index, half in self._unparsed.items():
            # A call that a limit cut off must not run; any other goes back to the model as it wrote it.
            if self._stop_reason not in CUT_OFF:
                yield from self._finish_block(index, {**half.wire, "input": {INVALID_INPUT: "".join(half.pieces)}})
        yield Finished(
            Reply(
                message=Message(Role.ASSISTANT, tuple(self._done[index] for index in sorted(self._done))),
                usage=usage_from_wire(self._usage),
                stop_reason=self._stop_reason,
                model=str(self._head.get("model") or self.model),
                message_id=self._head.get("id"),
                request_id=request_id,
                applied_edits=self._applied_edits,
                compaction_usage=_compaction_usage(self._usage),
            )
        )

    def _begin(self, message: Mapping[str, Any]) -> Iterator[Event]:
        """A server that does not stream sends the whole message here."""
        self._head = message
        self._conclude(message, message)
        for index, block in enumerate(message.get("content") or ()):
            yield from self._open(index, _object(block))
            yield from self._close(index)

    def _open(self, index: int, block: Mapping[str, Any]) -> Iterator[Event]:
        growing = self._growing[index] = _Growing(dict(block))
        match block:
            case {"type": "tool_use"}:
                growing.wire["id"] = free_id(str(block.get("id") or ""), self.taken_ids, self.new_id)
                yield ToolUseStarted(growing.wire["id"], str(block.get("name", "")))
            case {"type": "text", "text": str(text)} if text:
                yield from self._show(growing, text, TextDelta)
            case {"type": "thinking", "thinking": str(text)} if text:
                yield from self._show(growing, text, ThinkingDelta)

    def _show(self, growing: _Growing, text: str, delta: type[TextDelta | ThinkingDelta]) -> Iterator[Event]:
        growing.pieces.append(text)
        if shown := growing.shown.take(text):
            yield delta(shown)

    def _grow(self, growing: _Growing, delta: Mapping[str, Any]) -> Iterator[Event]:
        match delta:
            case {"type": "text_delta", "text": str(text)}:
                yield from self._show(growing, text, TextDelta)
            case {"type": "thinking_delta", "thinking": str(text)}:
                yield from self._show(growing, text, ThinkingDelta)
            case {"type": "input_json_delta", "partial_json": str(text)}:
                growing.pieces.append(text)
            case {"type": "signature_delta", "signature": str(signature)}:
                growing.wire["signature"] = signature
            case {"type": "citations_delta", "citation": citation}:
                growing.wire["citations"] = [*(growing.wire.get("citations") or ()), citation]
            case {"type": "compaction_delta"}:
                growing.wire.update({key: value for key, value in delta.items() if key != "type"})

    def _close(self, index: int) -> Iterator[Event]:
        growing = self._growing.pop(index)
        wire, joined = growing.wire, "".join(growing.pieces)
        match wire.get("type"):
            case "text":
                wire["text"] = whole_text(joined)
            case "thinking":
                wire["thinking"] = whole_text(joined)
            case _ if growing.pieces:
                parsed = parse_input(joined)
                if parsed is None:
                    self._unparsed[index] = growing
                    return
                wire["input"] = parsed
            case _ if is_too_deep(wire):
                if wire.get("type") == "tool_use":
                    self._unparsed[index] = _Growing(wire, ["{nested beyond measure}"])
                return
            case _:
                wire = whole_value(wire)
        yield from self._finish_block(index, wire)

    def _finish_block(self, index: int, wire: dict[str, Any]) -> Iterator[Event]:
        block = block_from_wire(wire)
        # Providers refuse empty text when it is sent back to them.
        if block != Text(""):
            self._done[index] = block
            yield BlockDone(block)

    def _conclude(self, delta: Mapping[str, Any], event: Mapping[str, Any]) -> None:
        self._stop_reason = delta.get("stop_reason") or self._stop_reason
        # Counts are running totals; those that do not apply are absent and the earlier word stands.
        self._usage.update({key: value for key, value in _object(event.get("usage")).items() if value is not None})
        edits = _object(event.get("context_management")).get("applied_edits")
        if isinstance(edits, list):
            self._applied_edits = tuple(edits)


def announce(block: Block) -> Iterator[Event]:
    """The events of a block that arrives whole."""
    match block:
        case Text(text):
            yield TextDelta(text)
        case Thinking(thinking):
            yield ThinkingDelta(thinking)
        case ToolUse(id, name):
            yield ToolUseStarted(id, name)
        case _:
            pass
    yield BlockDone(block)


def _compaction_usage(usage: Mapping[str, Any]) -> Usage:
    """Add up the iterations: the provider's top-level counts leave a compaction out."""
    rounds = usage.get("iterations")
    total = Usage()
    for iteration in rounds if isinstance(rounds, list) else ():
        if _object(iteration).get("type") == "compaction":
            total += usage_from_wire(iteration)
    return total


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
