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

from reverie.messages.blocks import Json
from reverie.testing.simulator import simulator
from tests.apps.cli.conftest import Terminal
from tests.memory.dream.kit import files, text, write
from tests.requirements import requirement

RULE = "Integration tests use a real database, because mocks once hid a broken migration."
OTHER = "Name branches after the ticket they belong to."


def memory_of(terminal: Terminal) -> Path:
    slug = "".join(char if char.isalnum() else "-" for char in str(terminal.project))
    return terminal.home / ".reverie" / "projects" / slug / "memory"


@pytest.fixture
def messy(terminal: Terminal) -> Terminal:
    """A terminal at a project whose memory needs a dream."""
    fact = {"fact.md": text("fact.md", "We release tomorrow.", kind="project")}
    write(memory_of(terminal), files(a=RULE, b=RULE, c=OTHER) | fact)
    return terminal


def topics(terminal: Terminal) -> list[str]:
    return sorted(path.name for path in memory_of(terminal).glob("*.md"))


@requirement("dream:cli", "dream:idempotent", "dream:undo")
def test_a_dream_by_hand_is_told_as_the_contract_says_and_undone(messy: Terminal) -> None:
    ran = messy.run("dream", "--json")
    done = ran.document
    assert ran.code == 0
    assert {key: done[key] for key in ("state", "merged", "retired", "changed")} == {
        "state": "completed",
        "merged": 1,
        "retired": 0,
        "changed": 1,
    }
    assert "2026-03-03" in done["diff"]
    assert topics(messy) == ["MEMORY.md", "a.md", "c.md", "fact.md"]
    newest = messy.run("log", "--json").document[0]
    assert (newest["commit"], newest["author"]) == (done["commit"], "dream")

    again = messy.run("dream", "--json").document
    assert (again["state"], again["commit"], again["diff"]) == ("unchanged", None, "")

    assert messy.run("undo", done["commit"]).code == 0
    assert topics(messy) == ["MEMORY.md", "a.md", "b.md", "c.md", "fact.md"]


@requirement("dream:cli", "dream:review")
def test_a_review_waits_until_it_is_settled(messy: Terminal) -> None:
    shown = messy.run("dream", "--review")
    assert shown.code == 0
    assert "+++ /dev/null" in shown.out
    assert "--yes" in shown.err
    assert "b.md" in topics(messy)

    status = messy.run("dream", "--status", "--json").document
    assert status["proposal"]["steps"] == 2
    assert (status["last"], status["gate"], status["running"]) == (None, "proposal", None)
    assert messy.run("dream", "--review", "--json").document["merged"] == 1

    assert messy.run("dream", "--discard", "--json").document["state"] == "discarded"
    assert messy.run("dream", "--discard").code == 2
    assert messy.run("dream", "--status", "--json").document["proposal"] is None

    messy.run("dream", "--review")
    done = messy.run("dream", "--yes", "--json").document
    assert (done["state"], done["merged"], done["changed"]) == ("completed", 1, 1)
    assert messy.run("dream", "--status", "--json").document["last"] is not None


@requirement("dream:cli")
def test_a_dry_run_keeps_nothing(messy: Terminal) -> None:
    ran = messy.run("dream", "--dry-run", "--json")
    assert (ran.document["state"], ran.document["merged"], ran.document["commit"]) == ("previewed", 1, None)
    assert "b.md" in topics(messy)
    assert messy.run("dream", "--status", "--json").document["proposal"] is None


@requirement("dream:cli")
def test_flags_that_exclude_one_another_are_a_mistake(messy: Terminal) -> None:
    ran = messy.run("dream", "--yes", "--review")
    assert (ran.code, ran.out) == (2, "")
    assert messy.run("--bare", "dream").code == 1


@requirement("tasks:list", "dream:cli")
def test_dreams_are_listed_as_tasks(messy: Terminal) -> None:
    assert messy.run("tasks", "--json").document == []
    done = messy.run("dream", "--json").document
    (task,) = messy.run("tasks", "--json").document
    assert (task["id"], task["kind"], task["state"], task["cost_usd"]) == (done["task"], "dream", "completed", 0.0)
    assert task["log"] == ["Improved 2 memory files"]
    assert done["task"] in messy.run("tasks").out
    assert messy.run("tasks", "--kill", done["task"]).code == 2


@requirement("dream:cli", "dream:lock:one")
def test_of_two_programs_one_dreams(messy: Terminal) -> None:
    command = [sys.executable, "-m", "reverie", "dream", "--json"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(messy.home)}
    programs = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=messy.project, env=environment)
        for _ in range(3)
    ]
    documents = [json.loads(program.communicate()[0]) for program in programs]
    assert [each["merged"] for each in documents if each["state"] == "completed"] == [1]
    assert {each["state"] for each in documents} <= {"completed", "busy", "unchanged"}


