"""The chat server that tests the tests' other half."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from reverie.testing.openai_server import ChatAnswer, ChatFailure, OpenAIServer
from tests.requirements import requirement


def post(url: str, body: dict[str, Any]) -> str:
    asked = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(asked, timeout=60) as answer:
        return str(answer.read().decode())


QUESTION = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


@requirement("testing:openai-server")
def test_the_script_is_played_and_the_questions_are_kept() -> None:
    with OpenAIServer([ChatAnswer("first"), ChatAnswer("second")]) as server:
        answers = [post(f"{server.url}/v1/chat/completions", QUESTION) for _ in range(2)]

    assert ["fi" in answer and "rst" in answer for answer in answers] == [True, False]
    assert all(answer.endswith("data: [DONE]\n\n") for answer in answers)
    assert server.bodies == [QUESTION, QUESTION]


@requirement("testing:openai-server")
def test_an_answer_may_depend_on_the_question() -> None:
    with OpenAIServer(lambda body: ChatAnswer(body["messages"][0]["content"] * 2)) as server:
        assert '"hi"' in post(f"{server.url}/v1/chat/completions", QUESTION)


@requirement("testing:openai-server")
@pytest.mark.parametrize(
    ("path", "messages", "status"),
    [
        ("/v1/elsewhere", [], 404),
        ("/v1/chat/completions", [{"role": "tool", "tool_call_id": "x", "content": ""}], 400),
        (
            "/v1/chat/completions",
            [{"role": "assistant", "tool_calls": [{"id": "x"}]}, {"role": "user", "content": "never mind"}],
            400,
        ),
        ("/v1/chat/completions", [], 418),
    ],
)
def test_what_a_real_server_refuses_is_refused(path: str, messages: list[dict[str, Any]], status: int) -> None:
    with (
        OpenAIServer([ChatFailure(418, {"error": "a teapot"})]) as server,
        pytest.raises(urllib.error.HTTPError) as caught,
    ):
        post(server.url + path, {"model": "m", "messages": messages})

    assert caught.value.code == status
    caught.value.close()
