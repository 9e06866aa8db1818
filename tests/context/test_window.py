from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anthropic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.context.window import Window
from reverie.errors import ContextTooLong, UserMistake
from reverie.messages.blocks import ToolResult, ToolUse
from reverie.messages.codec import message_to_wire
from reverie.messages.entries import Entry
from reverie.messages.message import Message, Usage, assistant, user
from reverie.messages.rules import conform
from reverie.messages.view import project
from reverie.settings import CompactionSettings, Settings
from reverie.testing.prefix_net import classify
from reverie.testing.scripted_model import ScriptedModel
from reverie_simulator.rules.check import validate
from tests.requirements import requirement
from tests.strategies import conversations

MODEL = "claude-sonnet-4-5"
NOW = datetime(2026, 11, 1, tzinfo=UTC)


def window(size: int | None = None, **more: object) -> Window:
    return Window(MODEL, window=size, now=lambda: NOW, **more)  # type: ignore[arg-type]  # passed on by name


def long_talk(rounds: int, chars: int = 4_000) -> list[Message]:
    made: list[Message] = [user("please look at every module and say what is wrong with it")]
    for number in range(rounds):
        call = ToolUse(f"t{number}", "Read", {"file_path": f"/src/module_{number}.py"})
        made += [
            assistant(f"reading module {number}", call),
            user(ToolResult(call.id, f"line of module {number}\n" * (chars // 20))),
        ]
    return [*made, assistant("all read"), user("now fix module 3, and never touch the tests")]


@requirement("window:prepare:fits")
@pytest.mark.parametrize("size", [8_000, 20_000, 60_000])
def test_whatever_is_handed_over_fits(size: int) -> None:
    made = window(size)

    request = made.prepare(long_talk(60))

    assert made.budget.using(request.report.tokens).is_blocked is False
    assert request.report.reductions
    assert "never touch the tests" in repr(request.body["messages"])
    assert validate(request.body) is None


@requirement("window:prepare:valid")
@settings(max_examples=40)
@given(conversations(), st.sampled_from([4_000, 9_000, 200_000]))
def test_no_prepared_request_breaks_a_rule_of_the_provider(made: list[Entry], size: int) -> None:
    messages = conform(project(made).messages)
    if not messages:
        return
    if messages[-1].role == "assistant":
        messages = (*messages, user("go on"))

    assert validate(window(size).prepare(messages).body) is None


@requirement("window:prepare:follows")
def test_messages_may_come_as_values_or_as_the_api_has_them() -> None:
    talk = long_talk(2)
    tools = [{"name": "Read", "input_schema": {"type": "object"}}]

    as_values = window().prepare(talk, "be brief", tools)
    as_wire = window().prepare([message_to_wire(message) for message in talk], "be brief", tools)

    assert as_values.body == as_wire.body


@requirement("window:prepare:client-objects")
def test_objects_of_the_client_give_the_same_request_as_their_json(tmp_path: Path) -> None:
    picture = tmp_path / "pixel.png"
    picture.write_bytes(b"\x89PNG")
    reply = anthropic.types.Message.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "I look", "citations": None},
                {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": None, "deep": {"a": [1]}}},
            ],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )
    note = anthropic.types.TextBlock(type="text", text="20 degrees")
    source = {"type": "base64", "media_type": "image/png", "data": picture}
    results = {"type": "tool_result", "tool_use_id": "t1", "content": [note, {"type": "image", "source": source}]}

    @anthropic.beta_tool
    def get_weather(city: str) -> str:
        """Look up the weather."""
        return city

    by_objects: list[Any] = [
        {"role": "user", "content": "the weather?"},
        {"role": "assistant", "content": reply.content},
        {"role": "user", "content": (part for part in [results])},
    ]
    whole_reply: list[Any] = [by_objects[0], reply, {"role": "user", "content": [results]}]
    by_json: list[Any] = [
        by_objects[0],
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "I look"},
                {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": None, "deep": {"a": [1]}}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    **results,
                    "content": [
                        {"type": "text", "text": "20 degrees"},
                        {"type": "image", "source": {**source, "data": "iVBORw=="}},
                    ],
                }
            ],
        },
    ]
    expected = window().prepare(by_json, "be brief", [get_weather.to_dict()]).body

    given_tools: list[Any] = [get_weather]
    assert window().prepare(iter(by_objects), iter(["be brief"]), iter(given_tools)).body == expected
    assert window().prepare(whole_reply, "be brief", given_tools).body == expected


