"""The real program in a real terminal, against the simulated provider."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import pytest

from reverie.messages.blocks import Json
from reverie.models.offline import REFUSAL
from reverie.testing.simulator import RunningSimulator, simulator
from tests.apps.tui.tmux import RealTerminal, needs_tmux, real_terminal
from tests.requirements import requirement

pytestmark = [needs_tmux, pytest.mark.program]

MODEL = "claude-sonnet-4-5"
BUG = "def last(rows):\n    return rows[:-1]\n"


@contextmanager
def at_work(
    folder: Path,
    provider: RunningSimulator | None,
    *arguments: str,
    columns: int = 80,
    rows: int = 24,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[RealTerminal]:
    """A user in a project, with the simulated provider or without any key."""
    home, project = folder / "home", folder / "project"
    home.mkdir(exist_ok=True)
    project.mkdir(exist_ok=True)
    environment = {"HOME": str(home), **variables}
    if provider is not None:
        environment |= {"ANTHROPIC_API_KEY": provider.api_key, "ANTHROPIC_BASE_URL": provider.base_url}
    with real_terminal(*arguments, environment=environment, project=project, columns=columns, rows=rows) as terminal:
        yield terminal


@requirement("tui:terminal:real")
def test_a_question_is_answered_and_the_session_can_be_resumed(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"last_user": "weather"}, "then": {"text": "Rain, then **sun**."}},
        {"when": {"last_user": "again"}, "then": {"text": "Still rain."}},
    ]
    with simulator(script) as provider:
        with at_work(tmp_path, provider, "-m", MODEL) as terminal:
            terminal.sees("Type a message.")
            terminal.enter("what weather?")
            terminal.sees("Rain, then sun.")
            terminal.press("C-d")
            terminal.sees("Resume this session with: reverie --resume")
            assert terminal.wait_for_end() == 0
        with at_work(tmp_path, provider, "-m", MODEL, "--continue") as terminal:
            terminal.sees("Rain, then sun.")
            terminal.enter("and again?")
            terminal.sees("Still rain.")
            terminal.press("C-c", "C-c")
            assert terminal.wait_for_end() == 0


@requirement("tui:terminal:real")
def test_a_bug_is_fixed_with_one_question(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    file = tmp_path / "project" / "rows.py"
    file.write_text(BUG, encoding="utf-8")
    edit: Json = {"file_path": str(file), "old_string": "rows[:-1]", "new_string": "rows[-1]"}
    script: list[Json] = [
        {
            "when": {"last_user": "fix", "has_tool_results": False},
            "then": {"text": "I read it first.", "tool_calls": [{"name": "Read", "input": {"file_path": str(file)}}]},
        },
        {"when": {"answers_tool": "Read"}, "then": {"tool_calls": [{"name": "Edit", "input": edit}]}},
        {"when": {"answers_tool": "Edit"}, "then": {"text": "Fixed: it takes the **last** row."}},
    ]
    with simulator(script) as provider, at_work(tmp_path, provider, "-m", MODEL, rows=30) as terminal:
        terminal.sees("Type a message.")
        terminal.enter("fix rows.py")
        screen = terminal.sees("1. Yes")
        assert "-    return rows[:-1]" in screen
        assert "+    return rows[-1]" in screen
        assert file.read_text(encoding="utf-8") == BUG

        terminal.press("1")

        screen = terminal.sees("Fixed: it takes the last row.")
        assert "+1 −1" in screen
        assert file.read_text(encoding="utf-8") == BUG.replace("[:-1]", "[-1]")


@requirement("tui:terminal:real")
def test_a_refusal_reaches_the_model_with_its_reason(tmp_path: Path) -> None:
    script: list[Json] = [
        {
            "when": {"last_user": "clean", "has_tool_results": False},
            "then": {"tool_calls": [{"name": "Bash", "input": {"command": "rm -rf build"}}]},
        },
        {"when": {"tool_result": "it is shared"}, "then": {"text": "Then I leave it alone."}},
    ]
    with simulator(script) as provider, at_work(tmp_path, provider, "-m", MODEL) as terminal:
        terminal.sees("Type a message.")
        terminal.enter("clean up")
        terminal.sees("1. Yes")
        terminal.press("n")
        terminal.sees("reason, or what to do instead")
        terminal.enter("it is shared")
        terminal.sees("Then I leave it alone.")


@requirement("tui:turn:stops", "tui:terminal:real")
def test_a_slow_answer_is_stopped_and_the_next_one_comes(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"last_user": "quick"}, "then": {"text": "Here I am."}},
        {"when": {"last_user": "slow"}, "then": {"text": "one two three four five six", "event_delay_ms": 2_000}},
    ]
    with simulator(script) as provider, at_work(tmp_path, provider, "-m", MODEL) as terminal:
        terminal.sees("Type a message.")
        terminal.enter("be slow")
        terminal.sees("Esc stops")
        terminal.press("Escape")
        terminal.sees("stopped; type what to do instead")
        terminal.enter("be quick")
        terminal.sees("Here I am.")


@requirement("tui:terminal:real")
def test_a_session_that_was_killed_in_the_middle_goes_on(tmp_path: Path) -> None:
    script: list[Json] = [
        {
            "when": {"last_user": "wait", "has_tool_results": False},
            "then": {"text": "I wait.", "tool_calls": [{"name": "Bash", "input": {"command": "sleep 60"}}]},
        },
        {"when": {"last_user": "go on"}, "then": {"text": "We were waiting."}},
    ]
    rule = ["--allowed-tools", "Bash(sleep:*)"]
    with simulator(script) as provider:
        with at_work(tmp_path, provider, "-m", MODEL, *rule) as terminal:
            terminal.sees("Type a message.")
            terminal.enter("wait a little")
            terminal.sees("Bash sleep 60")
            os.kill(terminal.process_id, signal.SIGKILL)
            terminal.until(lambda _: terminal.has_ended, "the kill")
        with at_work(tmp_path, provider, "-m", MODEL, "--continue") as terminal:
            terminal.sees("I wait.")
            terminal.enter("go on please")
            terminal.sees("We were waiting.")


@requirement("tui:turn:retry", "tui:terminal:real")
def test_an_overloaded_provider_is_asked_again(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"last_user": "hello"}, "then": {"fault": {"kind": "overloaded"}}, "times": 1},
        {"when": {"last_user": "hello"}, "then": {"text": "Here after all."}},
    ]
    with simulator(script) as provider, at_work(tmp_path, provider, "-m", MODEL) as terminal:
        terminal.sees("Type a message.")
        terminal.enter("hello")
        assert "retrying in" in terminal.sees("Here after all.")


@requirement("tui:start:no-key", "tui:terminal:real")
def test_without_a_key_three_lines_and_memory_works(tmp_path: Path) -> None:
    with at_work(tmp_path, None, columns=120) as terminal:
        for line in REFUSAL.split("\n"):
            terminal.sees(line)
        terminal.enter("#Never mock the database")
        terminal.sees("remembered: Never mock the database")
        terminal.enter("may I mock the database in this test?")
        terminal.sees("This is remembered about it:")
        terminal.sees("• Never mock the database")
        terminal.enter("/memory")
        terminal.sees("1 memory in")
        terminal.press("Escape")
        terminal.sees("Type a message.")
        terminal.enter("/exit")
        assert terminal.wait_for_end() == 0


@requirement("tui:log:copy", "tui:terminal:real")
def test_an_answer_is_copied_through_tmux(tmp_path: Path) -> None:
    script: list[Json] = [{"when": {}, "then": {"text": "Rain, then **sun**. 雨"}}]
    with simulator(script) as provider, at_work(tmp_path, provider, "-m", MODEL) as terminal:
        terminal.sees("Type a message.")
        terminal.enter("what weather?")
        terminal.sees("Rain, then sun.")
        terminal.enter("/copy")
        terminal.until(lambda _: terminal.copied == "Rain, then **sun**. 雨", "the copy")


@requirement("tui:prompt:lines", "tui:prompt:paste", "tui:terminal:real")
def test_typing_as_terminals_send_it(tmp_path: Path) -> None:
    with simulator() as provider, at_work(tmp_path, provider, "-m", MODEL) as terminal:
        terminal.sees("Type a message.")
        terminal.type("one")
        terminal.press("M-Enter")
        terminal.type("two")
        terminal.press("C-j")
        terminal.paste("x\n" * 20)
        screen = terminal.until(lambda screen: "one" in screen and "[pasted text 1: 21 lines]" in screen, "all lines")
        assert screen.index("one") < screen.index("two") < screen.index("[pasted")
        terminal.press("BTab")
        terminal.sees("edits freely")
        terminal.resize(40, 20)
        terminal.sees("[pasted text 1: 21 lines]")
        assert not provider.requests, "Alt+Enter begins a line and sends nothing"


@requirement("tui:colour:none", "tui:terminal:real")
@pytest.mark.parametrize("way", ["variable", "setting"])
def test_no_colour_reaches_the_terminal_when_none_is_wanted(tmp_path: Path, way: str) -> None:
    script: list[Json] = [{"when": {}, "then": {"text": "Some `code` here."}}]
    arguments = ["--set", "ui.color=never"] if way == "setting" else []
    variables = {"NO_COLOR": "1"} if way == "variable" else {}
    with (
        simulator(script) as provider,
        at_work(tmp_path, provider, "-m", MODEL, *arguments, variables=variables) as terminal,
    ):
        terminal.sees("Type a message.")
        terminal.enter("hello")
        terminal.sees("Some code here.")
        coloured = terminal.screen(colours=True)
        codes = {int(code) for part in coloured.split("\x1b[")[1:] for code in part.split("m")[0].split(";") if code}
        assert not codes & {*range(30, 39), *range(40, 49), *range(90, 108)}
