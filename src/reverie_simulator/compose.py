"""Builds the blocks of a reply from an action of a script, and applies the limits that cut it short."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from reverie.messages.blocks import JsonObject
from reverie_simulator.replies import (
    USUAL_THOUGHT,
    IdMaker,
    ScriptedReply,
    call_block,
    default_blocks,
    must_think,
    stop_reason_of,
    text_block,
    thinking_block,
)
from reverie_simulator.script import Incoming, ScriptAction, filled
from reverie_simulator.wire import number_at, text_at, texts_at


def composed(action: ScriptAction, incoming: Incoming, new_id: IdMaker) -> ScriptedReply:
    """The reply that an action describes; what it leaves open is as in the default reply."""
    blocks = action.blocks or tuple(_blocks(action, incoming, new_id))
    return ScriptedReply(blocks, action.stop_reason or stop_reason_of(blocks))


def _blocks(action: ScriptAction, incoming: Incoming, new_id: IdMaker) -> Iterator[JsonObject]:
    if action.thinking is not None:
        yield thinking_block(filled(action.thinking, incoming))
    elif must_think(incoming.body) and (action.text is not None or action.tool_calls):
        # A model that was told to think always does, whatever the script has it say.
        yield thinking_block(USUAL_THOUGHT)
    if action.text is None and not action.tool_calls:
        defaults = default_blocks(incoming.body, new_id)
        yield from (block for block in defaults if action.thinking is None or block.get("type") != "thinking")
        return
    if action.text:
        yield text_block(filled(action.text, incoming))
    for call in action.tool_calls:
        yield call_block(call.id or new_id("toolu"), call.name, call.input)


def cut_to_limits(
    reply: ScriptedReply, body: JsonObject, room_tokens: int, tokens_of: Callable[[JsonObject], int]
) -> ScriptedReply:
    """Stop at a stop sequence, at `max_tokens`, or where the window ends."""
    reply = _cut_at_sequence(reply, texts_at(body, "stop_sequences"))
    asked = number_at(body, "max_tokens")
    limit = min(asked, room_tokens)
    kept: list[JsonObject] = []
    used = 0
    for block in reply.blocks:
        size = tokens_of(block)
        if used + size > limit:
            kept.extend(_beginning(block, (limit - used) / size))
            reason = "max_tokens" if asked <= room_tokens else "model_context_window_exceeded"
            return ScriptedReply(tuple(kept), reason)
        kept.append(block)
        used += size
    return reply


def _cut_at_sequence(reply: ScriptedReply, sequences: tuple[str, ...]) -> ScriptedReply:
    for at, block in enumerate(reply.blocks):
        text = text_at(block, "text") if block.get("type") == "text" else ""
        found = [(text.index(sequence), sequence) for sequence in sequences if sequence in text]
        if found:
            place, sequence = min(found)
            kept = (*reply.blocks[:at], *([{**block, "text": text[:place]}] if place else []))
            return ScriptedReply(kept, "stop_sequence", sequence)
    return reply


def _beginning(block: JsonObject, share: float) -> Iterator[JsonObject]:
    """The part of a text that fits; a call or reasoning that does not fit is left out."""
    text = text_at(block, "text")
    if block.get("type") == "text" and (short := text[: int(len(text) * share)]):
        yield {**block, "text": short}
