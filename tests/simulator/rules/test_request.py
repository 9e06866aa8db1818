from __future__ import annotations

import pytest

from reverie.messages.blocks import Json
from tests.requirements import requirement
from tests.simulator.requests import (
    EPHEMERAL,
    assistant,
    call,
    request,
    result,
    text,
    tool,
    user,
)
from tests.simulator.rules.damage import assert_refused, content, without

MISSING = [
    (without("model"), "model: Field required"),
    (without("messages"), "messages: Field required"),
    (without("max_tokens"), "max_tokens: Field required"),
    ({}, "model: Field required"),
    (request([{"content": "hello"}]), "messages.0.role: Field required"),
    (request([{"role": "user"}]), "messages.0.content: Field required"),
    (content({"text": "hello"}), "messages.0.content.0.type: Field required"),
    (content({"type": "text"}), "messages.0.content.0.text.text: Field required"),
    (content({"type": "tool_result"}), "messages.0.content.0.tool_result.tool_use_id: Field required"),
    (content({"type": "image"}), "messages.0.content.0.image.source: Field required"),
    (
        request([user("x"), assistant({"type": "tool_use", "id": "a", "name": "Read"})]),
        "messages.1.content.0.tool_use.input: Field required",
    ),
    (
        request([user("x"), assistant({"type": "thinking", "thinking": "hm"}), user("y")]),
        "messages.1.content.0.thinking.signature: Field required",
    ),
    (request(system=[{"type": "text"}]), "system.0.text: Field required"),
    (request(tools=[{"name": "Read"}]), "tools.0.custom.input_schema: Field required"),
    (request(tools=[{"input_schema": {"type": "object"}}]), "tools.0.custom.name: Field required"),
    (request(tools=[tool(input_schema={})]), "tools.0.custom.input_schema.type: Field required"),
    (request(tools=[tool()], tool_choice={"type": "tool"}), "tool_choice.tool.name: Field required"),
    (request(thinking={"type": "enabled"}), "thinking.enabled.budget_tokens: Field required"),
]

