"""Chunks of a chat completion, put together."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.messages.blocks import Text, ToolUse
from reverie.models.chat_stream import ChatAssembly
from reverie.models.ports import Event, Finished, Reply, TextDelta, ToolUseStarted
from tests.requirements import requirement


def assembled(*deltas: dict[str, Any], finish: str | None = "stop", **more: Any) -> tuple[list[Event], Reply]:
    numbers = count(1)
    assembly = ChatAssembly(set(), lambda: str(next(numbers)))
    events: list[Event] = []
    for delta in deltas:
        events += assembly.take({"choices": [{"delta": delta}]})
    events += assembly.take({"choices": [{"delta": {}, "finish_reason": finish}], **more})
    events += assembly.finish(None)
    assert isinstance(events[-1], Finished)
    return events, events[-1].reply


def call(arguments: Any, name: str | None = None, **fields: Any) -> dict[str, Any]:
    function = {"arguments": arguments} if name is None else {"name": name, "arguments": arguments}
    return {"tool_calls": [{**fields, "function": function}]}


names = st.sampled_from(["look", "now", "write_file"])
inputs = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=8) | st.none(), max_size=3)


@requirement("models:openai:quirks")
@given(st.lists(st.tuples(names, inputs), max_size=4), st.text(max_size=30), st.data())
def test_the_answer_is_the_same_however_the_stream_is_cut(
    calls: list[tuple[str, dict[str, Any]]], text: str, data: st.DataObject
) -> None:
    deltas: list[dict[str, Any]] = [{"content": piece} for piece in _cut(text, data)]
    for index, (name, parameters) in enumerate(calls):
        first, *rest = _cut(json.dumps(parameters), data)
        deltas.append(call(first, name, index=index, id=f"c{index}"))
        deltas += [call(piece, index=index) for piece in rest]
    events, reply = assembled(*deltas)

    assert reply.text == text
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == text
    assert [(use.id, use.name, use.input) for use in reply.message.tool_uses] == [
        (f"c{index}", name, parameters) for index, (name, parameters) in enumerate(calls)
    ]
    assert [event.id for event in events if isinstance(event, ToolUseStarted)] == [f"c{n}" for n in range(len(calls))]


def _cut(text: str, data: st.DataObject) -> list[str]:
    place = data.draw(st.integers(0, len(text)))
    return [text[:place], text[place:]]


@requirement("models:openai:quirks")
def test_pieces_of_two_calls_may_alternate() -> None:
    _, reply = assembled(
        call('{"at"', "look", index=0, id="a"),
        call('{"to"', "write", index=1, id="b"),
        call(':"x"}', index=0),
        call(':"y"}', index=1),
    )

    assert reply.message.content == (ToolUse("a", "look", {"at": "x"}), ToolUse("b", "write", {"to": "y"}))


@requirement("models:openai:quirks")
def test_ids_tell_apart_what_neither_index_nor_input_does() -> None:
    _, reply = assembled(call("", "now", index=0, id="a"), call("", "now", index=0, id="b"))

    assert reply.message.content == (ToolUse("a", "now", {}), ToolUse("b", "now", {}))


@requirement("models:openai:quirks")
def test_a_name_that_repeats_in_every_piece_stays_one_name() -> None:
    _, reply = assembled(call("", "look", index=0), call('{"at":', "look", index=0), call('"x"}', "look", index=0))

    assert [(use.name, use.input) for use in reply.message.tool_uses] == [("look", {"at": "x"})]


@requirement("models:openai:quirks")
def test_id_index_and_name_may_repeat_with_every_piece() -> None:
    pieces = ['{"at"', ': "x"}', "\n", ""]
    _, reply = assembled(*(call(piece, "look", index=0, id="a") for piece in pieces))

    assert reply.message.content == (ToolUse("a", "look", {"at": "x"}),)


@requirement("models:openai:quirks")
def test_the_index_may_hide_inside_the_function() -> None:
    calls = [{"function": {"index": n, "name": "look", "arguments": {"at": n}}} for n in range(2)]
    _, reply = assembled({"tool_calls": calls})

    assert [use.input for use in reply.message.tool_uses] == [{"at": 0}, {"at": 1}]


@requirement("models:openai:quirks")
@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("stop", "end_turn"),
        ("length", "max_tokens"),
        ("tool_calls", "end_turn"),
        ("content_filter", "refusal"),
        ("eos", "eos"),
        (None, "end_turn"),
    ],
)
def test_reasons_to_stop_have_our_names(finish: str | None, reason: str) -> None:
    assert assembled({"content": "x"}, finish=finish)[1].stop_reason == reason


@requirement("models:openai:quirks")
def test_a_refusal_is_text_with_its_own_reason() -> None:
    _, reply = assembled({"refusal": "I would rather not."})

    assert reply.message.content == (Text("I would rather not."),)
    assert reply.stop_reason == "refusal"


@requirement("models:openai:quirks")
def test_text_may_come_as_a_list_of_parts() -> None:
    assert (
        assembled({"content": [{"type": "text", "text": "in "}, {"type": "text", "text": "parts"}]})[1].text
        == "in parts"
    )


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "delta", "message", "content", "tool_calls", "function", "name", "arguments", "id"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@requirement("models:openai:quirks")
@given(st.lists(st.dictionaries(st.sampled_from(["choices", "usage", "id", "model"]), json_values), max_size=4))
def test_no_chunk_is_too_strange(chunks: list[dict[str, Any]]) -> None:
    assembly = ChatAssembly(set(), lambda: "x")
    for chunk in chunks:
        list(assembly.take(chunk))
    list(assembly.take({"choices": [{"delta": {"content": "end"}}]}))
    *_, last = assembly.finish(None)

    assert isinstance(last, Finished)
    assert last.reply.text.endswith("end")
