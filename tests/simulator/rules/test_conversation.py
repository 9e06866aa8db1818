from __future__ import annotations

import pytest

from reverie.messages.blocks import Json
from tests.requirements import requirement
from tests.simulator.requests import (
    assistant,
    call,
    request,
    result,
    text,
    user,
)
from tests.simulator.rules.damage import assert_refused, content

CONVERSATIONS = [
    (request([]), "messages: at least one message is required"),
    (request([assistant("hello"), user("x")]), 'messages: first message must use the "user" role'),
    (
        request([user("x"), {"role": "assistant", "content": []}, user("y")]),
        "messages.1: all messages must have non-empty content except for the optional final assistant message",
    ),
    (
        request([{"role": "user", "content": ""}]),
        "messages.0: all messages must have non-empty content except for the optional final assistant message",
    ),
    (content(text("")), "messages: text content blocks must be non-empty"),
    (content(text(" \n")), "messages: text content blocks must contain non-whitespace text"),
    (
        request([user("x"), assistant(call("a")), user(result("a", [text("")]))]),
        "messages: text content blocks must be non-empty",
    ),
    (request(system=[text("")]), "system: text content blocks must be non-empty"),
    (
        request([{"role": "user", "content": [call("a")]}]),
        "messages.0: `tool_use` blocks can only be in `assistant` messages",
    ),
    (
        request([user("x"), assistant(result("a")), user("y")]),
        "messages.1: `tool_result` blocks can only be in `user` messages",
    ),
    (
        request([user({"type": "thinking", "thinking": "a", "signature": "b"})]),
        "messages.0: `thinking` blocks can only be in `assistant` messages",
    ),
    (
        request([user("x"), assistant(call("a")), user("and then?")]),
        (
            "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. Each `tool_use` "
            "block must have a corresponding `tool_result` block in the next message."
        ),
    ),
    (
        request([user("x"), assistant(call("a"), call("b")), user(result("a"))]),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b. Each…",
    ),
    (
        request([user("x"), assistant(call("a")), user("first this", result("a"))]),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. Each…",
    ),
    (
        request([user("x"), assistant(call("a"))]),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. Each…",
    ),
    (
        request([user(result("a"))]),
        (
            "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a. Each `tool_result` block "
            "must have a corresponding `tool_use` block in the previous message."
        ),
    ),
    (
        request([user("x"), assistant(call("a")), user(result("a"), result("z"))]),
        "messages.2.content.1: unexpected `tool_use_id` found in `tool_result` blocks: z. Each…",
    ),
    (
        request([user("x"), assistant(call("a")), user(result("a")), assistant("ok"), user(result("a"))]),
        "messages.4.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a. Each…",
    ),
    (
        request([user("x"), assistant(call("a")), user(result("a"), result("a"))]),
        "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a",
    ),
    (
        request([user("x"), assistant(call("a"), call("a")), user(result("a"))]),
        "messages.1.content.1: `tool_use` ids must be unique",
    ),
    (
        request([user("x"), assistant(call("a")), user(result("a")), assistant(call("a")), user(result("a"))]),
        "messages.3.content.0: `tool_use` ids must be unique",
    ),
    (
        request([user("x"), assistant("so")]),
        "This model does not support assistant message prefill. The conversation must end with a user message.",
    ),
    (
        request([user("x"), assistant("so ")], model="claude-sonnet-4-5"),
        "messages: final assistant content cannot end with trailing whitespace",
    ),
    (
        request([user("x"), {"role": "system", "content": "be brief"}], model="claude-haiku-4-5"),
        (
            'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" '
            "as an input message role."
        ),
    ),
    (
        request([{"role": "system", "content": "be brief"}, user("x")]),
        "messages.0: a `system` message must follow a `user` message",
    ),
    (
        request([user("x"), {"role": "system", "content": "be brief"}, user("y")]),
        "messages.1: a `system` message must be last or be followed by an `assistant` message",
    ),
]


@requirement("simulator:rules:error-shapes")
@pytest.mark.parametrize(("body", "words"), CONVERSATIONS, ids=[words[:60] for _, words in CONVERSATIONS])
def test_a_conversation_that_breaks_a_rule_is_refused(body: Json, words: str) -> None:
    assert_refused(body, words)
