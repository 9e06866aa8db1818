from __future__ import annotations

from pathlib import Path

from tests.api.sessions import hold
from tests.apps.cli.conftest import Terminal
from tests.requirements import requirement

TEXTS = (
    "Never push directly to main, open a PR instead.",
    "remember: the build server is broken right now",
    "以后提交信息都用英文写。",
)


@requirement("learn:json", "learn:idempotent", "extraction:refusals")
def test_learn_prints_the_promised_document_and_the_log_shows_what_was_refused(
    terminal: Terminal, tmp_path: Path
) -> None:
    path = hold(tmp_path / "s1.jsonl", *TEXTS)

    ran = terminal.run("learn", str(path), "--json")

    assert ran.code == 0, ran.err
    document = ran.document
    assert (document["sessions"], document["messages"], document["saved"]) == (1, 3, 2)
    [refusal] = document["refused"]
    assert {"reason", "quote"} <= refusal.keys()
    assert refusal["quote"] == TEXTS[1]
    [shown] = terminal.run("log", "--refused", "--json").document
    assert (shown["author"], shown["quote"], shown["rules"]) == ("extraction", TEXTS[1], [refusal["reason"]])
    assert TEXTS[1][:30] in terminal.run("log", "--refused").out
    [commit] = terminal.run("log", "--json").document
    assert (commit["author"], commit["session"]) == ("extraction", "s1")
    again = terminal.run("learn", str(path), "--json").document
    assert (again["saved"], again["messages"], again["refused"]) == (0, 0, [])


@requirement("learn:dry-run")
def test_a_dry_run_says_what_it_would_keep(terminal: Terminal, tmp_path: Path) -> None:
    hold(tmp_path / "s1.jsonl", *TEXTS)

    ran = terminal.run("learn", str(tmp_path / "s1.jsonl"), "--dry-run")

    assert ran.code == 0, ran.err
    assert "Never push directly to main" in ran.out
    assert "would keep 2" in ran.err
    assert terminal.run("list", "--json").document == []


@requirement("learn:each-project")
def test_each_session_may_go_to_the_project_it_was_held_in(terminal: Terminal, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    hold(tmp_path / "sessions" / "s1.jsonl", TEXTS[0], cwd=str(terminal.project))
    hold(tmp_path / "sessions" / "s2.jsonl", TEXTS[2], cwd=str(other))
    hold(tmp_path / "sessions" / "s3.jsonl", "I prefer small pull requests, one change each.", cwd="/gone/away")

    ran = terminal.run("learn", str(tmp_path / "sessions"), "--each-project", "--json")

    assert (ran.document["sessions"], ran.document["saved"]) == (3, 3)
    here = [topic["name"] for topic in terminal.run("list", "--json").document]
    there = [topic["name"] for topic in terminal.run("list", "--json", "--project", str(other)).document]
    assert (len(here), len(there)) == (2, 1)


def test_a_path_that_does_not_exist_is_a_mistake(terminal: Terminal) -> None:
    ran = terminal.run("learn", "nowhere.jsonl")

    assert ran.code == 2
    assert "nowhere.jsonl does not exist" in ran.err
