from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from reverie.messages.blocks import JsonObject
from reverie_simulator.answers import MessageAnswer
from reverie_simulator.events import ServerEvent, events_of
from reverie_simulator.rules.headers import COMPACTION_BETA
from reverie_simulator.script import ScriptAction, ToolCall, in_order
from reverie_simulator.wire import number_at, object_at, objects_at, text_at
from tests.requirements import requirement
from tests.simulator.requests import WORDS, answer, provider, request, tool, user


def streamed(answered: MessageAnswer) -> list[ServerEvent]:
    return list(events_of(answered.message, answered.opening_usage, answered.final_usage))


def assembled(events: list[ServerEvent]) -> list[JsonObject]:
    """The blocks that a client puts together."""
    blocks: list[dict[str, object]] = []
    for event in events:
        if event.name == "content_block_start":
            blocks.append(dict(object_at(event.data, "content_block")))
        elif event.name == "content_block_delta":
            delta = object_at(event.data, "delta")
            for field in ("text", "thinking", "signature"):
                if field in delta:
                    blocks[-1][field] = str(blocks[-1][field]) + text_at(delta, field)
            if "partial_json" in delta:
                blocks[-1]["json"] = str(blocks[-1].get("json", "")) + text_at(delta, "partial_json")
        elif event.name == "content_block_stop" and "json" in blocks[-1]:
            blocks[-1]["input"] = json.loads(str(blocks[-1].pop("json")))
    return blocks  # type: ignore[return-value]


@requirement("simulator:wire:recorded-shapes")
@given(thinking=st.text(), text=st.text(min_size=1), arguments=st.dictionaries(st.text(), st.integers() | st.text()))
def test_the_pieces_of_a_stream_make_up_the_whole_reply(
    thinking: str, text: str, arguments: dict[str, int | str]
) -> None:
    action = ScriptAction(thinking=thinking, text=text, tool_calls=(ToolCall("Read", arguments),))

    answered = answer(provider(in_order(action)), request(tools=[tool()], max_tokens=10_000))

    assert assembled(streamed(answered)) == list(objects_at(answered.message, "content"))


@requirement("simulator:wire:recorded-shapes")
def test_a_stream_opens_empty_and_closes_with_the_cumulative_usage() -> None:
    answered = answer(provider(), request(stream=True))

    opening, *_, closing, end = streamed(answered)

    message = object_at(opening.data, "message")
    assert (message["content"], message["stop_reason"]) == ([], None)
    assert number_at(object_at(message, "usage"), "output_tokens") == 1
    assert object_at(closing.data, "delta")["stop_reason"] == "end_turn"
    assert set(object_at(closing.data, "usage")) == {
        "input_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
        "output_tokens",
        "output_tokens_details",
    }
    assert end.data == {"type": "message_stop"}


@requirement("simulator:edits:compaction")
def test_a_stream_with_a_summary_opens_with_the_usage_of_the_summary() -> None:
    body = request(
        [user(WORDS * 5_000)],
        model="claude-sonnet-4-6",
        context_management={
            "edits": [{"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 50_000}}]
        },
    )

    answered = answer(provider(), body, COMPACTION_BETA)

    events = streamed(answered)
    opening = object_at(object_at(events[0].data, "message"), "usage")
    closing = object_at(events[-2].data, "usage")
    assert number_at(opening, "input_tokens") > 50_000 > number_at(closing, "input_tokens")
    assert events[-2].data["context_management"] == {"applied_edits": []}


def test_an_event_is_written_as_the_protocol_asks() -> None:
    assert ServerEvent("ping", {"type": "ping"}).encode() == b'event: ping\ndata: {"type":"ping"}\n\n'
