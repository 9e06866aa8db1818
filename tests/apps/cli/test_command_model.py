"""Memory work with the program of another agent as its model, as a user does it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.apps.cli.conftest import Terminal
from tests.requirements import requirement
from tests.session.sessions import hold

PROGRAM = """#!{python} -SE
import json, re, sys
prompt = sys.stdin.read()
copy = re.search(r"`([^`]+)` holds a copy of all memories", prompt)
path = copy and copy[1] + "/project_port.md"
results = prompt.count("Result of call_")
if copy and results < 2:
    edit = {{"file_path": path, "old_string": "8099.", "new_string": "8099 (TCP)."}}
    name, given = (("Read", {{"file_path": path}}), ("Edit", edit))[results]
    answer = json.dumps({{"tool_calls": [{{"name": name, "input": given}}]}})
else:
    said = "Never push directly to main, open a PR instead."
    fields = dict(type="feedback", name="Pull requests", description=said, body=said, why="", how_to_apply="")
    answer = "Done." if copy else json.dumps({{"memories": [fields | dict(quote=said, message="", when=[], asks=[])]}})
usage = {{"input_tokens": 100, "output_tokens": 10}}
print(json.dumps({{"type": "result", "is_error": False, "result": answer, "total_cost_usd": 0.01, "usage": usage}}))
"""


@pytest.fixture
def path_with_claude(tmp_path: Path) -> str:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "claude").write_text(PROGRAM.format(python=sys.executable), encoding="utf-8")
    (folder / "claude").chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


@requirement("models:command:answers", "models:command:cost")
def test_a_dream_edits_through_the_program_and_its_reported_cost_is_booked(
    terminal: Terminal, path_with_claude: str
) -> None:
    about = ("--type", "project", "--name", "Port", "--description", "Port of the service")
    terminal.run("save", *about, "--body", "It listens on 8099.")

    ran = terminal.run("dream", "--json", PATH=path_with_claude, REVERIE_MODEL_MEMORY="command:claude")

    assert (ran.code, ran.document["state"]) == (0, "completed"), ran
    assert ran.document["cost_usd"] == pytest.approx(0.03)
    assert "+It listens on 8099 (TCP)." in ran.document["diff"]
    row = terminal.run("cost", "--by", "model", "--json").document[0]
    assert (row["model"], row["calls"], row["cost_usd"]) == ("command:claude", 3, pytest.approx(0.03))


@requirement("models:command:answers", "models:local-servers")
def test_learning_asks_the_program_only_when_it_was_chosen(
    terminal: Terminal, path_with_claude: str, tmp_path: Path
) -> None:
    session = str(hold(tmp_path / "s1.jsonl", "Never push directly to main, open a PR instead."))

    unasked = terminal.run("learn", session, "--dry-run", "--json", PATH=path_with_claude).document
    asked = terminal.run("learn", session, "--model", "command:claude", "--json", PATH=path_with_claude).document
    listed = terminal.run("models", "--json", PATH=path_with_claude).document

    assert (unasked["replies"], asked["replies"]) == (0, 1)
    assert asked["saved"] == 1
    assert asked["unusable_replies"] == []
    assert "command:claude" in [row["name"] for row in listed]
    missing = terminal.run("learn", session, "--model", "command:codex", PATH="/nowhere")
    assert missing.code == 2
    assert "needs the program codex" in missing.err
