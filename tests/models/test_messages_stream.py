"""Events of the Messages API, put together."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.errors import Interrupted
from reverie.messages.blocks import CompactionBlock, RedactedThinking, Text, Thinking, ToolUse
from reverie.messages.codec import block_from_wire
from reverie.models.messages_stream import MessageAssembly, announce
from reverie.models.ports import BlockDone, Event, Finished, TextDelta, ThinkingDelta, ToolUseStarted
from reverie.models.received import parse_input
from tests.models.messages_wire import events
from tests.requirements import requirement

texts = st.text(min_size=1, max_size=12)
wire_blocks = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, texts),
    st.builds(lambda text, sign: {"type": "thinking", "thinking": text, "signature": sign}, texts, texts),
    st.builds(
        lambda name, parameters: {"type": "tool_use", "id": name, "name": "look", "input": parameters},
        st.uuids().map(str),
        st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=8), max_size=3),
    ),
    st.builds(lambda data: {"type": "redacted_thinking", "data": data}, texts),
    st.builds(lambda kind, data: {"type": f"x_{kind}", "data": data}, texts, texts),
)


def assembled(wire_events: Any) -> list[Event]:
    assembly = MessageAssembly()
    told = [event for wire in wire_events for event in assembly.take(wire)]
    return [*told, *assembly.finish("req")]


@requirement("models:anthropic:tolerant")
@given(st.lists(wire_blocks, max_size=4))
def test_whatever_was_sent_in_pieces_is_whole_again(blocks: list[dict[str, Any]]) -> None:
    *told, last = assembled(events(blocks))

    assert isinstance(last, Finished)
    assert last.reply.message.content == tuple(block_from_wire(block) for block in blocks)
    assert tuple(event.block for event in told if isinstance(event, BlockDone)) == last.reply.message.content
    spoken = "".join(event.text for event in told if isinstance(event, TextDelta))
    assert spoken == "".join(block["text"] for block in blocks if block["type"] == "text")


@requirement("models:anthropic:tolerant")
@given(st.lists(wire_blocks, max_size=3), st.integers(0, 30))
def test_a_stream_cut_anywhere_before_its_reason_to_stop_is_interrupted(
    blocks: list[dict[str, Any]], kept: int
) -> None:
    whole = list(events(blocks))
    cut = whole[: min(kept, len(whole) - 2)]

    with pytest.raises(Interrupted):
        assembled(cut)


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["type", "text", "usage", "input", "content", "stop_reason"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)
strange = st.builds(
    lambda kind, index, fields: {**fields, "type": kind, "index": index},
    st.sampled_from(
        ["content_block_start", "content_block_delta", "content_block_stop", "message_delta", "ping", "new"]
    ),
    st.integers(0, 2),
    st.dictionaries(st.sampled_from(["delta", "content_block", "usage", "context_management"]), json_values),
)


@requirement("models:anthropic:tolerant")
@given(st.lists(strange, max_size=6))
def test_no_event_is_too_strange(wire_events: list[dict[str, Any]]) -> None:
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}

    assert isinstance(assembled([*wire_events, end])[-1], Finished)


@requirement("models:anthropic:tolerant")
def test_counts_that_do_not_apply_leave_the_earlier_word() -> None:
    wire = list(events([]))
    wire[-2] = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": None}}
    last = assembled(wire)[-1]

    assert isinstance(last, Finished)
    assert last.reply.usage.input_tokens == 12
    assert last.reply.usage.cache_read_tokens == 100


@requirement("models:anthropic:tolerant")
def test_edits_that_the_provider_made_are_told() -> None:
    edit = {"type": "clear_tool_uses_20250919", "cleared_tool_uses": 3, "cleared_input_tokens": 900}
    last = assembled(events([], context_management={"applied_edits": [edit]}))[-1]

    assert isinstance(last, Finished)
    assert last.reply.applied_edits == (edit,)


@requirement("models:anthropic:recorded")
def test_a_compaction_without_text_stays_one() -> None:
    wire = list(events([{"type": "compaction", "content": None}], "compaction"))
    last = assembled(wire)[-1]

    assert isinstance(last, Finished)
    assert last.reply.message.content == (CompactionBlock(None),)
    assert last.reply.stop_reason == "compaction"


@pytest.mark.parametrize(
    ("text", "value"),
    [("", {}), (" ", {}), ('{"a": 1}', {"a": 1}), ("[1]", None), ("null", None), ('{"a"', None), ("7", None)],
)
@requirement("models:anthropic:cut-off")
def test_an_input_is_an_object_or_nothing(text: str, value: dict[str, Any] | None) -> None:
    assert parse_input(text) == value


@pytest.mark.parametrize(
    ("block", "first"),
    [
        (Text("t"), TextDelta("t")),
        (Thinking("h", "s"), ThinkingDelta("h")),
        (ToolUse("i", "n", {}), ToolUseStarted("i", "n")),
    ],
)
def test_a_block_that_arrives_whole_is_announced_like_any_other(block: Text, first: Event) -> None:
    assert list(announce(block)) == [first, BlockDone(block)]


def test_hidden_reasoning_is_announced_by_its_end_alone() -> None:
    assert list(announce(RedactedThinking("x"))) == [BlockDone(RedactedThinking("x"))]


HERON = "\U0001f426"
HALVES = HERON.encode("utf-16-le")
FIRST, SECOND = (HALVES[at : at + 2].decode("utf-16-le", "surrogatepass") for at in (0, 2))


def text_in(*pieces: str, kind: str = "text") -> list[dict[str, Any]]:
    """A block that arrives in these pieces."""
    start: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "msg", "model": "m", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": kind, kind: ""}},
    ]
    deltas = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": f"{kind}_delta", kind: piece}} for piece in pieces
    ]
    return [*start, *deltas, {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}]


@requirement("models:received:fit")
@pytest.mark.parametrize("kind", ["text", "thinking"])
@pytest.mark.parametrize(
    ("pieces", "whole"),
    [
        ((f"a {FIRST}", f"{SECOND} b"), f"a {HERON} b"),
        ((FIRST, SECOND), HERON),
        ((f"a {FIRST}", " b"), "a \ufffd b"),
        ((f"{SECOND} b",), "\ufffd b"),
        ((f"a {FIRST}",), "a \ufffd"),
    ],
)
def test_half_a_character_waits_for_the_other_half(kind: str, pieces: tuple[str, ...], whole: str) -> None:
    *told, last = assembled(text_in(*pieces, kind=kind))

    assert isinstance(last, Finished)
    (block,) = last.reply.message.content
    assert getattr(block, kind) == whole
    shown = "".join(event.text for event in told if isinstance(event, TextDelta | ThinkingDelta))
    assert whole.startswith(shown)
    shown.encode()


@requirement("models:received:fit")
@pytest.mark.parametrize("levels", [250, 1_100, 60_000])
def test_input_that_is_nested_without_end_goes_back_to_the_model(levels: int) -> None:
    raw = '{"a":' * levels + "1" + "}" * levels
    assert parse_input(raw) is None
    deep: Any = 1
    for _ in range(min(levels, 2_000)):
        deep = {"a": deep}
    whole = {"type": "tool_use", "id": "c1", "name": "look", "input": deep}
    last = assembled([{"type": "message_start", "message": {"content": [whole], "stop_reason": "tool_use"}}])[-1]

    assert isinstance(last, Finished)
    assert set(last.reply.message.tool_uses[0].input) == {"invalid_json"}


@requirement("models:received:fit")
def test_a_call_gets_an_id_that_can_be_sent_back() -> None:
    odd = ["", "functions.look:0", "a b", "c1", "c1", "earlier", "../../etc"]
    blocks = [{"type": "tool_use", "id": name, "name": "look", "input": {}} for name in odd]
    assembly = MessageAssembly(taken_ids={"earlier"})
    told = [event for wire in events(blocks) for event in assembly.take(wire)]
    *_, last = assembly.finish(None)

    assert isinstance(last, Finished)
    ids = [use.id for use in last.reply.message.tool_uses]
    assert len({*ids, "earlier"}) == len(odd) + 1
    assert all(name.replace("_", "").isalnum() for name in ids)
    assert "c1" in ids
    assert [event.id for event in told if isinstance(event, ToolUseStarted)] == ids
