"""A request as the body of a Messages API call."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.errors import BadRequest
from reverie.messages.blocks import CompactionBlock, Image, JsonObject, Opaque, Text, Thinking, ToolResult, ToolUse
from reverie.messages.entries import ToolSpec
from reverie.messages.message import Message, Role, assistant, user
from reverie.models.ports import CacheMark, Request
from reverie.models.request_body import count_body, encode_body, request_betas, request_body
from reverie.testing.build import request, system, tool, tool_call, tool_result
from reverie_simulator.rules.check import validate
from tests.requirements import requirement

MARKED = {"type": "ephemeral"}


@requirement("models:body:pure")
def test_fields_stand_in_a_fixed_order_with_the_cached_levels_last() -> None:
    asked = request(
        "hi",
        temperature=0.3,
        stop_sequences=("END",),
        thinking={"type": "enabled", "budget_tokens": 1024},
        tool_choice={"type": "auto"},
        context_management={"edits": []},
        output_schema={"type": "object"},
        extra={"metadata": {"user_id": "u"}},
        system=system("s"),
        tools=(tool("look", at="string"),),
    )

    assert list(request_body(asked)) == [
        "model",
        "max_tokens",
        "temperature",
        "stop_sequences",
        "thinking",
        "context_management",
        "metadata",
        "output_config",
        "tool_choice",
        "tools",
        "system",
        "messages",
    ]


@requirement("models:body:pure")
def test_a_plain_request_has_only_what_it_needs() -> None:
    assert request_body(request("hi", max_tokens=7)) == {
        "model": "claude-sonnet-4-5",
        "max_tokens": 7,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
    }


@requirement("models:body:pure")
def test_an_answer_format_joins_what_the_request_says_of_the_output() -> None:
    body = request_body(request(output_schema={"type": "object"}, extra={"output_config": {"effort": "low"}}))

    assert body["output_config"] == {
        "effort": "low",
        "format": {"type": "json_schema", "schema": {"type": "object"}},
    }


@requirement("models:effort")
def test_effort_joins_the_answer_format() -> None:
    assert request_body(request(effort="low"))["output_config"] == {"effort": "low"}
    assert set(request_body(request(effort="low", output_schema={}))["output_config"]) == {"effort", "format"}
    assert "output_config" not in request_body(request())


texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
blocks = st.one_of(
    st.builds(Text, texts),
    st.builds(lambda name, at: tool_call("look", id=name, at=at), texts, texts),
    st.builds(lambda name, text: tool_result(name, text), texts, texts),
    st.builds(Thinking, texts, texts),
)
messages = st.builds(Message, st.sampled_from(Role), st.lists(blocks, min_size=1, max_size=4).map(tuple))
requests = st.builds(
    Request,
    model=st.just("claude-sonnet-4-5"),
    messages=st.lists(messages, min_size=1, max_size=4).map(tuple),
    system=st.lists(texts, max_size=2).map(lambda found: system(*found)),
)


@requirement("models:body:pure")
@given(requests)
def test_equal_requests_give_equal_bytes_and_building_changes_nothing(asked: Request) -> None:
    first = encode_body(request_body(asked))

    assert encode_body(request_body(asked)) == first
    assert json.loads(first)["messages"] == request_body(asked)["messages"]


@requirement("models:body:pure")
@given(requests, messages)
def test_one_more_message_leaves_the_bytes_before_it_alone(asked: Request, more: Message) -> None:
    longer = Request(asked.model, (*asked.messages, more), asked.system)
    before = encode_body(request_body(asked))

    assert encode_body(request_body(longer)).startswith(before.removesuffix(b"]}"))


@requirement("models:body:cache-marks")
@given(requests, st.data())
def test_marks_change_nothing_but_the_marked_blocks(asked: Request, data: st.DataObject) -> None:
    levels = ["messages", *(["system"] if asked.system else [])]
    drawn = data.draw(st.lists(st.tuples(st.sampled_from(levels), st.sampled_from([0, -1])), max_size=4))
    marked = Request(asked.model, asked.messages, asked.system, cache_marks=tuple(CacheMark(*mark) for mark in drawn))
    try:
        body = request_body(marked)
    except BadRequest:
        return  # a message of reasoning alone can carry no mark

    found = 0
    for holder in [*body.get("system", ()), *(block for message in body["messages"] for block in message["content"])]:
        found += holder.pop("cache_control", None) is not None
    assert found == len({(level, index % len(getattr(asked, level))) for level, index in drawn})
    assert body == request_body(asked)


@requirement("models:body:cache-marks")
def test_marks_stand_where_they_were_put() -> None:
    asked = request(
        user("a", "b"),
        assistant("c"),
        tools=(tool("one"), tool("two")),
        system=system("s", "t"),
        cache_marks=(
            CacheMark("tools", -1),
            CacheMark("system", 0, ttl="1h"),
            CacheMark("messages", 0, block=0),
            CacheMark("messages", -1),
        ),
    )
    body = request_body(asked)

    assert [entry.get("cache_control") for entry in body["tools"]] == [None, MARKED]
    assert [entry.get("cache_control") for entry in body["system"]] == [{"type": "ephemeral", "ttl": "1h"}, None]
    assert [block.get("cache_control") for block in body["messages"][0]["content"]] == [MARKED, None]
    assert body["messages"][1]["content"][0]["cache_control"] == MARKED


@requirement("models:body:cache-marks")
def test_reasoning_and_empty_text_pass_the_mark_to_the_block_before() -> None:
    said = assistant("answer", Thinking("hm", "signed"), "")
    body = request_body(request(said, cache_marks=(CacheMark("messages", -1),)))

    assert [block.get("cache_control") for block in body["messages"][0]["content"]] == [MARKED, None, None]


@requirement("models:body:cache-marks")
@pytest.mark.parametrize(
    ("marks", "said"),
    [
        ([CacheMark("messages", 0)] * 5, "5 cache marks"),
        ([CacheMark("messages", 3)], "points at nothing"),
        ([CacheMark("tools", 0)], "points at nothing"),
        ([CacheMark("messages", 0, block=2)], "points at nothing"),
        ([CacheMark("cellar", 0)], "points at nothing"),
    ],
)
def test_marks_that_no_provider_would_take_are_refused_here(marks: list[CacheMark], said: str) -> None:
    with pytest.raises(BadRequest, match=said):
        request_body(request("hi", cache_marks=tuple(marks)))


@requirement("models:body:cache-marks")
def test_markers_that_came_with_recorded_content_do_not_count() -> None:
    old: JsonObject = {"cache_control": {"type": "ephemeral"}}
    inner = Image({"type": "base64"}, old)
    asked = request(
        user(Text("a", old), ToolResult("t", (Text("b", old), inner), extra=old), Opaque({"type": "odd", **old})),
        tools=(ToolSpec("look", "", {"type": "object"}, old),),
    )

    assert b"cache_control" not in encode_body(request_body(asked))
    assert inner.extra == old


def test_unsigned_reasoning_of_another_provider_is_not_sent() -> None:
    body = request_body(request(assistant(Thinking("mine"), Thinking("theirs", "signed"), "so")))

    assert [block["type"] for block in body["messages"][0]["content"]] == ["thinking", "text"]
    assert body["messages"][0]["content"][0]["signature"] == "signed"


@requirement("models:body:betas")
def test_only_the_edits_that_are_used_need_a_beta() -> None:
    clearing = {"edits": [{"type": "clear_thinking_20251015"}, {"type": "clear_tool_uses_20250919"}]}
    compacting = {"edits": [{"type": "compact_20260112"}]}

    assert request_betas(request()) == ()
    assert request_betas(request(context_management=clearing)) == ("context-management-2025-06-27",)
    assert request_betas(request(context_management=compacting)) == ("compact-2026-01-12",)
    assert request_betas(request(betas=("compact-2026-01-12", "x", "x"), context_management=compacting)) == (
        "compact-2026-01-12",
        "x",
    )


@requirement("models:body:betas")
def test_what_stands_in_the_conversation_needs_its_beta_too() -> None:
    deleting = Opaque({"type": "cache_edits", "edits": []})

    assert request_betas(request(user(deleting))) == ("reverie-cache-edits-2026-01-01",)
    assert request_betas(request("hi", assistant(CompactionBlock("all")))) == ("compact-2026-01-12",)
    assert request_betas(request(effort="low")) == ("effort-2025-11-24",)


@requirement("models:anthropic:count")
def test_a_count_asks_only_about_what_goes_in() -> None:
    asked = request("hi", temperature=1.0, stop_sequences=("x",), extra={"metadata": {}}, system=system("s"))

    assert list(count_body(asked)) == ["model", "system", "messages"]


@requirement("models:body:pure")
def test_half_characters_do_not_break_the_request() -> None:
    assert json.loads(encode_body(request_body(request("before\ud800after"))))["messages"][0]["content"][0]["text"] == (
        "before?after"
    )


@requirement("models:received:fit")
def test_ids_and_names_of_other_programs_are_sent_as_a_provider_takes_them() -> None:
    odd = ["functions.look:0", "functions.look:1", "", "a b", "c1"]
    called = assistant(*(ToolUse(name, "look at/it" if name else "", {}) for name in odd))
    answered = user(*(ToolResult(name, "seen", is_error=name == "a b") for name in odd))
    edits = Opaque({"type": "cache_edits", "edits": [{"type": "delete", "cache_reference": odd[0]}]})
    body = request_body(Request("claude-sonnet-4-5", (user("hi"), called, answered, assistant("ok"), user(edits))))

    sent = [block["id"] for block in body["messages"][1]["content"]]
    assert len(set(sent)) == len(odd)
    assert sent == [block["tool_use_id"] for block in body["messages"][2]["content"]]
    assert sent[-1] == "c1"
    assert body["messages"][4]["content"][0]["edits"][0]["cache_reference"] == sent[0]
    body["messages"] = body["messages"][:4]
    body["messages"].append({"role": "user", "content": "go on"})
    assert validate(json.loads(json.dumps(body))) is None
