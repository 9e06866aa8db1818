"""Programs of others open what our sessions write."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie_simulator.script import ScriptAction, ToolCall
from tests.acceptance.workplace import Steps, Workplace, workplace
from tests.requirements import requirement

pytestmark = pytest.mark.program

VIEWER = "claude-code-log==1.7.0"
METER = "ccusage@18.0.11"
"""The last that runs on Node alone; later ones bring a binary for some machines."""
_INSTALL_SECONDS = 90
_RUN_SECONDS = 60

STEPS = Steps(
    {
        "count": (
            ScriptAction(
                text="I look around.",
                thinking="Two ways.",
                tool_calls=(ToolCall("Bash", {"command": "ls"}), ToolCall("Glob", {"pattern": "*.txt"})),
            ),
            ScriptAction(text="There is one file."),
        ),
        "name": (ScriptAction(text="It is called a.txt."),),
    }
)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workplace, Path]]:
    """A place with a session of two turns, and a home in which others look for sessions."""
    tmp_path = tmp_path_factory.mktemp("written")
    with workplace(tmp_path, STEPS) as at:
        at.file("a.txt", "a")
        assert at.run("-p", "Please: count the files").code == 0
        assert at.run("-p", "Please: name it", "--continue").code == 0
        (path,) = at.transcripts
        others = tmp_path / "others" / ".claude" / "projects" / path.parent.name
        others.mkdir(parents=True)
        shutil.copy(path, others / path.name)
        yield at, others


@requirement("acceptance:readers:vendor")
def test_the_vendors_reader_gives_the_conversation(written: tuple[Workplace, Path]) -> None:
    pytest.importorskip("claude_agent_sdk", reason="the vendor's reader is not installed")
    at, folder = written
    (path,) = folder.glob("*.jsonl")
    code = (
        "import claude_agent_sdk, json, sys;"
        "found = claude_agent_sdk.get_session_messages(sys.argv[1], directory=sys.argv[2]);"
        "print(json.dumps([[m.type, m.message['content']] for m in found]))"
    )
    shown = _ran([sys.executable, "-W", "ignore", "-c", code, path.stem, str(at.project)], home=folder.parents[2])

    messages = json.loads(shown)
    assert [kind for kind, _ in messages if kind != "attachment"] == [
        "user",
        *["assistant"] * 4,
        *["user"] * 2,
        "assistant",
        "user",
        "assistant",
    ]
    assert "Please: count the files" in shown
    assert "It is called a.txt." in shown


@requirement("acceptance:readers:claude-code-log")
def test_a_viewer_of_others_renders_the_conversation(
    written: tuple[Workplace, Path], pytestconfig: pytest.Config
) -> None:
    _, folder = written
    program = _viewer(Path(str(pytestconfig.cache.mkdir("readers"))))
    page = folder.parents[2] / "page.html"
    _ran([program, str(folder), "-o", str(page)], home=folder.parents[2])

    text = page.read_text(encoding="utf-8")
    for words in (
        "Please: count the files",
        "I look around.",
        "Two ways.",
        "There is one file.",
        "It is called a.txt.",
    ):
        assert words in text


@requirement("acceptance:readers:ccusage")
def test_a_meter_of_others_finds_the_tokens(written: tuple[Workplace, Path], pytestconfig: pytest.Config) -> None:
    at, folder = written
    program = _meter(Path(str(pytestconfig.cache.mkdir("readers"))))
    shown = _ran([program, "session", "--json", "--offline"], home=folder.parents[2])

    usages = [record.message["usage"] for record in at.asked if record.message]
    total = json.loads(shown)["totals"]
    assert total["outputTokens"] == sum(int(str(usage["output_tokens"])) for usage in usages if isinstance(usage, dict))


def _viewer(folder: Path) -> str:
    """The program in an environment of its own; skips where it cannot be had."""
    if found := shutil.which("claude-code-log"):
        return found
    program = folder / "viewer" / "bin" / "claude-code-log"
    if not program.exists():
        if shutil.which("uv") is None:
            pytest.skip("claude-code-log is not installed, and there is no uv to install it")
        _installed(["uv", "venv", "--quiet", "--allow-existing", str(folder / "viewer")])
        _installed(["uv", "pip", "install", "--quiet", "--python", str(folder / "viewer" / "bin" / "python"), VIEWER])
    return str(program)


def _meter(folder: Path) -> str:
    if found := shutil.which("ccusage"):
        return found
    program = folder / "meter" / "node_modules" / ".bin" / "ccusage"
    if not program.exists():
        if shutil.which("npm") is None:
            pytest.skip("ccusage is not installed, and there is no npm to install it")
        _installed(["npm", "install", "--silent", "--no-audit", "--prefix", str(folder / "meter"), METER])
    return str(program)


def _installed(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip(f"{command[0]} did not finish in {_INSTALL_SECONDS} s: no package index in reach?")
    if done.returncode != 0:
        pytest.skip(f"{command[0]} could not install it: {(done.stderr or done.stdout).strip()[-200:]}")


def _ran(command: list[str], *, home: Path) -> str:
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    done = subprocess.run(
        command, env=environment, cwd=home, capture_output=True, text=True, timeout=_RUN_SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
