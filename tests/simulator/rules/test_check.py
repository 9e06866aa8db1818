""""""

from __future__ import annotations

import pytest

from reverie.messages.blocks import Json
from reverie_simulator.answers import ErrorAnswer
from reverie_simulator.rules.headers import CACHE_EDITS_BETA, COMPACTION_BETA, CONTEXT_MANAGEMENT_BETA
from tests.requirements import requirement
from tests.simulator.requests import (
    EPHEMERAL,
    HOUR,
    answer,
    assistant,
    call,
    headers,
    provider,
    refusal,
    request,
    result,
    text,
    tool,
    user,
)
from tests.simulator.rules.damage import assert_refused, content

TOOLS = [
    (request(tools=[tool(), tool()]), "tools: Tool names must be unique."),
    (
        request(tool_choice={"type": "auto"}),
        "tool_choice: `tool_choice` may only be specified while providing `tools`.",
    ),
    (
        request(tools=[tool()], tool_choice={"type": "tool", "name": "Write"}),
        "Tool 'Write' not found in provided tools",
    ),
]

REPLIES = [
    (
        request(max_tokens=0),
        "max_tokens: Input should be greater than or equal to 1",
    ),
    (
        request(max_tokens=0, cache_control=dict(EPHEMERAL), stream=True),
        "max_tokens: Input should be greater than or equal to 1",
    ),
    (
        request(max_tokens=200_000),
        "max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens for claude-opus-4-8",
    ),
    (request(temperature=1), "`temperature` is deprecated for this model."),
    (request(top_p=0.5, model="claude-opus-5"), "`top_p` is deprecated for this model."),
    (request(temperature=1.5, model="claude-sonnet-4-5"), "temperature: range: 0..1"),
    (request(temperature=-1, model="claude-sonnet-4-5"), "temperature: range: 0..1"),
    (request(temperature="hot", model="claude-sonnet-4-5"), "temperature: Input should be a valid number"),
    (
        request(temperature=0.5, top_p=0.5, model="claude-sonnet-4-5"),
        "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
    ),
]


@requirement("simulator:rules:error-shapes")
@pytest.mark.parametrize(("body", "words"), [*TOOLS, *REPLIES], ids=[words[:60] for _, words in [*TOOLS, *REPLIES]])
def test_settings_that_break_a_rule_are_refused(body: Json, words: str) -> None:
    assert_refused(body, words)


@requirement("simulator:rules:error-shapes")
def test_an_unknown_model_is_a_404() -> None:
    error = refusal(provider(), request(model="claude-does-not-exist")).error

    assert (error.status, error.message) == (404, "model: claude-does-not-exist")
    assert error.as_json(None)["error"] == {"type": "not_found_error", "message": "model: claude-does-not-exist"}


