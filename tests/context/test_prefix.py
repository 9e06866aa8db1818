from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.context.cache_breaks import Cause, detect, fingerprint, is_expired, predict, price
from reverie.context.prefix import cache_marks
from reverie.context.window import Window
from reverie.messages.blocks import RedactedThinking, Text, Thinking, ToolResult, ToolUse
from reverie.messages.entries import Entry, SystemBlock, ToolSpec
from reverie.messages.message import Message, Usage, assistant, user
from reverie.messages.rules import conform
from reverie.messages.view import View, project
from reverie.models.profiles import profile
from reverie.models.request_body import request_body
from reverie.settings import CacheSettings
from reverie.testing.prefix_net import check, classify
from reverie_simulator.provider import SimulatedProvider
from tests.requirements import requirement
from tests.strategies import conversations

MODEL = "claude-sonnet-4-5"
SYSTEM = (SystemBlock("for everybody " * 900, "static"), SystemBlock("for this session " * 900))
NOW = datetime(2026, 11, 1, tzinfo=UTC)


def turns(count: int, blocks: int = 1) -> list[Message]:
    """A growing conversation; each turn adds so many tool calls."""
    made: list[Message] = [user("begin " * 50)]
    for number in range(count):
        calls = [ToolUse(f"t{number}-{one}", "Read", {"n": one}) for one in range(blocks)]
        made.append(assistant(*calls))
        made.append(user(*(ToolResult(call.id, f"result {call.id} " * 40) for call in calls)))
    return made


@requirement("cache:marks:at-most-four")
@given(conversations(), st.booleans())
def test_there_are_at_most_four_marks_on_blocks_that_can_carry_them(made: list[Entry], with_tools: bool) -> None:
    seen = project(made)
    view = View(seen.items, SYSTEM, (ToolSpec("Read"),) if with_tools else ())
    messages = conform(view.messages)

    marks = cache_marks(view, messages, CacheSettings())

    assert len(marks) <= 4
    assert len({(mark.level, mark.index, mark.block) for mark in marks}) == len(marks)
    for mark in marks:
        if mark.level == "messages":
            block = messages[mark.index].content[mark.block]
            assert not isinstance(block, Thinking | RedactedThinking)
            assert not (isinstance(block, Text) and not block.text.strip())


@requirement("cache:marks:look-back")
@pytest.mark.parametrize("blocks", [1, 10, 30, 60])
def test_each_turn_reads_all_that_the_last_one_sent(blocks: int) -> None:
    window, provider = Window(MODEL, now=lambda: NOW), SimulatedProvider(seed=3)
    sent = 0
    for count in range(1, 5):
        request = window.prepare(turns(count, blocks), SYSTEM)
        served = provider.serve(request.body, NOW)
        assert served is not None

        assert served.outcome.usage.read_tokens >= 0.98 * sent
        sent = served.outcome.usage.total_tokens


@requirement("cache:prefix:extends")
@given(conversations())
def test_every_request_extends_the_one_before(made: list[Entry]) -> None:
    messages = conform(project(made).messages)
    window = Window(MODEL, now=lambda: NOW)
    ends = [n + 1 for n, message in enumerate(messages) if message.role == "user"]

    check(window.prepare(messages[:end], SYSTEM).body for end in ends)


@requirement("cache:prefix:pure")
@given(conversations())
def test_the_same_conversation_gives_the_same_bytes(made: list[Entry]) -> None:
    messages = conform(project(made).messages)
    window = Window(MODEL, now=lambda: NOW)

    first = window.prepare(messages, SYSTEM).body
    assert window.prepare(messages, SYSTEM).body == first
    assert Window(MODEL, now=lambda: NOW + timedelta(days=3)).prepare(list(messages), SYSTEM).body == first


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"model": "claude-opus-4-5"}, Cause.MODEL),
        ({"tools": [{"name": "Write", "input_schema": {}}]}, Cause.TOOLS),
        ({"system": [{"type": "text", "text": "other"}]}, Cause.SYSTEM),
        ({"messages": [{"role": "user", "content": "other"}]}, Cause.MEMORY),
    ],
)
@requirement("cache:breaks:named")
def test_a_break_is_named_by_what_moved(change: dict[str, object], cause: Cause) -> None:
    body = {
        "model": MODEL,
        "tools": [{"name": "Read", "input_schema": {}}],
        "system": [{"type": "text", "text": "system"}],
        "messages": [{"role": "user", "content": "first"}, {"role": "assistant", "content": "second"}],
    }

    parted = predict(fingerprint(body), fingerprint({**body, **change}))

    assert parted is not None
    assert parted.cause is cause
    assert 0 < parted.lost_share <= 1
    assert not parted.is_announced


