from __future__ import annotations

import os
import shlex
import subprocess
import sys

import pytest

from reverie import __version__
from reverie.apps.cli.program import COMMANDS
from tests.apps.cli.conftest import Terminal
from tests.requirements import requirement

HEAVY = ("anthropic", "openai", "httpx2", "mcp", "numpy", "starlette", "uvicorn", "rich", "yaml", "asyncio")


def imported_by(*arguments: str) -> set[str]:
    """The modules that one command line has loaded when it is done."""
    code = (
        "import sys, io; out, sys.stdout = sys.stdout, io.StringIO()\n"
        "from reverie.__main__ import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "out.write(' '.join(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return set(ran.stdout.split())


@requirement("cli:start:light")
@pytest.mark.parametrize("arguments", [("--version",), ("--help",), ("settings", "--json")])
def test_starting_loads_nothing_heavy(arguments: tuple[str, ...]) -> None:
    loaded = imported_by(*arguments)

    assert "reverie" in loaded
    assert loaded.isdisjoint(HEAVY)
    if arguments == ("--version",):
        assert "click" not in loaded


@requirement("cli:errors:exit-codes")
def test_the_version_is_printed(terminal: Terminal) -> None:
    assert terminal.run("--version").out == f"reverie {__version__}\n"


@requirement("cli:errors:exit-codes")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("setings",), "settings"),
        (("context", "nothing.jsonl"), "nothing.jsonl"),
        (("context", "0000"), "reverie sessions"),
        (("context",), "--project"),
        (("context", "."), "directory"),
        (("sessions", "no-such-folder"), "no-such-folder"),
        (("sessions", "--limit", "0"), "--limit"),
        (("--set", "window.nonsense=1", "sessions"), "window.nonsense"),
        (("--settings", "missing.toml", "sessions"), "missing.toml"),
        (("-p", "   "), "prompt"),
        (("-m", "no-such-model", "-p", "hi"), "no-such-model"),
        (("simulate", "--script", "missing.json"), "missing.json"),
        (("-m", "offline", "--agents", "{bad", "-p", "hi"), "--agents"),
        (("-m", "offline", "--agents", '{"a": {"prompt": "x"}}', "-p", "hi"), "description"),
        (("-m", "offline", "--mcp-config", "missing.json", "-p", "hi"), "missing.json"),
        (("-m", "offline", "--mcp-config", ".", "-p", "hi"), "--mcp-config ."),
        (("-m", "offline", "--plugin-dir", "missing", "-p", "hi"), "--plugin-dir missing"),
        (("replay", "missing.jsonl"), "missing.jsonl"),
        (("replay", "0000"), "0000"),
        (("at", "30 february"), "30 february"),
        (("undo",), "reverie log"),
        (("undo", "--learn"), "learn"),
        (("undo", "nothing"), "nothing"),
        (("save", "   "), "nothing to save"),
        (("save", "--name", "x"), "--type and --description"),
        (("--window", "5", "-p", "hi"), "--window"),
    ],
)
def test_a_mistake_exits_with_2_and_names_the_thing(terminal: Terminal, arguments: tuple[str, ...], words: str) -> None:
    ran = terminal.run(*arguments)

    assert ran.code == 2
    assert words in ran.err
    assert ran.out == ""


@requirement("cli:help:examples")
@pytest.mark.parametrize("name", [listed.name for listed in COMMANDS])
def test_every_command_explains_itself_with_examples(terminal: Terminal, name: str) -> None:
    ran = terminal.run(name, "--help")

    assert ran.code == 0
    assert f"reverie {name}" in ran.out
    assert "Example" in ran.out
    assert "\\b" not in ran.out


@requirement("cli:help:examples")
def test_the_overview_lists_every_command(terminal: Terminal) -> None:
    ran = terminal.run("--help")

    for listed in COMMANDS:
        assert f"  {listed.name} " in ran.out


@requirement("cli:flags:add-dir")
def test_directories_join_those_of_the_settings(terminal: Terminal) -> None:
    (terminal.home / "beside").mkdir()
    settings = terminal.home / ".reverie" / "settings.toml"
    settings.parent.mkdir()
    settings.write_text('[permissions]\nadditional_directories = ["../other"]\n', encoding="utf-8")

    rows = terminal.run("--add-dir", "../home/beside", "settings", "--json").document
    wrong = terminal.run("--add-dir", "nowhere", "list")

    found = next(row["value"] for row in rows if row["key"] == "permissions.additional_directories")
    assert found == ["../other", str((terminal.home / "beside").resolve())]
    assert wrong.code == 2
    assert "nowhere" in wrong.err


@requirement("cli:streams:closed")
@pytest.mark.parametrize(
    ("command", "closed"), [("list", ">&-"), ("recall orchid", ">&-"), ("doctor", "<&- >&- 2>&-"), ("log", "| true")]
)
def test_a_closed_stream_is_no_failure(terminal: Terminal, command: str, closed: str) -> None:
    terminal.run("save", "the staging database is called orchid")
    script = f"{shlex.quote(sys.executable)} -m reverie {command} {closed}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=terminal.project,
        env={"PATH": os.environ["PATH"], "HOME": str(terminal.home)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert "Traceback" not in done.stderr
    assert done.returncode == 0
