from __future__ import annotations

import pytest

from reverie.messages.blocks import Json
from tests.requirements import requirement
from tests.simulator.requests import EPHEMERAL, HOUR, answer, provider, request, text, tool, user
from tests.simulator.rules.damage import assert_refused, content

TOO_MANY_MARKS = [
    request([user(*(text(f"{n}", EPHEMERAL) for n in range(5)))]),
    request([user(*(text(f"{n}", EPHEMERAL) for n in range(4)), "end")], cache_control=dict(EPHEMERAL)),
    request(
        [user(text("a", EPHEMERAL), text("b", EPHEMERAL))],
        tools=[tool(cache_control=dict(EPHEMERAL))],
        system=[text("c", EPHEMERAL), text("d", EPHEMERAL)],
    ),
]

MARKS = [
    *((body, "A maximum of 4 blocks with cache_control may be provided. Found 5.") for body in TOO_MANY_MARKS),
    (
        content(text("x", {"type": "forever"})),
        (
            "messages.0.content.0.text.cache_control: Input tag 'forever' found using 'type' does not match any of the "
            "expected tags: 'ephemeral'"
        ),
    ),
    (
        content(text("x", {"type": "ephemeral", "ttl": "2h"})),
        "messages.0.content.0.text.cache_control.ephemeral.ttl: Input should be '5m' or '1h'",
    ),
    (
        content(text("", EPHEMERAL), text("x")),
        "messages.0.content.0.text: cache_control cannot be set for empty text blocks",
    ),
    (request(system=[text("", EPHEMERAL)]), "system.0: cache_control cannot be set for empty text blocks"),
    (
        content(text("x", EPHEMERAL), text("y", HOUR)),
        (
            "messages.0.content.1.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' "
            "cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`."
        ),
    ),
    (
        request(system=[text("x", HOUR)], tools=[tool(cache_control=dict(EPHEMERAL))]),
        "system.0.cache_control.ttl: a ttl='1h' cache_control block must not come after…",
    ),
    (
        {**content(text("x", EPHEMERAL)), "cache_control": dict(HOUR)},
        (
            "cache_control.ttl: the top-level cache_control has ttl='1h' but the last cacheable block already has a "
            "cache_control with ttl='5m'"
        ),
    ),
]


@requirement("simulator:rules:error-shapes")
@pytest.mark.parametrize(("body", "words"), MARKS, ids=[words[:60] for _, words in MARKS])
def test_cache_marks_that_break_a_rule_are_refused(body: Json, words: str) -> None:
    assert_refused(body, words)


@requirement("simulator:cache:marks")
def test_a_top_level_mark_that_falls_on_a_marked_block_is_not_counted_twice() -> None:
    marked = [user(*(text(f"{number}", EPHEMERAL) for number in range(4)))]

    assert answer(provider(), request(marked, cache_control=dict(EPHEMERAL))).message["type"] == "message"