WRONG_TYPES = [
    ([], "Input should be an object"),
    (request(max_tokens="100"), "max_tokens: Input should be a valid integer"),
    (request(max_tokens=True), "max_tokens: Input should be a valid integer"),
    (
        request(max_tokens=1.5),
        "max_tokens: Input should be a valid integer, got a number with a fractional part",
    ),
    (request(max_tokens=-1), "max_tokens: Input should be greater than or equal to 0"),
    (request(model=5), "model: Input should be a valid string"),
    (request(model=""), "model: String should have at least 1 character"),
    ({**request(), "messages": "hello"}, "messages: Input should be a valid list"),
    ({**request(), "messages": ["hello"]}, "messages.0: Input should be an object"),
    (request([{"role": "user", "content": None}]), "messages.0.content: Input should be a valid list"),
    (request([{"role": "user", "content": 5}]), "messages.0.content: Input should be a valid list"),
    (request([{"role": "robot", "content": "x"}]), "messages.0.role: Input should be 'user' or 'assistant'"),
    (content("hello"), "messages.0.content.0: Input should be an object"),
    (content({"type": "text", "text": 5}), "messages.0.content.0.text.text: Input should be a valid string"),
    (request(system={"type": "text", "text": "x"}), "system: Input should be a valid list"),
    (request(system=5), "system: Input should be a valid list"),
    (request(system=[{"type": "image", "text": "x"}]), "system.0.type: Input should be 'text'"),
    (request(stream="yes"), "stream: Input should be a valid boolean"),
    (request(stream=1), "stream: Input should be a valid boolean"),
    (request(stop_sequences="x"), "stop_sequences: Input should be a valid list"),
    (request(stop_sequences=[5]), "stop_sequences.0: Input should be a valid string"),
    (request(stop_sequences=["  "]), "stop_sequences: each stop sequence must contain non-whitespace"),
    (request(metadata="me"), "metadata: Input should be an object"),
    (request(metadata={"user_id": "x" * 257}), "metadata.user_id: String should have at most 256 characters"),
    (request(service_tier="gold"), "service_tier: Input should be 'auto' or 'standard_only'"),
    (request(tools={}), "tools: Input should be a valid list"),
    (request(tools=["Read"]), "tools.0: Input should be an object"),
    (
        request(tools=[tool("bad name")]),
        "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    ),
    (
        request(tools=[tool("x" * 129)]),
        "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    ),
    (request(tools=[tool(description=5)]), "tools.0.custom.description: Input should be a valid string"),
    (request(tools=[tool(input_schema="x")]), "tools.0.custom.input_schema: Input should be an object"),
    (
        request(tools=[tool(input_schema={"type": "string"})]),
        "tools.0.custom.input_schema.type: Input should be 'object'",
    ),
    (
        request(tools=[tool(input_schema={"type": "object", "anyOf": []})]),
        "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level",
    ),
    (
        request(tools=[tool(input_schema={"type": "object", "properties": {"a": {"type": "text"}}})]),
        (
            "tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 "
            "(https://json-schema.org/draft/2020-12). Learn more about tool use at "
            "https://docs.claude.com/en/docs/tool-use."
        ),
    ),
    (request(tool_choice="auto", tools=[tool()]), "tool_choice: Input should be an object"),
    (
        request(tool_choice={"type": "required"}, tools=[tool()]),
        (
            "tool_choice: Input tag 'required' found using 'type' does not match any of the expected tags: 'any', "
            "'auto', 'none', 'tool'"
        ),
    ),
    (
        request(tools=[{"type": "function", "name": "x"}]),
        "tools.0: Input tag 'function' found using 'type' does not match any of the expected tags: …",
    ),
    (
        content({"type": "image_url", "image_url": "x"}),
        "messages.0.content.0: Input tag 'image_url' found using 'type' does not match any of the expected tags: …",
    ),
    (
        request([user("x"), assistant({**call("a"), "input": "text"}), user(result("a"))]),
        "messages.1.content.0.tool_use.input: Input should be an object",
    ),
    (
        request([user("x"), assistant(call("a b")), user(result("a"))]),
        "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    ),
    (
        request([user("x"), assistant({**call("a"), "name": ""}), user(result("a"))]),
        "messages.1.content.0.tool_use.name: String should have at least 1 character",
    ),
    (
        request([user("x"), assistant({**call("a"), "name": "x" * 201}), user(result("a"))]),
        "messages.1.content.0.tool_use.name: String should have at most 200 characters",
    ),
    (
        content({**result("a"), "is_error": "no"}),
        "messages.0.content.0.tool_result.is_error: Input should be a valid boolean",
    ),
    (
        content({**result("a"), "content": [{"type": "tool_use"}]}),
        (
            "messages.0.content.0.tool_result.content.0: Input tag 'tool_use' found using 'type' does not match any of "
            "the expected tags: …"
        ),
    ),
    (
        request(thinking={"type": "sometimes"}),
        (
            "thinking: Input tag 'sometimes' found using 'type' does not match any of the expected tags: 'adaptive', "
            "'between_tools', 'disabled', 'enabled'"
        ),
    ),
    (
        request(thinking={"type": "enabled", "budget_tokens": 100}),
        "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
    ),
    (
        request(output_config={"effort": "huge"}),
        "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'",
    ),
]

EXTRAS = [
    (request(frobnicate=1), "frobnicate: Extra inputs are not permitted"),
    (request(context_management={"edits": []}), "context_management: Extra inputs are not permitted"),
    (request([{**user("x"), "id": "m"}]), "messages.0.id: Extra inputs are not permitted"),
    (content({**text("x"), "id": "m"}), "messages.0.content.0.text.id: Extra inputs are not permitted"),
    (
        request(
            [
                user("x"),
                assistant(
                    {"type": "thinking", "thinking": "a", "signature": "b", "cache_control": dict(EPHEMERAL)}, "y"
                ),
                user("z"),
            ]
        ),
        "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted",
    ),
    (
        content(text("x", {"type": "ephemeral", "scope": "global"})),
        "messages.0.content.0.text.cache_control.ephemeral.scope: Extra inputs are not permitted",
    ),
    (request(tools=[tool(strange=1)]), "tools.0.custom.strange: Extra inputs are not permitted"),
    (
        request(system=[{**text("x"), "role": "system"}]),
        "system.0.role: Extra inputs are not permitted",
    ),
]


@requirement("simulator:rules:error-shapes")
@pytest.mark.parametrize(("body", "words"), MISSING, ids=[words[:60] for _, words in MISSING])
def test_a_missing_field_is_named(body: Json, words: str) -> None:
    assert_refused(body, words)


@requirement("simulator:rules:error-shapes")
@pytest.mark.parametrize(("body", "words"), WRONG_TYPES, ids=[words[:60] for _, words in WRONG_TYPES])
def test_a_wrong_type_is_named(body: Json, words: str) -> None:
    assert_refused(body, words)


@requirement("simulator:rules:error-shapes")
@pytest.mark.parametrize(("body", "words"), EXTRAS, ids=[words[:60] for _, words in EXTRAS])
def test_an_unknown_field_is_refused(body: Json, words: str) -> None:
    assert_refused(body, words)
