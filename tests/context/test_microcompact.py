from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.context.cache_edits import find_deleted
from reverie.context.microcompact import api_clearing, clearable, microcompact
from reverie.context.stage import NOTHING
from reverie.messages.entries import Entry
from reverie.messages.records import CLEARED
from reverie.models.tokens.window import budget
from reverie.settings import ApiClearing, CachedClearing, CacheSettings, ClearingSettings, TimeClearing
from reverie.testing.build import picture, tool_result
from tests.context.kit import Session, grown, long_session, resumed
from tests.messages.violations import violations
from tests.requirements import requirement
from tests.strategies import conversations

REPLIED = datetime(2026, 11, 1, 10, 0, tzinfo=UTC)
CACHED = ClearingSettings(cached=CachedClearing(enabled=True, trigger_results=4, keep_results=2))


def after_minutes(session: Session, minutes: float) -> Session:
    session.now = REPLIED + timedelta(minutes=minutes)
    return session


def cleared(session: Session) -> list[str]:
    return [
        result.tool_use_id
        for item in session.view.items
        for result in item.message.tool_results
        if result.text == CLEARED
    ]


def many(results: int = 9) -> Session:
    session = Session().say("go")
    for number in range(results):
        session.work("Bash", f"{number} " + "output " * 40, command="ls")
    return session.reply("done")


@requirement("context:clear:pause")
@pytest.mark.parametrize(
    ("cache", "gap", "minutes", "gone"),
    [
        (CacheSettings(), None, 4.9, 0),
        (CacheSettings(), None, 5, 4),
        (CacheSettings(ttl="1h"), None, 59.9, 0),
        (CacheSettings(ttl="1h"), None, 60, 4),
        (CacheSettings(ttl="1h"), 10, 10, 4),
        (CacheSettings(), 30, 29.9, 0),
    ],
)
def test_results_go_when_the_cache_is_gone_and_the_newest_five_stay(
    cache: CacheSettings, gap: int | None, minutes: float, gone: int
) -> None:
    session = after_minutes(many(), minutes)
    settings = ClearingSettings(time=TimeClearing(gap_minutes=gap))
    session.take(microcompact(settings, cache)(session.view, session.scene(1_500)))

    assert cleared(session) == [f"call_{number + 1}" for number in range(gone)]


@requirement("context:clear:pause")
def test_a_conversation_that_is_kept_for_an_hour_since_an_earlier_pause_waits_for_that_hour() -> None:
    session = many()
    session.stamp = "2026-11-01T10:10:00.000Z"
    after_minutes(session.say("go on").reply("done"), 40)

    assert microcompact(ClearingSettings())(session.view, session.scene(1_500)) is NOTHING


@requirement("context:clear:pause")
def test_a_window_that_is_half_empty_is_left_alone_however_long_the_pause() -> None:
    session = after_minutes(many(), 600)

    assert microcompact(ClearingSettings())(session.view, session.scene(100_000)) is NOTHING


@requirement("context:clear:pause")
def test_a_keep_of_none_is_raised_to_one() -> None:
    session = after_minutes(many(), 600)
    settings = ClearingSettings(time=TimeClearing(keep_results=0))
    session.take(microcompact(settings)(session.view, session.scene(1_000)))

    assert len(cleared(session)) == 8


@requirement("context:clear:pause")
def test_other_tools_pins_and_short_results_stay_and_pictures_go() -> None:
    session = Session().say("go")
    session.work("mcp__db__query", "row " * 50).work("Bash", "ok").work("Read", "text " * 50)
    pin = session.uuid()
    session.call("Read", file_path="a.png").say(tool_result(f"call_{session.calls}", picture()))

    assert [call for call, _ in clearable(session.view.items, ClearingSettings(), pinned={pin})] == ["call_4"]
    chosen = ClearingSettings(tools=("mcp__db__query",))
    assert [call for call, _ in clearable(session.view.items, chosen)] == ["call_1"]


@requirement("context:clear:cached")
def test_the_server_is_asked_once_and_the_question_stays_where_it_was() -> None:
    session = many(6)
    session.edits_cache = True
    stage = microcompact(CACHED)
    session.take(stage(session.view, session.scene()))
    asked = session.view

    assert find_deleted(asked.items) == {"call_1", "call_2", "call_3", "call_4"}
    assert not cleared(session)
    assert stage(session.view, session.scene()) is NOTHING
    session.say("go on")
    assert session.view.items[: len(asked.items)] == asked.items
    session.entries = resumed(session.entries)
    assert session.view.items[: len(asked.items)] == asked.items


@requirement("context:clear:cached")
def test_a_provider_without_such_edits_is_not_asked() -> None:
    assert microcompact(CACHED)(many(9).view, many(9).scene()) is NOTHING


@requirement("context:clear:cached")
def test_clearing_after_a_pause_forgets_what_the_server_was_asked_to_delete() -> None:
    session = many(9)
    session.edits_cache = True
    stage = microcompact(CACHED)
    session.take(stage(session.view, session.scene()))
    after_minutes(session, 61)
    outcome = stage(session.view, session.scene(1_500))
    session.take(outcome)

    assert [reduction.detail for reduction in outcome.reductions] == ["after a pause"]
    assert cleared(session) == ["call_1", "call_2", "call_3", "call_4"]
    assert not find_deleted(session.view.items)


@requirement("context:clear:api")
@pytest.mark.parametrize("window", [20_000, 200_000, 1_000_000])
def test_the_providers_own_clearing_fires_before_compaction(window: int) -> None:
    lines = budget(window, 64_000)
    edits = api_clearing(ClearingSettings(api=ApiClearing(enabled=True)), lines, thinks=True)

    assert isinstance(edits[1], dict)
    trigger, least = edits[1]["trigger"], edits[1]["clear_at_least"]
    assert isinstance(trigger, dict)
    assert isinstance(least, dict)
    assert int(str(least["value"])) < int(str(trigger["value"])) <= lines.warning_tokens
    assert api_clearing(ClearingSettings(api=ApiClearing(enabled=True)), lines, thinks=False) == edits[1:]
    assert api_clearing(ClearingSettings(), lines, thinks=True) == []


@requirement("context:stages:laws")
@given(conversations(max_rounds=8), st.integers(0, 3))
def test_clearing_keeps_the_laws(made: list[Entry], keep: int) -> None:
    session = after_minutes(grown(made), 24 * 60)
    before, tokens = session.view, session.tokens()
    settings = ClearingSettings(time=TimeClearing(min_fill_fraction=0, keep_results=keep))
    stage = microcompact(settings)
    session.take(stage(before, replace(session.scene(), budget=budget(1_000, used_tokens=max(1, tokens)))))

    assert session.tokens() <= tokens
    assert violations(session.view.messages) == violations(before.messages)
    assert stage(session.view, session.scene(1_000)) is NOTHING


def test_a_long_session_loses_only_results() -> None:
    session = after_minutes(long_session(), 61)
    before = [item.message.text for item in session.view.items]
    session.take(microcompact(ClearingSettings())(session.view, session.scene(12_000)))

    assert cleared(session)
    assert [item.message.text for item in session.view.items] == before
