from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest

from reverie_simulator.rules.check import validate
from tests.apps.cli.conftest import Terminal, terminal
from tests.requirements import requirement

__all__ = ["terminal"]

SAMPLE = Path(str(files("reverie.apps.demo") / "sample-session.jsonl"))
STRATEGIES = ("default", "none", "truncate", "clear-tools", "summarise")


@requirement("replay:json")
def test_the_document_has_the_keys_of_the_contract(terminal: Terminal) -> None:
    (session,) = terminal.run("replay", str(SAMPLE), "--json").document["sessions"]

    assert session["file"] == str(SAMPLE)
    assert session["totals"]["requests"] == session["totals"]["of_requests"] == 13
    assert session["totals"]["unannounced_breaks"] == 0
    for request in session["requests"]:
        assert {"tokens", "cache_read", "cache_write", "fresh", "cost_usd", "reduced"} <= request.keys()
        assert request["tokens"] == request["cache_read"] + request["cache_write"] + request["fresh"]
    assert session["requests"][-1]["cache_read"] > 0


@requirement("replay:strategies", "replay:no-silent-breaks")
@pytest.mark.sampled
@pytest.mark.parametrize("window", ["4000", "6000", "20000"])
def test_every_strategy_runs_at_every_window(terminal: Terminal, window: str) -> None:
    named = [word for name in STRATEGIES for word in ("--strategy", name)]

    sessions = terminal.run("replay", str(SAMPLE), *named, "--window", window, "--json").document["sessions"]

    assert [session["strategy"] for session in sessions] == list(STRATEGIES)
    for session in sessions:
        totals = session["totals"]
        assert totals["requests"] == totals["of_requests"] or totals["stopped"]
        assert totals["unannounced_breaks"] == 0
        if session["strategy"] == "default" and not totals["stopped"]:
            assert totals["peak_tokens"] < int(window)
            assert totals["receipt_failures"] == 0


@requirement("replay:dump")
def test_every_dumped_body_is_accepted(terminal: Terminal, tmp_path: Path) -> None:
    ran = terminal.run("replay", str(SAMPLE), "--window", "6000", "--dump", str(tmp_path / "bodies"))

    assert ran.code == 0
    bodies = sorted((tmp_path / "bodies" / "sample-session").glob("*.json"))
    assert bodies[0].name == "0001.json"
    for path in bodies:
        assert validate(json.loads(path.read_text(encoding="utf-8"))) is None, path


@requirement("replay:dump", "replay:strategies")
@pytest.mark.parametrize(
    "name",
    ["claude-reliability/coverage-test-fix.jsonl", "session-share/projects/0ccf1a04-1b4c-43b6-8aa5-79e41db43a68.jsonl"],
)
def test_real_sessions_replay_without_a_refused_request(terminal: Terminal, shared_data: Path, name: str) -> None:
    named = [word for one in STRATEGIES for word in ("--strategy", one)]

    ran = terminal.run("replay", str(shared_data / "transcripts" / name), *named, "--window", "8000", "--json")

    for session in ran.document["sessions"]:
        refused = {request["refused"] for request in session["requests"] if request["refused"]}
        assert all("prompt is too long" in words for words in refused), (session["strategy"], refused)
        assert session["strategy"] == "none" or not refused


@requirement("replay:strategies")
def test_a_trajectory_replays_too(terminal: Terminal, shared_data: Path) -> None:
    path = shared_data / "trajectories" / "mini-swe-agent" / "pallets__flask-5014.json"

    (session,) = terminal.run("replay", str(path), "--window", "12000", "--json").document["sessions"]

    assert session["totals"]["requests"] == 20
    assert session["totals"]["reductions"]


@pytest.mark.program
@requirement("replay:picture")
def test_the_figures_are_drawn(terminal: Terminal, tmp_path: Path) -> None:
    picture = tmp_path / "replay.svg"

    ran = terminal.run("replay", str(SAMPLE), "--picture", str(picture))

    assert "█" in ran.out
    assert picture.read_text(encoding="utf-8").startswith("<svg")
    assert "polygon" in picture.read_text(encoding="utf-8")


@requirement("replay:json")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nothing.jsonl",), "nothing.jsonl"),
        ((str(SAMPLE), "--strategy", "magic"), "clear-tools"),
        ((str(SAMPLE), "--picture", "x.gif"), ".svg"),
        ((str(SAMPLE), "--model", "no-such-model"), "no-such-model"),
    ],
)
def test_mistakes_are_named(terminal: Terminal, arguments: tuple[str, ...], words: str) -> None:
    ran = terminal.run("replay", *arguments)

    assert ran.code == 2
    assert words in ran.err


@requirement("replay:strategies")
def test_a_recording_without_its_beginning_starts_at_the_first_question(terminal: Terminal, tmp_path: Path) -> None:
    lines = SAMPLE.read_text(encoding="utf-8").splitlines()
    headless = tmp_path / "headless.jsonl"
    headless.write_text("\n".join(lines[4:]) + "\n", encoding="utf-8")

    (session,) = terminal.run("replay", str(headless), "--json").document["sessions"]

    assert session["totals"]["stopped"] is None
    assert 0 < session["totals"]["requests"] < 13


@pytest.mark.program
@requirement("replay:lost")
def test_a_plain_summary_loses_words_and_our_compaction_does_not(terminal: Terminal, shared_data: Path) -> None:
    path = shared_data / "transcripts" / "episodic-memory" / "long-conversation.jsonl"
    strategies = ("--strategy", "default", "--strategy", "summarise")

    ours, plain = terminal.run("replay", str(path), "--window", "60000", *strategies, "--json").document["sessions"]

    assert "full compaction" in ours["totals"]["reductions"]
    assert ours["totals"]["receipt_failures"] == 0
    assert plain["totals"]["receipt_failures"] > 0