@requirement("window:prepare:client-objects")
def test_cache_marks_that_a_loop_moves_about_start_no_branch() -> None:
    made = window(20_000)
    talk: list[Any] = [message_to_wire(message) for message in long_talk(40)]
    for end in range(3, len(talk) + 1, 2):
        said = [dict(message) for message in talk[:end]]
        said[-1] = {
            **said[-1],
            "content": [{**part, "cache_control": {"type": "ephemeral"}} for part in said[-1]["content"]],
        }
        request = made.prepare(said)

        broken = request.report.predicted_break
        assert broken is None or broken.is_announced
    assert made.receipts


@requirement("window:bad-input")
@pytest.mark.parametrize(
    "message",
    [
        {"role": "wizard", "content": "hi"},
        {"content": "hi"},
        {"role": "user", "content": 5},
        {"role": "user"},
        "hello",
        None,
    ],
)
def test_a_message_that_cannot_be_read_is_named_and_nothing_is_recorded(message: Any) -> None:
    made = window()
    with pytest.raises(UserMistake, match=r"messages\[1\] cannot be read"):
        made.prepare([user("one"), message])

    assert made.prepare([user("one")]).report.predicted_break is None


@requirement("window:bad-input")
@pytest.mark.parametrize("size", [-5, 0, 1, "200k"])
def test_a_window_of_no_size_is_refused(size: Any) -> None:
    with pytest.raises(UserMistake, match="window="):
        window(size)


@requirement("window:bad-input")
def test_an_unknown_strategy_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(UserMistake, match="'truncate'; expected one of default, none"):
        window(strategy="truncate")


@requirement("window:prepare:fits")
def test_without_a_strategy_everything_is_sent() -> None:
    made = window(8_000, strategy="none")

    request = made.prepare(long_talk(60))

    assert len(request.request.messages) == len(long_talk(60))
    assert not request.report.reductions


@requirement("window:bad-input")
async def test_where_compaction_is_switched_off_none_takes_place() -> None:
    made = window(settings=Settings(compaction=CompactionSettings(enabled=False)))
    made.prepare(long_talk(10))

    assert await made.compact() == ()
    assert made.receipts == []


@requirement("window:prepare:client-objects")
def test_a_tool_without_a_name_of_its_own_stays_without_one() -> None:
    toolset = {"type": "mcp_toolset", "mcp_server_name": "files"}

    assert [
        dict(tool) | {"cache_control": None} for tool in window().prepare([user("hi")], (), [toolset]).body["tools"]
    ] == [toolset | {"cache_control": None}]


@requirement("window:prepare:follows")
def test_a_changed_history_starts_a_branch() -> None:
    made = window()
    made.prepare([user("one"), assistant("two"), user("three")])

    again = made.prepare([user("one"), assistant("something else"), user("three")])

    assert [block["text"] for message in again.body["messages"] for block in message["content"]] == [
        "one",
        "something else",
        "three",
    ]
    assert again.report.predicted_break is not None
    assert not again.report.predicted_break.is_announced


@requirement("window:prepare:follows")
def test_a_message_that_grew_in_place_is_noticed() -> None:
    made = window()
    content = [{"type": "text", "text": "one"}]
    messages = [{"role": "user", "content": content}]
    made.prepare(messages)

    content.append({"type": "text", "text": "two"})

    assert "two" in repr(made.prepare(messages).body)


@requirement("cache:prefix:announced")
def test_a_compaction_is_an_announced_break() -> None:
    made = window(20_000)
    talk = long_talk(40)
    bodies: list[dict[str, object]] = []
    breaks = []
    for end in range(3, len(talk) + 1, 2):
        request = made.prepare(talk[:end])
        if bodies and classify(bodies[-1], request.body) not in ("identical", "extends"):
            breaks.append(request.report.predicted_break)
        bodies.append(request.body)

    assert breaks
    assert all(one is not None and one.is_announced for one in breaks)


@requirement("window:prepare:too-large")
def test_a_single_message_that_does_not_fit_is_shown_by_both_ends() -> None:
    made = window(6_000)
    sent = made.prepare([user("first " + "word " * 30_000 + "last")])
    text = sent.body["messages"][0]["content"][0]["text"]

    assert sent.report.tokens <= made.budget.blocking_tokens
    assert text.startswith("first ")
    assert text.endswith("last")
    assert [one.kind for one in sent.report.reductions] == ["shortened"]
    assert made.prepare([user("small")]).body["messages"][0]["content"][0]["text"] == "small"


@requirement("window:prepare:too-large")
def test_tools_that_fill_the_window_alone_are_named() -> None:
    with pytest.raises(ContextTooLong, match="system text and tools alone take about"):
        window(6_000).prepare([user("hi")], system="rule " * 30_000)


