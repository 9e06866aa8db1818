from __future__ import annotations

import pytest

from reverie.messages.blocks import Json, JsonObject
from reverie_simulator.answers import MessageAnswer, PromptCount
from reverie_simulator.rules.headers import COMPACTION_BETA
from reverie_simulator.script import ScriptAction, in_order
from reverie_simulator.wire import object_at, objects_at
from tests.requirements import requirement
from tests.simulator.requests import EPHEMERAL, WORDS, answer, assistant, headers, provider, request, user

HUGE = WORDS * 5_000
"""About 55,000 tokens for older models."""


def compacting(messages: list[JsonObject], **fields: Json) -> dict[str, Json]:
    edit: dict[str, Json] = {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 50_000}}
    if "pause" in fields:
        edit["pause_after_compaction"] = fields.pop("pause")
    return request(messages, model="claude-sonnet-4-6", context_management={"edits": [edit]}, **fields)


def iterations(answered: MessageAnswer) -> tuple[JsonObject, ...]:
    return objects_at(object_at(answered.message, "usage"), "iterations")


@requirement("simulator:edits:compaction")
def test_a_prompt_below_the_trigger_is_answered_in_one_iteration() -> None:
    answered = answer(provider(), compacting([user("short")]), COMPACTION_BETA)

    assert [entry["type"] for entry in iterations(answered)] == ["message"]
    assert answered.message["context_management"] == {"applied_edits": []}


@requirement("simulator:edits:compaction")
def test_a_prompt_above_it_is_summarised_first_and_billed_in_two_iterations() -> None:
    one = provider(in_order(ScriptAction(text="Hello!", summary="Fox.")))

    answered = answer(one, compacting([user(HUGE)]), COMPACTION_BETA)

    summary, reply = iterations(answered)
    usage = object_at(answered.message, "usage")
    assert objects_at(answered.message, "content") == (
        {"type": "compaction", "content": "Fox."},
        {"type": "text", "text": "Hello!"},
    )
    assert (summary["type"], reply["type"]) == ("compaction", "message")
    assert isinstance(summary["input_tokens"], int)
    assert summary["input_tokens"] > 50_000
    assert reply["input_tokens"] == usage["input_tokens"]
    assert isinstance(usage["input_tokens"], int)
    assert usage["input_tokens"] < 200
    assert answered.message["stop_reason"] == "end_turn"


@requirement("simulator:edits:compaction")
def test_the_summary_reads_and_writes_the_cache_of_the_conversation() -> None:
    one = provider()
    body = compacting([user(HUGE)], cache_control=dict(EPHEMERAL))

    first, second = answer(one, body, COMPACTION_BETA), answer(one, body, COMPACTION_BETA)

    created = iterations(first)[0]["cache_creation_input_tokens"]
    assert iterations(second)[0]["cache_read_input_tokens"] == created
    assert isinstance(created, int)
    assert created > 50_000
    assert iterations(first)[0]["input_tokens"] == iterations(second)[0]["input_tokens"] == 110


@requirement("simulator:edits:compaction")
def test_a_pause_ends_the_reply_with_the_summary_and_the_next_request_goes_on() -> None:
    one = provider()
    messages: list[JsonObject] = [user(HUGE)]

    paused = answer(one, compacting(messages, pause=True), COMPACTION_BETA)
    content = objects_at(paused.message, "content")
    goes_on = answer(one, compacting([*messages, assistant(*content)], pause=True), COMPACTION_BETA)

    assert paused.message["stop_reason"] == "compaction"
    assert [block["type"] for block in content] == ["compaction"]
    assert [entry["type"] for entry in iterations(paused)] == ["compaction"]
    assert object_at(paused.message, "usage")["output_tokens"] == 0
    assert goes_on.message["stop_reason"] == "end_turn"
    assert goes_on.outcomes[-1].usage.total_tokens < 300


@requirement("simulator:edits:compaction")
def test_everything_before_a_summary_is_dropped() -> None:
    one = provider()
    block: JsonObject = {"type": "compaction", "content": "What was said."}
    with_past = compacting([user(HUGE), assistant(block, "ok"), user("go on")], system="Be brief.")
    without_past = compacting([assistant(block, "ok"), user("go on")], system="Be brief.")

    long, short = answer(one, with_past, COMPACTION_BETA), answer(one, without_past, COMPACTION_BETA)

    assert long.outcomes[0].usage == short.outcomes[0].usage


@requirement("simulator:edits:compaction")
@pytest.mark.parametrize("content", [None])
def test_a_summary_that_failed_drops_nothing(content: Json) -> None:
    one = provider()
    block: JsonObject = {"type": "compaction", "content": content}
    plain = request([user(WORDS), assistant("ok"), user("go on")], model="claude-sonnet-4-6")
    failed = request([user(WORDS), assistant(block, "ok"), user("go on")], model="claude-sonnet-4-6")

    assert answer(one, failed, COMPACTION_BETA).outcomes[0].usage == answer(one, plain).outcomes[0].usage


@requirement("simulator:edits:compaction")
def test_a_scripted_failure_returns_an_empty_summary_and_answers_from_the_whole() -> None:
    answered = answer(provider(in_order(ScriptAction(summary=""))), compacting([user(HUGE)]), COMPACTION_BETA)

    assert objects_at(answered.message, "content")[0] == {"type": "compaction", "content": None}
    assert answered.outcomes[-1].usage.total_tokens > 50_000


@requirement("simulator:edits:compaction")
def test_counting_never_compacts() -> None:
    body = compacting([user(HUGE)])
    del body["max_tokens"]

    counted = provider().count(body, headers(COMPACTION_BETA))

    assert isinstance(counted, PromptCount)
    assert counted.tokens > 50_000
