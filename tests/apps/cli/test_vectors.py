"""The offer of vectors, in a terminal and without one. Nothing is downloaded: the package index is empty."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reverie.apps.cli.vectors import extra_command
from reverie.memory.search.weights import MINILM, MODEL_NAME
from tests.apps.cli.conftest import Terminal
from tests.requirements import requirement

pytest.importorskip("tokenizers", reason="the `semantic` extra is not installed")

WAIT_SECONDS = 30.0
MEMORIES = (
    "Version 4 ships at the end of March",
    "Continuous integration runs on four machines in Frankfurt",
    "Always run the linter before you commit",
)
QUESTION = "Download it now?"
HINT = "to match by meaning too, run `reverie models install`"


def remember(terminal: Terminal, *texts: str) -> None:
    for text in texts:
        assert terminal.run("save", text).code == 0


def answer_file(terminal: Terminal) -> Path:
    return terminal.home / ".reverie" / "vectors.json"


def run_in_terminal(terminal: Terminal, *arguments: str, answer: str = "", **variables: str) -> str:
    """Run the program in a pseudo-terminal, type the answer when it asks, and return what was on the screen."""
    ours, theirs = pty.openpty()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(terminal.home),
        "TERM": "xterm",
        # An index without packages, so that a download fails at once.
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(terminal.home),
        "UV_OFFLINE": "1",
        **variables,
    }
    command = [sys.executable, "-m", "reverie", *arguments]
    process = subprocess.Popen(
        command, cwd=terminal.project, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    screen, answered, deadline = "", False, time.monotonic() + WAIT_SECONDS
    try:
        while (part := _read(ours, deadline)) is not None:
            screen += part
            if QUESTION in screen and not answered:
                assert answer, screen
                answered = True
                os.write(ours, answer.encode())
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return screen.replace("\r\n", "\n")


def _read(handle: int, deadline: float) -> str | None:
    """What the program printed next; None at the end."""
    ready, _, _ = select.select([handle], [], [], max(0.0, deadline - time.monotonic()))
    assert ready, "the program waits for something"
    try:
        return os.read(handle, 65536).decode("utf-8", "replace") or None
    except OSError:
        return None


@requirement("cli:vectors:asked-once")
def test_a_no_is_kept_and_the_command_goes_on(terminal: Terminal) -> None:
    remember(terminal, *MEMORIES)

    screen = run_in_terminal(terminal, "recall", "linter before a commit", answer="n\n")

    assert f"{MINILM.download_bytes / 1e6:.0f} MB" in screen
    assert str(terminal.home / ".reverie" / "models") in screen
    assert "on this machine only" in screen
    assert "run `reverie models install` to change that" in screen
    assert "Always run the linter" in screen.split(QUESTION)[1]
    assert json.loads(answer_file(terminal).read_text())["declined"] is True
    assert QUESTION not in run_in_terminal(terminal, "recall", "linter before a commit")
    assert HINT not in run_in_terminal(terminal, "recall", "recommend a novel")


@requirement("cli:vectors:asked-once")
def test_what_cannot_be_installed_leaves_the_command_to_words(terminal: Terminal) -> None:
    remember(terminal, *MEMORIES)

    screen = run_in_terminal(terminal, "recall", "linter before a commit", answer="y\n")

    assert "vectors were not installed: download" in screen
    assert "run `reverie models install` to try again" in screen
    assert "Always run the linter" in screen.split(QUESTION)[1]
    assert not (terminal.home / ".reverie" / "models" / MODEL_NAME).exists()
    assert QUESTION not in run_in_terminal(terminal, "recall", "linter before a commit")


@requirement("cli:vectors:asked-once")
@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        (("recall", "linter before a commit", "--json"), {}),
        (("recall", "linter before a commit", "--words"), {}),
        (("recall", "linter before a commit"), {"CI": "true"}),
        (("recall", "リンターを実行する"), {}),
        (("-m", "offline", "-p", "linter before a commit"), {}),
        (("list",), {}),
    ],
)
def test_nobody_is_asked_where_nobody_answers_or_nothing_is_gained(
    terminal: Terminal, arguments: tuple[str, ...], variables: dict[str, str]
) -> None:
    remember(terminal, *MEMORIES)

    assert QUESTION not in run_in_terminal(terminal, *arguments, **variables)
    assert not answer_file(terminal).exists()


@requirement("cli:vectors:asked-once")
@pytest.mark.parametrize("memories", [MEMORIES[:1], ("发布在三月底", "集成测试在法兰克福运行", "提交前运行检查")])
def test_a_memory_that_would_not_gain_is_left_alone(terminal: Terminal, memories: tuple[str, ...]) -> None:
    remember(terminal, *memories)

    assert QUESTION not in run_in_terminal(terminal, "recall", "when do we ship?")


@requirement("cli:vectors:hint")
def test_a_weak_result_hints_once_a_day_until_declined(terminal: Terminal) -> None:
    remember(terminal, *MEMORIES)
    strong = terminal.run("recall", "linter before a commit")
    quiet = terminal.run("recall", "recommend a novel", CI="1")
    as_document = terminal.run("recall", "recommend a novel", "--json")

    first = terminal.run("recall", "recommend a novel")
    second = terminal.run("recall", "recommend a novel")

    assert HINT not in strong.err + quiet.err + as_document.err + as_document.out + second.err
    assert first.err.count(HINT) == 1
    answer_file(terminal).write_text('{"hinted": "2020-01-01"}')
    assert HINT in terminal.run("recall", "recommend a novel").err
    answer_file(terminal).write_text('{"hinted": "2020-01-01"}')
    assert "reverie models install" in terminal.run("models", "decline").err
    assert HINT not in terminal.run("recall", "recommend a novel").err


@requirement("cli:vectors:doctor")
def test_doctor_names_the_command(terminal: Terminal) -> None:
    remember(terminal, MEMORIES[0])

    ran = terminal.run("doctor")

    assert "vectors: not installed" in ran.out
    assert "reverie models install" in ran.out
    assert ran.code == 0


@requirement("cli:vectors:doctor")
def test_the_command_for_a_missing_extra_names_its_packages_and_this_python() -> None:
    command = extra_command()

    assert sys.executable in command
    assert "'numpy>=" in command
    assert "'tokenizers>=" in command