@requirement("window:uncompact:restores")
async def test_uncompact_shows_everything_again() -> None:
    made = window()
    talk = long_talk(20)
    before = made.prepare(talk).body["messages"]
    assert await made.compact()
    assert made.prepare(talk).body["messages"] != before

    made.uncompact()

    assert _unmarked(made.prepare(talk).body["messages"]) == _unmarked(before)


@requirement("session:window:part")
@pytest.mark.parametrize("side", ["from_", "up_to"])
async def test_one_side_of_a_message_is_compacted_by_its_place_in_the_list(side: str) -> None:
    made, talk, place = window(), long_talk(20), 21
    before = [_unmarked([one]) for one in made.prepare(talk).body["messages"]]

    assert await made.compact(**{side: place})  # type: ignore[arg-type]  # passed on by name

    after = [_unmarked([one]) for one in made.prepare(talk).body["messages"]]
    assert len(after) < len(before)
    if side == "from_":
        assert after[: place - 1] == before[: place - 1]
    else:
        assert before[place] in after
        assert after[-5:-1] == before[-5:-1]
    (receipt,) = made.receipts
    assert receipt.kind == "partial compaction"
    made.uncompact()
    assert [_unmarked([one]) for one in made.prepare(talk).body["messages"]] == before
    with pytest.raises(UserMistake, match="counted from 0"):
        await made.compact(**{side: len(talk)})  # type: ignore[arg-type]


@requirement("window:uncompact:restores")
async def test_what_was_left_out_can_be_read_again() -> None:
    made = window()
    made.prepare(long_talk(20))
    await made.compact()

    span = made.read_span(subject="/src/module_7.py")

    assert "line of module 7" in span.text


@requirement("window:compact:by-model")
async def test_a_model_writes_the_summary_when_one_is_given() -> None:
    made = window()
    talk = long_talk(20)
    made.prepare(talk)
    summary = "<analysis>thinking</analysis><summary>The user wants module 3 fixed and the tests left alone.</summary>"

    await made.compact(ScriptedModel([summary]))

    text = repr(made.prepare(talk).body["messages"])
    assert "wants module 3 fixed" in text
    assert "thinking" not in text


@requirement("window:prepare:fits")
def test_large_results_go_to_files_when_there_is_a_place(tmp_path: Path) -> None:
    talk = [
        user("run it"),
        assistant(ToolUse("t1", "Bash", {"command": "make"})),
        user(ToolResult("t1", "noise\n" * 20_000)),
    ]
    bash = {"name": "Bash", "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}}}

    request = window(directory=tmp_path).prepare(talk, tools=[bash])

    (file,) = (tmp_path / "tool-results").iterdir()
    assert file.read_text(encoding="utf-8") == "noise\n" * 20_000
    assert str(file) in repr(request.body)
    assert file.stat().st_mode & 0o777 == 0o600


@requirement("window:prepare:no-dead-pointers")
@pytest.mark.parametrize("offered", ["get_weather", "search_files", "spreadsheet"])
def test_no_pointer_is_given_that_no_tool_there_can_read(tmp_path: Path, offered: str) -> None:
    tools = [{"name": offered, "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}}}]
    talk: list[Message] = []
    for number in range(12):
        talk += [user(f"question {number}: " + "detail " * 300), assistant(ToolUse(f"t{number}", offered, {}))]
        talk += [user(ToolResult(f"t{number}", f"answer {number} " * 1_500)), assistant(f"so it is {number}")]
    talk += [user("and this"), assistant(ToolUse("last", offered, {})), user(ToolResult("last", "x y " * 30_000))]
    made = window(12_000, directory=tmp_path)
    bodies = [repr(made.prepare(talk[:end], tools=tools).body) for end in (3, 15, 31, len(talk))]

    assert any("compaction" in one.kind for one in made.receipts)
    for body in bodies:
        for claim in (str(tmp_path), "read again", "by its ids", "the whole message is"):
            assert claim not in body, claim
    assert not list(tmp_path.iterdir())


@requirement("window:prepare:follows")
def test_reported_usage_anchors_the_count() -> None:
    made = window()
    talk: Sequence[Message] = [user("one")]
    made.prepare(talk)
    made.observe(Usage(input_tokens=40_000, output_tokens=10))

    assert made.prepare([*talk, assistant("two"), user("three")]).report.tokens == pytest.approx(40_020, abs=40)


def _unmarked(messages: list[dict[str, object]]) -> str:
    return repr(messages).replace(", 'cache_control': {'type': 'ephemeral'}", "")