@requirement("cache:breaks:named")
def test_an_edited_message_is_named_with_its_place() -> None:
    before = {"model": MODEL, "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
    after = {"model": MODEL, "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "c"}]}

    parted = predict(fingerprint(before), fingerprint(after), announced=("compaction",))

    assert parted is not None
    assert (parted.cause, parted.where, parted.is_announced) == (Cause.MESSAGE, "message 1, text", True)


@requirement("cache:breaks:named")
def test_marks_are_no_part_of_a_fingerprint() -> None:
    plain = {"model": MODEL, "messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]}]}
    marked = {
        "model": MODEL,
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]}
        ],
    }

    assert classify(plain, marked) == "identical"


@pytest.mark.parametrize(
    ("expected", "read", "missing"), [(100_000, 96_000, None), (100_000, 90_000, 10_000), (30_000, 28_500, None)]
)
@requirement("cache:breaks:detected")
def test_small_drops_are_no_breaks(expected: int, read: int, missing: int | None) -> None:
    assert detect(expected, Usage(cache_read_tokens=read), CacheSettings()) == missing


@requirement("cache:breaks:detected")
def test_the_window_reports_a_break_that_only_the_usage_shows() -> None:
    clock = [NOW]
    window = Window(MODEL, now=lambda: clock[0])
    window.prepare(turns(1), SYSTEM)
    assert window.observe(Usage(cache_write_tokens=50_000)) is None
    window.prepare(turns(2), SYSTEM)
    lost = window.observe(Usage(cache_write_tokens=51_000))
    clock[0] += timedelta(minutes=6)
    window.prepare(turns(3), SYSTEM)
    expired = window.observe(Usage(cache_write_tokens=52_000))

    assert lost is not None
    assert (lost.cause, lost.lost_tokens) == (Cause.UNKNOWN, 50_000)
    assert lost.cost_usd == price(50_000, profile(MODEL))
    assert expired is not None
    assert expired.cause is Cause.TIME


def test_an_entry_lives_as_long_as_it_was_asked_to() -> None:
    assert not is_expired(timedelta(minutes=4), "5m")
    assert is_expired(timedelta(minutes=5), "5m")
    assert not is_expired(timedelta(minutes=59), "1h")


@requirement("cache:marks:at-most-four")
def test_caching_can_be_switched_off() -> None:
    from dataclasses import replace

    from reverie.settings import Settings

    settings = replace(Settings(), cache=replace(CacheSettings(), enabled=False))

    body = Window(MODEL, settings, now=lambda: NOW).prepare(turns(2), SYSTEM).body

    assert "cache_control" not in repr(body)


def test_a_model_without_a_cache_gets_no_marks() -> None:
    request = Window("local-model", now=lambda: NOW).prepare(turns(2), SYSTEM).request

    assert request.cache_marks == ()
    assert "cache_control" not in repr(request_body(request))


@requirement("cache:marks:lifetime")
@pytest.mark.parametrize(
    ("minutes", "setting", "ttl"),
    [(1, "auto", "5m"), (7, "auto", "1h"), (90, "auto", "5m"), (7, "5m", "5m"), (1, "1h", "1h")],
)
def test_the_conversation_is_kept_longer_once_the_user_has_paused(
    minutes: int, setting: Literal["auto", "5m", "1h"], ttl: str
) -> None:
    from dataclasses import replace

    from reverie.settings import Settings

    clock = [NOW]
    settings = replace(Settings(), cache=replace(CacheSettings(), ttl=setting, system_ttl="5m"))
    window = Window(MODEL, settings, now=lambda: clock[0])
    window.prepare([user("one")])
    clock[0] += timedelta(minutes=minutes)

    request = window.prepare([user("one"), assistant("two"), user("three")]).request

    assert {mark.ttl for mark in request.cache_marks if mark.level == "messages"} == {ttl}
    # What lives an hour may not stand behind what lives five minutes.
    lifetimes = [mark.ttl for mark in request.cache_marks]
    assert lifetimes == sorted(lifetimes)
