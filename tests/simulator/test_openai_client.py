"""OpenAI's own client against the simulator, unchanged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
from openai.types.responses import FunctionToolParam

from reverie.testing.simulator import RunningSimulator, simulator
from reverie_simulator.script import Fault, Incoming, ScriptAction, ToolCall
from tests.requirements import requirement
from tests.simulator.requests import WORDS

MODEL = "gpt-5"
HELLO: list[ChatCompletionMessageParam] = [{"role": "user", "content": "hello"}]
SCHEMA: dict[str, object] = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
CHAT_TOOL: ChatCompletionToolParam = {"type": "function", "function": {"name": "read", "parameters": SCHEMA}}
TOOL: FunctionToolParam = {"type": "function", "name": "read", "parameters": SCHEMA, "strict": True}
LONG = WORDS * 300


@pytest.fixture
def sim() -> Iterator[RunningSimulator]:
    with simulator() as running:
        yield running


@pytest.fixture
def client(sim: RunningSimulator) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{sim.base_url}/v1", api_key=sim.api_key, max_retries=0) as made:
        yield made


@requirement("simulator:client:openai")
def test_a_chat_is_completed_and_recorded(client: OpenAI, sim: RunningSimulator) -> None:
    completion = client.chat.completions.create(
        model=MODEL, messages=[{"role": "system", "content": "Be kind."}, *HELLO]
    )

    (choice,) = completion.choices
    assert (choice.message.content, choice.finish_reason) == ("You said: hello", "stop")
    assert completion.usage is not None
    assert completion.usage.total_tokens == completion.usage.prompt_tokens + completion.usage.completion_tokens
    (record,) = sim.requests
    assert (record.path, record.status) == ("/v1/chat/completions", 200)
    assert isinstance(record.body, dict)
    assert record.body["messages"] == [{"role": "system", "content": "Be kind."}, *HELLO]
    assert "authorization" not in record.headers
    assert completion._request_id == record.request_id


@requirement("simulator:client:openai")
def test_a_chat_is_streamed_with_reasoning_calls_and_usage(client: OpenAI, sim: RunningSimulator) -> None:
    calls = (ToolCall("read", {"path": "a.py", "why": "because it is long enough"}), ToolCall("read", {"path": "b.py"}))
    sim.act(ScriptAction(thinking="Let me see.", text="I look.", tool_calls=calls))
    stream = client.chat.completions.create(
        model=MODEL, messages=HELLO, tools=[CHAT_TOOL], stream=True, stream_options={"include_usage": True}
    )

    said, reasoning, read, finish, usage = "", "", {0: "", 1: ""}, "", None
    for chunk in stream:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            said += choice.delta.content or ""
            reasoning += getattr(choice.delta, "reasoning_content", "")
            finish = choice.finish_reason or finish
            for call in choice.delta.tool_calls or ():
                assert call.function is not None
                read[call.index] += call.function.arguments or ""

    assert (said, reasoning, finish) == ("I look.", "Let me see.", "tool_calls")
    assert [json.loads(text)["path"] for text in read.values()] == ["a.py", "b.py"]
    assert usage is not None
    assert usage.completion_tokens > 5


@requirement("simulator:client:openai")
@pytest.mark.parametrize("protocol", ["chat", "responses"])
def test_scripts_see_a_tool_result_in_either_protocol(protocol: str) -> None:
    script: Any = [
        {
            "when": {"last_user": "read it", "has_tool_results": False, "offers_tool": "read", "system": "kind"},
            "then": {"tool_calls": [{"name": "read", "input": {"path": "a"}, "id": "call_7"}]},
        },
        {"when": {"answers_tool": "read"}, "then": "It says {tool_result}"},
    ]
    with simulator(script) as sim, OpenAI(base_url=f"{sim.base_url}/v1", api_key=sim.api_key, max_retries=0) as client:
        if protocol == "chat":
            asked: list[Any] = [{"role": "developer", "content": "Be kind."}, {"role": "user", "content": "read it"}]
            message = client.chat.completions.create(model=MODEL, messages=asked, tools=[CHAT_TOOL]).choices[0].message
            assert message.tool_calls is not None
            asked += [message.to_dict(), {"role": "tool", "tool_call_id": "call_7", "content": "the end"}]
            said = client.chat.completions.create(model=MODEL, messages=asked, tools=[CHAT_TOOL]).choices[0].message
            assert said.content == "It says the end"
        else:
            first = client.responses.create(model=MODEL, instructions="Be kind.", input="read it", tools=[TOOL])
            call: Any = first.output[0]
            assert (call.type, call.call_id, call.arguments) == ("function_call", "call_7", '{"path":"a"}')
            given: list[Any] = [
                {"role": "user", "content": "read it"},
                call.to_dict(),
                {"type": "function_call_output", "call_id": "call_7", "output": "the end"},
            ]
            again = client.responses.create(model=MODEL, instructions="Be kind.", input=given, tools=[TOOL])
            assert again.output_text == "It says the end"
        assert [record.status for record in sim.requests] == [200, 200]


@requirement("simulator:client:openai")
def test_a_response_is_streamed_item_by_item(client: OpenAI, sim: RunningSimulator) -> None:
    sim.act(
        ScriptAction(thinking="Let me see.", text="I look at it.", tool_calls=(ToolCall("read", {"path": "a.py"}),))
    )
    with client.responses.stream(model=MODEL, input="hello", tools=[TOOL]) as stream:
        names = [event.type for event in stream]
        final = stream.get_final_response()

    assert [item.type for item in final.output] == ["reasoning", "message", "function_call"]
    assert final.output_text == "I look at it."
    assert final.status == "completed"
    assert names[0] == "response.created"
    assert names[-1] == "response.completed"
    assert {"response.reasoning_summary_text.delta", "response.function_call_arguments.done"} <= set(names)


@requirement("simulator:client:openai")
def test_a_response_goes_on_from_an_earlier_one(client: OpenAI) -> None:
    first = client.responses.create(model=MODEL, input="hello")
    second = client.responses.create(model=MODEL, input="and now?", previous_response_id=first.id)
    assert first.usage is not None
    assert second.usage is not None
    assert second.usage.input_tokens > first.usage.input_tokens

    not_stored = client.responses.create(model=MODEL, input="hello", store=False)
    with pytest.raises(openai.BadRequestError, match="not found"):
        client.responses.create(model=MODEL, input="and now?", previous_response_id=not_stored.id)


@requirement("simulator:client:openai")
def test_free_text_tools_and_namespaces_are_called_in_their_own_form(client: OpenAI, sim: RunningSimulator) -> None:
    tools: list[Any] = [
        {"type": "custom", "name": "patch"},
        {"type": "namespace", "name": "mcp", "description": "d", "tools": [{**TOOL, "name": "save"}]},
    ]
    sim.act(ScriptAction(tool_calls=(ToolCall("patch", {"input": "*** Begin"}), ToolCall("save", {"path": "a"}))))
    output: list[Any] = list(client.responses.create(model=MODEL, input="hello", tools=tools).output)
    first, second = output
    assert (first.type, first.input) == ("custom_tool_call", "*** Begin")
    assert (second.type, second.namespace) == ("function_call", "mcp")

    given: list[Any] = [
        {"role": "user", "content": "hello"},
        first.to_dict(),
        second.to_dict(),
        {"type": "custom_tool_call_output", "call_id": first.call_id, "output": "patched"},
        {"type": "function_call_output", "call_id": second.call_id, "output": "saved"},
    ]
    answered = client.responses.create(model=MODEL, input=given, tools=tools)
    assert answered.output_text == "Read 2 tool results: patched\nsaved"


@requirement("simulator:client:openai")
def test_a_demanded_format_is_filled(client: OpenAI) -> None:
    as_schema: Any = {"type": "json_schema", "json_schema": {"name": "s", "schema": SCHEMA}}
    chat = client.chat.completions.create(model=MODEL, messages=HELLO, response_format=as_schema)
    assert chat.choices[0].message.content == '{"path":"sample"}'
    text: Any = {"format": {"type": "json_schema", "name": "s", "schema": SCHEMA}}
    assert client.responses.create(model=MODEL, input="hello", text=text).output_text == '{"path":"sample"}'
    forced: Any = {"type": "function", "name": "read"}
    (call,) = client.responses.create(model=MODEL, input="hello", tools=[TOOL], tool_choice=forced).output
    assert call.type == "function_call"


@requirement("simulator:client:openai")
def test_a_repeated_beginning_is_read_from_the_cache(client: OpenAI, sim: RunningSimulator) -> None:
    asked: list[Any] = [{"role": "user", "content": LONG}]
    client.chat.completions.create(model=MODEL, messages=asked)
    asked += [{"role": "assistant", "content": "Yes."}, {"role": "user", "content": "And?"}]
    usage = client.chat.completions.create(model=MODEL, messages=asked).usage

    assert usage is not None
    assert usage.prompt_tokens_details is not None
    assert (usage.prompt_tokens_details.cached_tokens or 0) > usage.prompt_tokens / 2
    assert sim.last_cache.breakpoints[-1].read_tokens == usage.prompt_tokens_details.cached_tokens


@requirement("simulator:client:openai")
def test_faults_come_in_the_words_and_classes_of_the_protocol(client: OpenAI, sim: RunningSimulator) -> None:
    sim.act(ScriptAction(fault=Fault("rate_limit")), ScriptAction(fault=Fault("overloaded")))
    with pytest.raises(openai.RateLimitError) as limited:
        client.responses.create(model=MODEL, input="hello")
    assert limited.value.code == "rate_limit_exceeded"
    assert limited.value.response.headers["retry-after"] == "1"
    with pytest.raises(openai.InternalServerError) as refused:
        client.chat.completions.create(model=MODEL, messages=HELLO)
    assert refused.value.status_code == 503
    assert "Anthropic" not in str(refused.value)

    sim.act(ScriptAction(fault=Fault("prompt_too_long")))
    with pytest.raises(openai.BadRequestError) as too_long:
        client.chat.completions.create(model=MODEL, messages=HELLO)
    assert too_long.value.code == "context_length_exceeded"

    sim.act(ScriptAction(text="a long answer", fault=Fault("error_event")))
    with pytest.raises(openai.APIError):
        list(client.chat.completions.create(model=MODEL, messages=HELLO, stream=True))


@requirement("simulator:client:openai")
def test_damaged_requests_are_refused(client: OpenAI) -> None:
    lonely: Any = [{"role": "tool", "tool_call_id": "c", "content": "x"}]
    with pytest.raises(openai.BadRequestError, match="'tool' must be a response"):
        client.chat.completions.create(model=MODEL, messages=lonely)
    call: Any = {"type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"}
    with pytest.raises(openai.BadRequestError, match="No tool output found"):
        client.responses.create(model=MODEL, input=[call])
    result: Any = {"type": "function_call_output", "call_id": "c", "output": "x"}
    with pytest.raises(openai.BadRequestError, match="No tool call found"):
        client.responses.create(model=MODEL, input=[result])
    with pytest.raises(openai.BadRequestError, match="minimum length"):
        client.chat.completions.create(model=MODEL, messages=[])
    with pytest.raises(openai.AuthenticationError):
        client.with_options(default_headers={"authorization": ""}).responses.create(model=MODEL, input="hello")


@requirement("simulator:client:openai")
def test_models_are_listed(client: OpenAI) -> None:
    listed = {model.id: model.owned_by for model in client.models.list()}
    assert set(listed.values()) == {"simulator"}


@requirement("simulator:client:openai")
def test_a_script_that_is_a_function_gets_one_form(client: OpenAI, sim: RunningSimulator) -> None:
    seen: list[Incoming] = []
    sim.simulation.use_script(lambda incoming: seen.append(incoming))
    client.chat.completions.create(model=MODEL, messages=HELLO, tools=[CHAT_TOOL], max_completion_tokens=50)
    client.responses.create(model=MODEL, input="hello", tools=[TOOL], max_output_tokens=50)

    assert seen[0].body["messages"] == seen[1].body["messages"]
    assert seen[0].body["tools"] == seen[1].body["tools"]
    assert seen[0].body["max_tokens"] == 50
