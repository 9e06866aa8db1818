"""`reverie simulate` as a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.requirements import requirement
from tests.simulator.requests import EPHEMERAL, HEADERS, WORDS, request, user


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "reverie", "simulate", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        # A shell that runs tests in the background lets its children ignore the interrupt.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=60)


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def post(url: str, body: object) -> dict[str, Any]:
    content = Request(f"{url}/v1/messages", json.dumps(body).encode(), dict(HEADERS))
    with urlopen(content, timeout=60) as response:
        answered: dict[str, Any] = json.load(response)
        return answered


@requirement("simulator:command:runs")
def test_it_prints_its_url_first_answers_and_exits_with_130_when_interrupted(tmp_path: Path) -> None:
    script, clock = tmp_path / "script.json", tmp_path / "clock"
    script.write_text('{"rules": [{"then": "Scripted."}]}', encoding="utf-8")
    clock.write_text("2026-03-02T09:00:00Z", encoding="utf-8")
    body = request([user(WORDS * 200)], cache_control=dict(EPHEMERAL))

    with running("--script", str(script), "--clock", str(clock), "--seed", "7") as process:
        url = first_line(process)
        first, second = post(url, body), post(url, body)
        clock.write_text("2026-03-02T09:06:00Z", encoding="utf-8")
        third = post(url, body)
        process.send_signal(signal.SIGINT)
        rest, said = process.communicate(timeout=60)

    assert url.startswith("http://127.0.0.1:")
    assert first["content"] == [{"type": "text", "text": "Scripted."}]
    read = [reply["usage"]["cache_read_input_tokens"] for reply in (first, second, third)]
    assert read == [0, first["usage"]["cache_creation_input_tokens"], 0]
    assert process.returncode == 130
    assert rest == ""
    assert "seed 7" in said


@requirement("simulator:command:runs", "simulator:script:names-mistakes")
@pytest.mark.parametrize(
    ("flag", "content", "words"),
    [
        ("--script", '{"rules": [{"then": {"fault": "boom"}}]}', "0.then.fault.kind is 'boom'"),
        ("--clock", "noon", "which is no time"),
    ],
)
def test_a_bad_file_is_a_mistake_of_the_user(tmp_path: Path, flag: str, content: str, words: str) -> None:
    path = tmp_path / "given"
    path.write_text(content, encoding="utf-8")

    with running(flag, str(path)) as process:
        out, said = process.communicate(timeout=20)

    assert process.returncode == 2
    assert out == ""
    assert words in said
    assert str(path) in said


@requirement("simulator:command:runs")
def test_a_port_that_is_taken_is_a_mistake_of_the_user() -> None:
    with running("--port", "0") as one:
        port = first_line(one).rsplit(":", 1)[1]
        with running("--port", port) as other:
            _, said = other.communicate(timeout=20)

    assert other.returncode == 2
    assert f"127.0.0.1:{port}" in said


def test_the_module_is_not_imported_by_the_command_that_only_helps() -> None:
    code = "import sys, reverie.apps.cli.simulate; sys.exit('starlette' in sys.modules or 'uvicorn' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False, env=os.environ).returncode == 0