EDITS = [
    ([{"type": "clear_everything"}], "context_management.edits.0: Input tag 'clear_everything' found using 'type'"),
    (
        [{"type": "compact_20260112"}],
        (
            "context_management.edits.0: Input tag 'compact_20260112' found using 'type' does not match any of the "
            "expected tags: 'clear_thinking_20251015', 'clear_tool_uses_20250919'"
        ),
    ),
    (
        [{"type": "clear_thinking_20251015"}],
        "`clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive",
    ),
    (
        [{"type": "clear_tool_uses_20250919"}, {"type": "clear_thinking_20251015"}],
        "context_management.edits: `clear_thinking_20251015` strategy must be first in the list of edits",
    ),
    (
        [{"type": "clear_tool_uses_20250919"}, {"type": "clear_tool_uses_20250919"}],
        "context_management.edits: `clear_tool_uses_20250919` may only be specified once",
    ),
    (
        [{"type": "clear_tool_uses_20250919", "trigger": {"type": "input_tokens", "value": "many"}}],
        (
            "context_management.edits.0.clear_tool_uses_20250919.trigger.input_tokens.value: Input should be a valid "
            "integer"
        ),
    ),
    (
        [{"type": "clear_tool_uses_20250919", "keep": {"type": "thinking_turns", "value": 1}}],
        "context_management.edits.0.clear_tool_uses_20250919.keep: Input tag 'thinking_turns' found using 'type'",
    ),
    (
        [{"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 0}}],
        (
            "context_management.edits.0.clear_thinking_20251015.keep.thinking_turns.value: Input should be greater "
            "than or equal to 1"
        ),
    ),
    (
        [{"type": "clear_tool_uses_20250919", "clear": True}],
        "context_management.edits.0.clear_tool_uses_20250919.clear: Extra inputs are not permitted",
    ),
]


@requirement("simulator:rules:error-shapes")
@pytest.mark.parametrize(("edits", "words"), EDITS, ids=[words[:70] for _, words in EDITS])
def test_damaged_context_edits_get_the_providers_words(edits: Json, words: str) -> None:
    body = request(context_management={"edits": edits})

    assert refusal(provider(), body, CONTEXT_MANAGEMENT_BETA).error.message.startswith(words)


@requirement("simulator:rules:error-shapes")
def test_compaction_has_a_smallest_trigger_and_needs_a_model_that_can() -> None:
    low: Json = {"edits": [{"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 10}}]}
    plain: Json = {"edits": [{"type": "compact_20260112"}]}

    too_low = refusal(provider(), request(context_management=low), COMPACTION_BETA).error.message
    too_old = refusal(
        provider(), request(context_management=plain, model="claude-sonnet-4-5"), COMPACTION_BETA
    ).error.message

    assert too_low == (
        "context_management.edits.0.compact_20260112.trigger.input_tokens.value: Input should be greater than or equal "
        "to 50000"
    )
    assert too_old == "context_management.edits.0: compaction is not supported on this model"


CACHE_EDITS = [
    ([user("x", {"type": "cache_edits", "edits": []})], "messages.0.content.1.cache_edits.edits: List should have at"),
    (
        [user("x", {"type": "cache_edits", "edits": [{"type": "delete", "cache_reference": "a"}]})],
        (
            "messages.0.content.1.cache_edits.edits.0.cache_reference: no `tool_result` block with id a was found "
            "before this block"
        ),
    ),
    (
        [
            user("x"),
            assistant(call("a")),
            user(
                result("a"),
                {"type": "cache_edits", "edits": [{"type": "delete", "cache_reference": "a"}]},
                {"type": "cache_edits", "edits": [{"type": "delete", "cache_reference": "a"}]},
            ),
        ],
        (
            "messages.2.content.2.cache_edits.edits.0.cache_reference: a was already deleted by an earlier "
            "`cache_edits` block"
        ),
    ),
    (
        [
            user("x"),
            assistant({"type": "cache_edits", "edits": [{"type": "delete", "cache_reference": "a"}]}),
            user("y"),
        ],
        "messages.1: `cache_edits` blocks can only be in `user` messages",
    ),
]


@requirement("simulator:rules:error-shapes", "simulator:edits:cache-edits")
@pytest.mark.parametrize(("messages", "words"), CACHE_EDITS, ids=[words[:60] for _, words in CACHE_EDITS])
def test_damaged_cache_edits_say_what_is_wrong(messages: list[dict[str, Json]], words: str) -> None:
    assert refusal(provider(), request(messages), CACHE_EDITS_BETA).error.message.startswith(words)


@requirement("simulator:edits:cache-edits")
def test_without_its_header_the_extension_does_not_exist() -> None:
    edit: Json = {"type": "cache_edits", "edits": [{"type": "delete", "cache_reference": "a"}]}

    message = refusal(provider(), content(text("x"), edit)).error.message

    assert message.startswith("messages.0.content.1: Input tag 'cache_edits' found using 'type'")
    assert "'cache_edits'" not in message.split("expected tags:")[1]


SOUND = [
    request(),
    request([{"role": "user", "content": "plain"}], system="plain"),
    request([user("x"), user("y")]),
    request([user("x"), assistant("y"), assistant("z"), user("w")]),
    request([user("x"), assistant("so")], model="claude-sonnet-4-5"),
    request([user("x"), assistant(call("a"), call("b")), user(result("a")), user(result("b"), "thanks")]),
    request([user("x"), assistant(call("a")), user({"type": "tool_result", "tool_use_id": "a"})]),
    request([user("x"), {"role": "system", "content": "be brief"}]),
    request(max_tokens=0, cache_control=dict(EPHEMERAL)),
    request(tools=[tool(), {"type": "memory_20250818", "name": "memory"}], tool_choice={"type": "auto"}),
    request(thinking={"type": "adaptive"}, output_config={"effort": "low"}),
    request(system=[text("a", HOUR), text("b", EPHEMERAL)], cache_control=dict(EPHEMERAL)),
    {**content(text("x", EPHEMERAL)), "cache_control": dict(EPHEMERAL)},
]


@requirement("simulator:rules:error-shapes")
@pytest.mark.parametrize("body", SOUND, ids=range(len(SOUND)))
def test_sound_requests_are_answered(body: Json) -> None:
    assert answer(provider(), body).message["type"] == "message"


@requirement("simulator:rules:error-shapes")
@pytest.mark.parametrize("field", ["max_tokens", "stream", "metadata", "temperature"])
def test_counting_takes_only_what_shapes_the_prompt(field: str) -> None:
    body = request(stream=True, metadata={}, temperature=1)
    allowed = {"model", "messages", field}

    refused = provider().count({key: value for key, value in body.items() if key in allowed}, headers())

    assert isinstance(refused, ErrorAnswer)
    assert refused.error.message == f"{field}: Extra inputs are not permitted"


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
