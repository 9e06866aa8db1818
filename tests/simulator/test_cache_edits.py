"""The extension by which a client removes tool results from a cached prefix."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reverie.messages.blocks import Json, JsonObject
from reverie_simulator.provider import SimulatedProvider
from reverie_simulator.rules.headers import CACHE_EDITS_BETA
from reverie_simulator.wire import object_at
from tests.requirements import requirement
from tests.simulator.requests import EPHEMERAL, WORDS, answer, assistant, call, provider, request, result, serve, user


def turn(number: int) -> list[JsonObject]:
    return [assistant(call(f"t{number}")), user(result(f"t{number}", f"{number} {WORDS * 120}"))]


def deleting(*names: str) -> JsonObject:
    return {"type": "cache_edits", "edits": [{"type": "delete", "cache_reference": name} for name in names]}


def with_block(message: JsonObject, block: JsonObject) -> JsonObject:
    content = message["content"]
    assert isinstance(content, list)
    return {**message, "content": [*content, dict(block)]}


def sent(one: SimulatedProvider, messages: list[JsonObject]) -> tuple[int, int, int]:
    """Tokens read, written and deleted."""
    usage = serve(one, request(messages, cache_control=dict(EPHEMERAL))).outcome.usage
    return usage.read_tokens, usage.written_tokens, usage.deleted_tokens


@requirement("simulator:edits:cache-edits")
def test_a_deletion_keeps_the_prefix_and_leaves_the_result_out_of_it() -> None:
    one = provider()
    messages = [user("task"), *turn(0), *turn(1), *turn(2)]
    _, whole, _ = sent(one, messages)
    edited = [*messages[:-1], with_block(messages[-1], deleting("t0", "t1"))]

    read, written, deleted = sent(one, [*edited, *turn(3)])

    assert deleted > 0
    assert read == whole - deleted
    assert 0 < written < whole


@requirement("simulator:edits:cache-edits")
@given(data=st.data())
def test_replayed_at_the_same_places_deletions_never_cost_the_prefix(data: st.DataObject) -> None:
    one = provider()
    messages: list[JsonObject] = [user("task"), *turn(0), *turn(1)]
    alive = ["t0", "t1"]
    _, cached, deleted = sent(one, messages)

    for number in range(2, 2 + data.draw(st.integers(1, 4))):
        gone = data.draw(st.lists(st.sampled_from(alive), unique=True, max_size=2))
        if gone:
            messages[-1] = with_block(messages[-1], deleting(*gone))
        messages += turn(number)
        alive = [*(name for name in alive if name not in gone), f"t{number}"]
        read, written, deleted_now = sent(one, messages)

        assert read == cached - (deleted_now - deleted)
        cached, deleted = read + written, deleted_now


@requirement("simulator:edits:cache-edits")
def test_a_deletion_that_is_not_replayed_changes_the_prefix_from_its_place_on() -> None:
    one = provider()
    messages = [user("task"), *turn(0), *turn(1)]
    sent(one, messages)
    edited = [*messages[:-1], with_block(messages[-1], deleting("t0"))]
    longer = [*edited, *turn(2)]
    _, _, deleted = sent(one, longer)

    forgotten = sent(one, [*messages, *turn(2), *turn(3)])
    moved = sent(one, [*messages, *turn(2)[:1], with_block(turn(2)[1], deleting("t0")), *turn(3)])
    replayed = sent(one, [*longer, *turn(3)])

    before_the_edit = sent(one, messages)[0]
    assert forgotten[0] == before_the_edit
    assert moved[0] == before_the_edit - deleted
    assert replayed[0] > before_the_edit - deleted


@requirement("simulator:edits:cache-edits")
def test_the_reply_reports_what_was_deleted() -> None:
    messages = [user("task"), *turn(0), *turn(1)]
    edited = [*messages[:-1], with_block(messages[-1], deleting("t0"))]

    usage = object_at(answer(provider(), request(edited), CACHE_EDITS_BETA).message, "usage")
    without = object_at(answer(provider(), request(messages)).message, "usage")

    assert isinstance(usage["cache_deleted_input_tokens"], int)
    assert usage["cache_deleted_input_tokens"] > 0
    assert _total(usage) + usage["cache_deleted_input_tokens"] == _total(without)
    assert "cache_deleted_input_tokens" not in without


def _total(usage: JsonObject) -> int:
    value: Json = usage["input_tokens"]
    assert isinstance(value, int)
    return value
