"""Models behind programs of other vendors, as small programs that behave as those do."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest

from reverie.errors import ContextTooLong, RateLimited, Unauthenticated, Unavailable, UserMistake
from reverie.messages.blocks import Text, ToolUse
from reverie.messages.message import Usage, assistant, user
from reverie.models.choose import Access, choose
from reverie.models.command import CommandModel, command_model, list_installed
from reverie.models.command_programs import PROGRAMS
from reverie.models.flow import answer
from reverie.models.ledger import Booked
from reverie.models.ports import Reply, Request
from reverie.models.profiles import profile
from reverie.settings.environment import ASKED_BY
from reverie.testing.build import request, system, tool, tool_call, tool_result
from tests.acceptance.host import needs_host, program
from tests.requirements import requirement

CLAUDE = {
    "type": "result",
    "is_error": False,
    "result": "It is high tide.",
    "total_cost_usd": 0.25,
    "usage": {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 2},
    "modelUsage": {"claude-opus-5-5": {}},
}
ANSWERS: Mapping[str, tuple[str, Usage | None, float | None]] = {
    "claude": (json.dumps(CLAUDE), Usage(10, 5, 3, 2), 0.25),
    "qwen": (json.dumps([{"type": "system"}, {**CLAUDE, "total_cost_usd": None}]), Usage(10, 5, 3, 2), None),
    "codex": (
        """{"type":"thread.started"}
{"type":"item.completed","item":{"type":"agent_message","text":"It is high tide."}}
{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":5}}""",
        Usage(6, 5, 4),
        None,
    ),
    "gemini": (
        json.dumps(
            {
                "response": "It is high tide.",
                "stats": {"models": {"gemini-2.5-pro": {"tokens": {"prompt": 9, "candidates": 4, "cached": 2}}}},
            }
        ),
        Usage(7, 4, 2),
        None,
    ),
    "opencode": (
        """{"type":"text","part":{"text":"It is high tide."}}
{"type":"step_finish","part":{"cost":0.5,"tokens":{"input":7,"output":3,"reasoning":1,"cache":{"read":2}}}}""",
        Usage(7, 4, 2),
        0.5,
    ),
    "copilot": ("It is high tide.", None, None),
}
"""What each program prints, and the usage and cost it tells."""


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def install(folder: Path, name: str, script: str) -> CommandModel:
    """A program of this name that runs a shell script."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    environment = {"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(folder.parent)}
    return command_model(f"command:{name}", environment, 60)


def printing(folder: Path, name: str, output: str, more: str = "") -> CommandModel:
    (folder / "output").write_text(output, encoding="utf-8")
    return install(folder, name, f"{more}\ncat '{folder}/output'")


def ask(model: CommandModel, sent: Request | str = "How high is the tide?") -> Reply:
    return asyncio.run(answer(model, request(sent) if isinstance(sent, str) else sent))


@requirement("models:command:answers")
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_program_is_asked_once_without_tools_in_a_directory_of_its_own(bin_folder: Path, name: str) -> None:
    output, usage, cost = ANSWERS[name]
    note = bin_folder / "heard"
    script = f'{{ pwd; echo "${ASKED_BY}"; printf "%s\\n" "$@"; cat; }} > "{note}"'
    reply = ask(printing(bin_folder, name, output, script))

    assert reply.text == "It is high tide."
    assert (reply.cost_usd, reply.is_estimate) == (cost, usage is None)
    assert reply.usage == usage or (usage is None and reply.usage.input_tokens > 10)
    heard = note.read_text(encoding="utf-8")
    where, guard = heard.split("\n")[:2]
    assert "reverie-model-" in where
    assert not Path(where).exists(), "the directory is gone afterwards"
    assert guard == "command"
    assert "How high is the tide?" in heard
    flags = {
        "claude": ("--no-session-persistence", "--setting-sources", "--tools"),
        "codex": ("--ephemeral", "--ignore-user-config", "read-only", "--disable"),
        "copilot": ("--available-tools=none", "--no-custom-instructions"),
        "gemini": ("--skip-trust", "none"),
        "opencode": ("--pure", "--agent"),
        "qwen": ("--bare", "--chat-recording=false"),
    }
    assert all(flag in heard for flag in flags[name])


@requirement("models:command:answers")
def test_calls_of_offered_tools_are_read_from_the_text_and_results_are_told(bin_folder: Path) -> None:
    call = {"tool_calls": [{"name": "Read", "input": {"file_path": "a"}}, {"name": "Unknown", "input": {}}]}
    model = printing(bin_folder, "copilot", f"I look.\n```json\n{json.dumps(call)}\n```\n")
    offered = (tool("Read"),)

    reply = ask(model, request("Look", tools=offered))
    blocks = reply.message.content
    assert [type(block) for block in blocks] == [Text, ToolUse]
    assert isinstance(blocks[1], ToolUse)
    assert (blocks[1].name, blocks[1].input) == ("Read", {"file_path": "a"})
    assert reply.stop_reason == "tool_use"
    assert ask(model, "Look").message.tool_uses == (), "nothing was offered"

    noted = bin_folder / "heard"
    claude = printing(bin_folder, "claude", json.dumps(CLAUDE), f"cat > '{noted}'")
    messages = (user("Look"), assistant(tool_call("Read", id="c1", file_path="a")), user(tool_result("c1", "42 rows")))
    ask(claude, Request("m", messages, system=system("Be brief."), tools=offered, output_schema={"type": "object"}))
    heard = noted.read_text(encoding="utf-8")
    for part in (
        "Be brief.",
        "Result of c1:\n42 rows",
        '"name": "Read"',
        'fits this schema, without a code fence: {"type"',
    ):
        assert part in heard


@requirement("models:command:failures")
@pytest.mark.parametrize(
    ("name", "script", "error", "words"),
    [
        ("claude", "echo 'no such thing'", Unavailable, "is not an answer: no such thing"),
        ("claude", "true", Unavailable, "printed nothing"),
        ("copilot", "echo '  '", Unavailable, "empty answer"),
        ("codex", "echo 'Please run codex login' >&2; exit 1", Unauthenticated, "run `codex` once and sign in"),
        ("gemini", 'echo \'{"error": {"message": "Quota exceeded"}}\'; exit 1', RateLimited, "reached a limit"),
        (
            "qwen",
            'echo \'[{"type":"result","is_error":true,"error":{"message":"boom"}}]\'',
            Unavailable,
            "failed: boom",
        ),
        (
            "codex",
            'echo \'{"type":"error","message":"context window exceeded"}\'',
            ContextTooLong,
            "too long for codex",
        ),
        ("opencode", 'echo \'{"type":"error","error":{"name":"x"}}\'', Unavailable, "opencode failed"),
        ("claude", "kill -9 $$", Unavailable, "exit code -9"),
    ],
)
def test_a_failure_is_an_error_of_ours_with_the_next_step(
    bin_folder: Path, name: str, script: str, error: type[Unavailable], words: str
) -> None:
    model = install(bin_folder, name, f"cat > /dev/null\n{script}" if name != "copilot" else script)
    with pytest.raises(error) as raised:
        ask(model)
    assert words in str(raised.value)


@requirement("models:command:failures")
def test_a_secret_in_a_failure_is_not_shown(bin_folder: Path) -> None:
    key = "sk-ant-" + "api03-" + "Ab1" * 31
    with pytest.raises(Unavailable) as raised:
        ask(install(bin_folder, "copilot", f"echo 'bad thing {key}' >&2; exit 3"))
    assert key not in str(raised.value)


@requirement("models:command:failures")
def test_a_program_whose_caller_leaves_while_it_starts_is_ended(bin_folder: Path) -> None:
    pids = bin_folder / "pids"
    hanging = install(bin_folder, "claude", f"sleep 600 & echo $! > '{pids}'; echo $$ >> '{pids}'; wait")

    async def leave_early() -> None:
        task = asyncio.create_task(answer(hanging, request("x")))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        # On the loop's own thread: the program runs, its pipes are not yet connected.
        _wait_until(lambda: pids.exists() and pids.read_text().count("\n") == 2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(leave_early())
    for pid in map(int, pids.read_text(encoding="utf-8").split()):
        _wait_until(partial(_is_gone, pid))


@requirement("models:command:failures")
def test_a_program_that_hangs_is_ended_with_all_it_started(bin_folder: Path) -> None:
    pids = bin_folder / "pids"
    hanging = install(bin_folder, "claude", f"sleep 600 & echo $! > '{pids}'; echo $$ >> '{pids}'; wait")
    short = command_model("command:claude", hanging.environment, 0.2)

    async def give_up() -> None:
        task = asyncio.create_task(answer(hanging, request("x")))
        await asyncio.to_thread(_wait_until, lambda: pids.exists() and pids.read_text().count("\n") == 2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with pytest.raises(Unavailable, match=r"no answer within 0\.2 s"):
        ask(short)
    pids.unlink(missing_ok=True)
    asyncio.run(give_up())
    for pid in map(int, pids.read_text(encoding="utf-8").split()):
        _wait_until(partial(_is_gone, pid))


def _wait_until(is_so: Callable[[], bool]) -> None:
    for _ in range(3000):
        if is_so():
            return
        time.sleep(0.01)
    raise AssertionError("waited for 30 s")


def _is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@requirement("models:command:failures")
def test_what_is_not_known_or_not_installed_is_the_users_to_mend(bin_folder: Path) -> None:
    access = Access(environment={"PATH": str(bin_folder)})
    with pytest.raises(UserMistake, match="unknown program in model 'command:vi'"):
        choose("command:vi", access)
    with pytest.raises(UserMistake, match="needs the program codex"):
        choose("command:codex", access)
    install(bin_folder, "codex", "true")
    assert list_installed({"PATH": str(bin_folder)}) == ["codex"]
    model = choose("command:codex/gpt-5.5", access)
    assert isinstance(model, CommandModel)
    assert (model.name, model.model) == ("command:codex/gpt-5.5", "gpt-5.5")


@requirement("models:command:failures")
def test_a_prompt_too_long_for_an_argument_is_too_long(bin_folder: Path) -> None:
    with pytest.raises(ContextTooLong):
        ask(install(bin_folder, "copilot", "echo hi"), "x" * 200_000)


@requirement("models:command:cost")
@pytest.mark.parametrize(("name", "cost", "is_estimate"), [("claude", 0.25, False), ("copilot", None, True)])
def test_what_a_program_reports_is_booked_and_what_it_does_not_is_estimated(
    bin_folder: Path, name: str, cost: float | None, is_estimate: bool
) -> None:
    booked: list[tuple[str, str, bool, float | None]] = []

    def book(
        purpose: str, model: str, usage: Usage, *, is_estimate: bool = False, cost_usd: float | None = None
    ) -> None:
        assert usage != Usage()
        booked.append((purpose, model, is_estimate, cost_usd))

    model = Booked(printing(bin_folder, name, ANSWERS[name][0], "cat > /dev/null" if name == "claude" else ""), book)
    asyncio.run(answer(model, request("x", purpose="dream")))

    assert booked == [("dream", f"command:{name}", is_estimate, cost)]


@requirement("models:command:cost")
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_has_a_price_so_that_the_budget_holds(name: str) -> None:
    facts = profile(f"command:{name}")
    assert facts.prices is not None
    assert facts.is_known
    assert facts.abilities == type(facts.abilities)()
    assert PROGRAMS[name].terms_url.startswith("https://")


@requirement("models:command:answers")
@pytest.mark.agents
@needs_host
@pytest.mark.timeout(300)
def test_the_real_program_answers_and_keeps_no_session(tmp_path: Path) -> None:
    from reverie.testing.simulator import simulator

    path = program()
    assert path is not None
    home = tmp_path / "home"
    home.mkdir()
    with simulator() as provider:
        environment = {
            "PATH": f"{path.parent}:{os.environ['PATH']}",
            "HOME": str(home),
            "ANTHROPIC_BASE_URL": provider.base_url,
            "ANTHROPIC_API_KEY": provider.api_key,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        assert shutil.which("claude", path=environment["PATH"]) == str(path)
        reply = ask(command_model("command:claude", environment, 120), "How high is the tide?")
        (record,) = [each for each in provider.requests if each.path.endswith("/messages")]

    assert "How high is the tide?" in reply.text, "the simulator repeats what it was asked"
    assert reply.cost_usd is not None
    assert not reply.is_estimate
    assert isinstance(record.body, dict)
    assert not record.body.get("tools")
    assert not list((home / ".claude").rglob("*.jsonl")), "no session is stored"