@requirement("dream:contradictions:told", "dream:index")
def test_a_dream_tells_opposites_with_both_sources_and_leaves_a_persons_lines_alone(terminal: Terminal) -> None:
    for said in ("Always use tabs", "Never use tabs"):
        assert terminal.run("save", said).code == 0
    index = memory_of(terminal) / "MEMORY.md"
    own = "\n## Mine\n\nKeep this.\n- [a plan](plan.md) : not written yet\n- [Lost](lost.md) — was here\n"
    index.write_text(index.read_text(encoding="utf-8") + own, encoding="utf-8")
    terminal.run("list")
    commits, before = len(terminal.run("log", "--json").document), index.read_bytes()

    shown = terminal.run("dream")
    told = terminal.run("dream", "--json").document

    assert index.read_bytes() == before
    assert [one["author"] for one in terminal.run("log", "--json").document if one["author"] == "dream"] == []
    assert len(terminal.run("log", "--json").document) <= commits + 1
    assert (told["state"], told["commit"]) == ("unchanged", None)
    [pair] = told["contradictions"]
    assert sorted(pair["says"]) == ["Always use tabs", "Never use tabs"]
    assert all(source.startswith("said on ") for source in pair["sources"])
    for path, says in zip(pair["paths"], pair["says"], strict=True):
        assert f"{path}: {says}" in shown.err
    assert "undo" not in shown.err


@requirement("dream:estimate", "dream:cli")
def test_a_dry_run_says_what_the_rules_would_do_and_what_a_model_would_cost(messy: Terminal) -> None:
    before = topics(messy)
    script: list[Json] = [{"then": "fine"}]
    with simulator(script) as provider:
        access = {"ANTHROPIC_API_KEY": provider.api_key, "ANTHROPIC_BASE_URL": provider.base_url}
        ran = messy.run("dream", "--dry-run", "--model", "claude-sonnet-4-5", **access)
        document = messy.run("dream", "--dry-run", "--model", "claude-sonnet-4-5", "--json", **access).document
        assert provider.requests == ()
    assert "would be: 1 merged" in ran.err
    assert "claude-sonnet-4-5 would start with" in ran.err
    assert document["state"] == "previewed"
    assert document["estimate"]["cost_usd"] > 0
    assert document["estimate"]["input_tokens"] > document["estimate"]["first_tokens"] > 1_000
    assert topics(messy) == before
    assert not list(messy.home.rglob("*.jsonl"))
    assert "estimate" not in messy.run("dream", "--dry-run", "--json").document


@requirement("dream:review", "dream:cli")
def test_on_a_terminal_each_piece_is_taken_or_left(messy: Terminal) -> None:
    said = at_terminal(messy, ["dream", "--review"], ["n", "y"])
    assert "1 of 2" in said
    assert "2 of 2" in said
    assert said.count("+++ /dev/null") == 1
    assert "b.md" in topics(messy)
    assert "2026-03-03" in (memory_of(messy) / "fact.md").read_text(encoding="utf-8")
    assert messy.run("dream", "--status", "--json").document["proposal"] is None


@requirement("dream:review", "dream:cli")
def test_a_review_that_is_broken_off_keeps_the_rest(messy: Terminal) -> None:
    at_terminal(messy, ["dream", "--review"], ["y", "q"])
    assert "b.md" not in topics(messy)
    assert "tomorrow" in (memory_of(messy) / "fact.md").read_text(encoding="utf-8")
    assert messy.run("dream", "--status", "--json").document["proposal"]["steps"] == 1


def at_terminal(terminal: Terminal, arguments: list[str], answers: list[str]) -> str:
    """Run a command on a terminal and answer its questions in order."""
    ours, theirs = pty.openpty()
    environment = {"PATH": os.environ["PATH"], "HOME": str(terminal.home), "TERM": "xterm", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "reverie", *arguments]
    said = ""
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=terminal.project, env=environment
    ) as program:
        os.close(theirs)
        end = time.monotonic() + 30
        waiting = list(answers)
        while time.monotonic() < end:
            if not select.select([ours], [], [], 0.1)[0]:
                if program.poll() is not None:
                    break
                continue
            try:
                piece = os.read(ours, 65_536).decode()
            except OSError:
                break
            if not piece:
                break
            said += piece
            if waiting and said.count("accept? [") > len(answers) - len(waiting):
                os.write(ours, f"{waiting.pop(0)}\n".encode())
    os.close(ours)
    assert program.returncode == 0, said
    return said
