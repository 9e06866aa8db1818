from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reverie.context.cache_breaks import Break, CacheWatch, Cause
from reverie.messages.blocks import JsonObject, Opaque
from reverie.messages.message import Usage, assistant, user
from reverie.models.profiles import profile
from reverie.settings import CacheSettings
from reverie.testing.build import request
from tests.requirements import requirement

NOW = datetime(2026, 11, 1, tzinfo=UTC)
SYSTEM_TOKENS = 20_000
COMPACTED = Break(Cause.MESSAGE, "message 0, text", 0.75, is_announced=True, kept_bytes=60_000)


def watch() -> CacheWatch:
    return CacheWatch(profile("claude-sonnet-4-5"), CacheSettings())


def full() -> Usage:
    return Usage(input_tokens=10, cache_read_tokens=100_000, cache_write_tokens=2_000)


def after_compaction(read: int) -> Usage:
    return Usage(input_tokens=10, cache_read_tokens=read, cache_write_tokens=25_000)


@requirement("cache:breaks:detected")
def test_what_was_read_of_the_rest_once_is_expected_of_the_same_rest_again() -> None:
    seen = watch()
    seen.observe(full(), None, None, NOW)
    assert seen.observe(after_compaction(SYSTEM_TOKENS), None, COMPACTED, NOW) is None
    seen.observe(full(), None, None, NOW)

    lost = seen.observe(after_compaction(SYSTEM_TOKENS - 5_000), None, COMPACTED, NOW)
    assert lost is not None
    assert lost.lost_tokens == 5_000, "half of what the bytes amount to would have been content with this"


@requirement("cache:breaks:detected")
def test_the_first_time_a_rest_is_known_only_roughly() -> None:
    seen = watch()
    seen.observe(full(), None, None, NOW)
    assert seen.observe(after_compaction(13_000), None, COMPACTED, NOW) is None

    strict = watch()
    strict.observe(full(), None, None, NOW)
    assert strict.observe(after_compaction(0), None, COMPACTED, NOW) is not None


@requirement("cache:breaks:detected")
def test_a_rest_that_was_lost_teaches_nothing() -> None:
    seen = watch()
    for _ in range(2):
        seen.observe(full(), None, None, NOW)
        assert seen.observe(after_compaction(0), None, COMPACTED, NOW) is not None


@requirement("cache:breaks:detected")
@pytest.mark.parametrize(("minutes", "cause"), [(1, Cause.UNKNOWN), (6, Cause.TIME)])
def test_a_prefix_that_nobody_moved_is_expected_whole(minutes: int, cause: Cause) -> None:
    seen = watch()
    seen.observe(full(), None, None, NOW)

    lost = seen.observe(after_compaction(60_000), None, None, NOW + timedelta(minutes=minutes))
    assert lost is not None
    assert (lost.cause, lost.lost_tokens) == (cause, 42_000)


EDIT: JsonObject = {"type": "clear_tool_uses_20250919", "cleared_tool_uses": 4, "cleared_input_tokens": 40_000}


@requirement("cache:breaks:announced")
def test_what_the_provider_clears_is_no_break_and_what_follows_is_watched_again() -> None:
    seen = watch()
    seen.observe(full(), None, None, NOW)
    assert seen.observe(after_compaction(30_000), None, None, NOW, [EDIT]) is None
    assert seen.observe(after_compaction(55_000), None, None, NOW, [EDIT]) is None

    assert seen.observe(after_compaction(10_000), None, None, NOW, [EDIT]) is not None


@requirement("cache:breaks:announced")
def test_what_we_have_the_provider_delete_is_no_break() -> None:
    deletes = Opaque({"type": "cache_edits", "edits": [{"type": "delete", "cache_reference": "c1"}]})
    before, after = request("hi"), request("hi", assistant("ok"), user(deletes))
    seen = watch()
    seen.observe(full(), before, None, NOW)
    assert seen.observe(after_compaction(30_000), after, None, NOW) is None

    assert seen.observe(after_compaction(10_000), after, None, NOW) is not None
