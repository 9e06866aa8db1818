from __future__ import annotations

import pytest

from reverie.messages.blocks import Json
from reverie_simulator.rules.headers import INTERLEAVED_BETA
from reverie_simulator.wire import objects_at
from tests.requirements import requirement
from tests.simulator.requests import (
    answer,
    assistant,
    call,
    provider,
    refusal,
    request,
    result,
    tool,
    user,
)
from tests.simulator.rules.damage import assert_refused

GUIDE = "https://docs.claude.com/en/docs/build-with-claude/extended-thinking"


def thinking(**fields: Json) -> dict[str, Json]:
    enabled: dict[str, Json] = {"type": "enabled", "budget_tokens": 2_000}
    return {**request(model="claude-sonnet-4-5", max_tokens=4_000, thinking=enabled), **fields}


def thinking_about(*messages: Json) -> dict[str, Json]:
    return {**thinking(), "messages": list(messages)}


REASONING = [
    (
        thinking(max_tokens=1_000),
        (
            "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at "
            f"{GUIDE}#max-tokens-and-context-window-size"
        ),
    ),
    (thinking(temperature=0.5), "`temperature` may only be set to 1 when thinking is enabled. Please consult…"),
    (thinking(top_p=0.5), "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled. Please…"),
    (thinking(top_k=5), "`top_k` must be unset when thinking is enabled. Please consult…"),
    (
        thinking(tools=[tool()], tool_choice={"type": "any"}),
        "Thinking may not be enabled when tool_choice forces tool use.",
    ),
    (
        thinking(model="claude-opus-4-8"),
        (
            '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and '
            '"output_config.effort" to control thinking behavior.'
        ),
    ),
    (
        thinking(thinking={"type": "adaptive"}),
        "adaptive thinking is not supported on this model",
    ),
    (
        thinking_about(user("x"), assistant("let me see", call("a")), user(result("a"))),
        (
            "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`. When `thinking` "
            "is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of "
            "`tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To "
            f"avoid this requirement, disable `thinking`. Please consult our documentation at {GUIDE}"
        ),
    ),
    (
        thinking_about(
            user("x"), assistant({"type": "thinking", "thinking": "hm", "signature": ""}, call("a")), user(result("a"))
        ),
        "messages.1.content.0: Invalid `signature` in `thinking` block",
    ),
    (
        thinking(
            messages=[user("x"), assistant({"type": "thinking", "thinking": "hm", "signature": "s"}, "so")],
            thinking={"type": "disabled"},
        ),
        (
            "messages.1.content.0: When thinking is disabled, an `assistant` message in the final position cannot "
            "contain `thinking`. To use thinking blocks, enable `thinking` in your request."
        ),
    ),
]


@requirement("simulator:rules:error-shapes")
@pytest.mark.parametrize(("body", "words"), REASONING, ids=[words[:60] for _, words in REASONING])
def test_reasoning_that_breaks_a_rule_is_refused(body: Json, words: str) -> None:
    assert_refused(body, words)


@requirement("simulator:rules:error-shapes")
def test_interleaved_thinking_may_have_a_budget_above_the_reply() -> None:
    body = thinking(max_tokens=1_500)

    assert answer(provider(), body, INTERLEAVED_BETA).message["type"] == "message"


@requirement("simulator:rules:error-shapes")
def test_reasoning_that_comes_back_changed_is_refused() -> None:
    one = provider()
    first = answer(one, thinking(tools=[tool()]))
    block = objects_at(first.message, "content")[0]
    sent_back = thinking_about(user("x"), assistant(block, call("a")), user(result("a")))
    changed = thinking_about(user("x"), assistant({**block, "thinking": "other"}, call("a")), user(result("a")))

    assert answer(one, sent_back).message["type"] == "message"
    assert refusal(one, changed).error.message == ("messages.1.content.0: Invalid `signature` in `thinking` block")


@requirement("simulator:rules:error-shapes")
@pytest.mark.parametrize(
    "body",
    [
        thinking_about(
            user("x"),
            assistant({"type": "thinking", "thinking": "hm", "signature": "c2ln"}, call("a")),
            user(result("a")),
        ),
        thinking_about(user("x"), assistant("no thoughts"), user("and now?")),
    ],
)
def test_sound_reasoning_is_answered(body: Json) -> None:
    assert answer(provider(), body).message["type"] == "message"
