"""A request as the body of a chat completion."""

from __future__ import annotations

import pytest

from reverie.messages.blocks import CompactionBlock, DocumentBlock, Image, JsonObject, Opaque, Text, Thinking
from reverie.messages.entries import ToolSpec
from reverie.messages.message import Message, Role, assistant, user
from reverie.models.chat_body import chat_body
from reverie.testing.build import ONE_PIXEL, picture, request, system, tool, tool_call, tool_result
from tests.requirements import requirement


@requirement("models:openai:mapping")
def test_a_plain_question_is_strings_only() -> None:
    assert chat_body(request("hi", model="m", max_tokens=5, system=system("Be brief.", "Be kind."))) == {
        "model": "m",
        "max_tokens": 5,
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [
            {"role": "system", "content": "Be brief.\n\nBe kind."},
            {"role": "user", "content": "hi"},
        ],
    }


@requirement("models:effort")
@pytest.mark.parametrize(("wanted", "sent"), [("low", "low"), ("max", "high"), ("", None)])
def test_effort_is_said_in_the_words_of_the_protocol(wanted: str, sent: str | None) -> None:
    assert chat_body(request("hi", effort=wanted)).get("reasoning_effort") == sent


@requirement("models:openai:mapping")
def test_results_come_first_each_as_a_message_and_pictures_after_them() -> None:
    call, other = tool_call("look", id="a", at="x"), tool_call("look", id="b", at="y")
    said = chat_body(
        request(
            assistant(Thinking("hm"), "I look.", call, other),
            user("then", tool_result(call, "see:", picture()), tool_result(other, "gone", is_error=True)),
        )
    )["messages"]

    assert said == [
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"at":"x"}'}},
                {"id": "b", "type": "function", "function": {"name": "look", "arguments": '{"at":"y"}'}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "see:"},
        {"role": "tool", "tool_call_id": "b", "content": "Error: gone"},
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{ONE_PIXEL}"}},
                {"type": "text", "text": "then"},
            ],
        },
    ]


@requirement("models:openai:mapping")
def test_results_alone_bring_no_empty_message_of_the_user() -> None:
    said = chat_body(request(assistant(tool_call("now")), user(tool_result("call_1", "noon"))))["messages"]

    assert [message["role"] for message in said] == ["assistant", "tool"]
    assert said[0]["content"] == ""


@requirement("models:openai:mapping")
def test_what_the_protocol_lacks_is_said_in_words_or_left_out() -> None:
    said = chat_body(
        request(
            user(DocumentBlock({"type": "text", "data": "the text"}), Opaque({"type": "odd"}), Image({"type": "file"})),
            assistant(CompactionBlock("we began"), "and went on"),
            Message(Role.SYSTEM, (Text("from now on"),)),
            user(DocumentBlock({"type": "base64", "media_type": "application/pdf", "data": "QQ=="})),
        )
    )["messages"]

    assert [message["content"] for message in said] == [
        "the text\n[a picture that this provider cannot be shown]",
        "Summary of what was said before:\nwe began\nand went on",
        "from now on",
        [{"type": "file", "file": {"filename": "document.pdf", "file_data": "data:application/pdf;base64,QQ=="}}],
    ]


@requirement("models:openai:mapping")
def test_tools_are_functions_and_those_of_one_provider_are_left_out() -> None:
    tools = (
        tool("look", "Read a file.", at="string"),
        ToolSpec("now"),
        ToolSpec("memory", extra={"type": "memory_20250818"}),
    )

    assert chat_body(request(tools=tools))["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "look",
                "description": "Read a file.",
                "parameters": {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]},
            },
        },
        {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}},
    ]


@requirement("models:openai:mapping")
@pytest.mark.parametrize(
    ("choice", "said"),
    [
        (None, {}),
        ({"type": "auto"}, {"tool_choice": "auto"}),
        ({"type": "any"}, {"tool_choice": "required"}),
        ({"type": "none"}, {"tool_choice": "none"}),
        (
            {"type": "tool", "name": "now", "disable_parallel_tool_use": True},
            {"tool_choice": {"type": "function", "function": {"name": "now"}}, "parallel_tool_calls": False},
        ),
    ],
)
def test_the_choice_of_tools_is_translated(choice: JsonObject | None, said: dict[str, object]) -> None:
    body = chat_body(request(tools=(tool("now"),), tool_choice=choice))

    assert {key: body[key] for key in ("tool_choice", "parallel_tool_calls") if key in body} == said
    assert "tool_choice" not in chat_body(request(tool_choice=choice))


@requirement("models:openai:mapping")
def test_settings_of_the_answer_are_translated() -> None:
    asked = request(
        temperature=0.0,
        stop_sequences=("a", "b", "c", "d", "e"),
        output_schema={"type": "object"},
        thinking={"type": "enabled"},
        context_management={"edits": []},
        extra={"seed": 7},
    )
    body = chat_body(asked, limit_field="max_completion_tokens")

    assert body["temperature"] == 0.0
    assert body["stop"] == ["a", "b", "c", "d"]
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert body["seed"] == 7
    assert body["max_completion_tokens"] == asked.max_tokens
    assert not {"max_tokens", "thinking", "context_management"} & set(body)
