from __future__ import annotations

import json
import shutil
from importlib.resources import files
from pathlib import Path

import pytest

from reverie.files.places import slug
from tests.apps.cli.conftest import Terminal
from tests.requirements import requirement

SAMPLE = Path(str(files("reverie.apps.demo") / "sample-session.jsonl"))
SESSION = "3c1a7f52-8d0e-4b6a-9f2d-51c0ffee0001"


@pytest.fixture
def recorded(terminal: Terminal) -> Path:
    """The sample as a session of the host agent in this project."""
    folder = terminal.home / ".claude" / "projects" / slug(terminal.project)
    folder.mkdir(parents=True)
    text = SAMPLE.read_text(encoding="utf-8").replace("/home/mira/ledgerly", str(terminal.project.resolve()))
    path = folder / f"{SESSION}.jsonl"
    path.write_text(text, encoding="utf-8")
    return path


@requirement("cli:context:json")
def test_the_document_has_the_keys_of_the_contract(terminal: Terminal) -> None:
    ran = terminal.run("context", str(SAMPLE), "--json")

    document = ran.document
    assert ran.code == 0
    assert document["tool_calls"] == document["tool_results"] == 18
    assert document["messages"] == 26
    assert document["window"] == 200_000
    assert document["cost_usd"] == pytest.approx(0.16, abs=0.01)
    assert sum(part["tokens"] for part in document["parts"]) == pytest.approx(document["tokens"], abs=20)
    assert {"kind", "tokens"} <= document["parts"][0].keys()


@requirement("cli:context:json")
def test_people_see_bars_and_the_biggest_items(terminal: Terminal) -> None:
    ran = terminal.run("context", str(SAMPLE))

    assert "█" in ran.out
    assert "store.py" in ran.out
    assert "compaction at 167k" in ran.out


@requirement("tokens:profiles:unknown")
def test_an_assumed_window_is_said(terminal: Terminal) -> None:
    ran = terminal.run("context", str(SAMPLE), "--model", "qwen3", "--json")

    assert ran.document["window"] == 32_000
    assert "'qwen3' is not known: a window of 32,000 tokens is assumed" in ran.err
    assert terminal.run("context", str(SAMPLE), "--model", "qwen3", "--window", "40000").err == ""


@requirement("cli:context:json")
def test_another_window_moves_the_level(terminal: Terminal) -> None:
    small = terminal.run("context", str(SAMPLE), "--json", "--window", "20000").document

    assert small["window"] == 20_000
    assert small["level"] == "blocked"


@requirement("cli:context:finds-sessions")
@pytest.mark.parametrize("named", [(), (SESSION,), (SESSION[:8],)])
def test_a_session_is_found(terminal: Terminal, recorded: Path, named: tuple[str, ...]) -> None:
    assert terminal.run("context", *named, "--json").document["session"] == str(recorded)


@requirement("cli:context:finds-sessions")
def test_an_ambiguous_beginning_is_a_mistake(terminal: Terminal, recorded: Path) -> None:
    shutil.copy(recorded, recorded.with_name(SESSION[:8] + "-0000-4000-8000-000000000000.jsonl"))

    ran = terminal.run("context", SESSION[:6])

    assert ran.code == 2
    assert "2 sessions" in ran.err


@requirement("cli:sessions:json")
def test_sessions_are_listed_with_what_they_cost(terminal: Terminal, recorded: Path) -> None:
    (listed,) = terminal.run("sessions", "--json").document

    assert listed["id"] == SESSION
    assert listed["path"] == str(recorded)
    assert listed["title"] == "Tidewater statements land in the wrong month"
    assert listed["model"].startswith("claude-sonnet-4-5")
    assert listed["tokens"] > 18_000
    assert listed["cost_usd"] == pytest.approx(0.16, abs=0.01)
    assert listed["updated"] > listed["created"]


@requirement("cli:sessions:figures")
def test_figures_are_remembered_until_the_file_grows(terminal: Terminal, recorded: Path) -> None:
    before = terminal.run("sessions", "--json").document[0]
    cache = terminal.home / ".reverie" / "cache" / "sessions.json"
    assert cache.is_file()

    last = recorded.read_text(encoding="utf-8").splitlines()[-1]
    with recorded.open("a", encoding="utf-8") as file:
        file.write(last.replace('"uuid":"', '"uuid":"again-').replace("msg_", "msg_again") + "\n")

    assert terminal.run("sessions", "--json").document[0]["messages"] == before["messages"] + 1


@requirement("cli:sessions:figures")
def test_a_damaged_memory_of_figures_is_ignored(terminal: Terminal, recorded: Path) -> None:
    cache = terminal.home / ".reverie" / "cache" / "sessions.json"
    cache.parent.mkdir(parents=True)
    cache.write_text("{broken", encoding="utf-8")

    assert terminal.run("sessions", "--json").document[0]["cost_usd"] is not None


@requirement("cli:sessions:json")
def test_no_sessions_is_an_empty_list(terminal: Terminal) -> None:
    assert terminal.run("sessions", "--json").document == []


@requirement("cli:sessions:json")
def test_real_folders_can_be_listed(terminal: Terminal, shared_data: Path) -> None:
    listed = terminal.run("sessions", str(shared_data / "transcripts"), "--json").document

    assert len(listed) > 10
    assert listed == sorted(listed, key=lambda one: (one["updated"], one["id"]), reverse=True)


@requirement("cli:context:subagents")
def test_sub_agents_of_our_own_session_are_found_in_both_places(terminal: Terminal, tmp_path: Path) -> None:
    def agent(name: str, session: str) -> str:
        common = {"sessionId": session, "agentId": name, "isSidechain": True, "timestamp": "2026-02-01T08:00:00.000Z"}
        asked = {
            "type": "user",
            "uuid": f"{name}-1",
            "parentUuid": None,
            "message": {"role": "user", "content": "look"},
        }
        said = {"id": f"m-{name}", "role": "assistant", "content": [{"type": "text", "text": "found"}]}
        replied = {"type": "assistant", "uuid": f"{name}-2", "parentUuid": f"{name}-1", "message": said}
        return "".join(json.dumps(common | row) + "\n" for row in (asked, replied))

    new, old = tmp_path / "new", tmp_path / "old"
    for folder, agents in ((new, new / SESSION / "subagents"), (old, old)):
        agents.mkdir(parents=True)
        shutil.copy(SAMPLE, folder / f"{SESSION}.jsonl")
        for name in ("a1b2c3d", "e4f5a6b"):
            (agents / f"agent-{name}.jsonl").write_text(agent(name, SESSION), encoding="utf-8")
    (old / "agent-0c0ffee.jsonl").write_text(agent("0c0ffee", "another"), encoding="utf-8")

    for folder in (new, old):
        document = terminal.run("context", str(folder / f"{SESSION}.jsonl"), "--json").document
        assert {one["id"] for one in document["subagents"]} == {"agent-a1b2c3d", "agent-e4f5a6b"}


@requirement("cli:context:subagents")
def test_sub_agents_are_found_in_both_places(terminal: Terminal, shared_data: Path, tmp_path: Path) -> None:
    session = "0ccf1a04-1b4c-43b6-8aa5-79e41db43a68"
    source = shared_data / "transcripts" / "session-share" / "projects"
    new, old = tmp_path / "new", tmp_path / "old"
    new.mkdir()
    old.mkdir()
    for folder in (new, old):
        shutil.copy(source / f"{session}.jsonl", folder)
    shutil.copytree(source / session, new / session)
    for file in (source / session / "subagents").iterdir():
        shutil.copy(file, old)
    (old / "agent-other.jsonl").write_text('{"type":"user","uuid":"u","sessionId":"another","isSidechain":true}\n')

    found = [
        {one["id"] for one in terminal.run("context", str(folder / f"{session}.jsonl"), "--json").document["subagents"]}
        for folder in (new, old)
    ]

    assert found[0] == found[1]
    assert len(found[0]) == 5


@requirement("cli:context:finds-sessions")
def test_a_session_is_found_from_any_project_and_one_in_two_homes_can_be_named(
    terminal: Terminal, recorded: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    found = terminal.run("--project", str(elsewhere), "context", SESSION[:8], "--json")
    replayed = terminal.run("--project", str(elsewhere), "replay", SESSION, "--json")
    ours = terminal.home / ".reverie" / "projects" / slug(terminal.project) / recorded.name
    ours.parent.mkdir(parents=True)
    shutil.copy(recorded, ours)
    both = terminal.run("context", SESSION)

    assert found.document["session"] == str(recorded)
    assert replayed.document["sessions"][0]["file"] == str(recorded)
    assert both.code == 2
    assert str(ours) in both.err
    assert str(recorded) in both.err
    assert terminal.run("context", str(ours), "--json").document["session"] == str(ours)


@requirement("cli:errors:bad-input")
def test_a_picture_that_cannot_be_written_is_refused_before_the_work(terminal: Terminal, tmp_path: Path) -> None:
    for name, words in ((tmp_path / "nope" / "x.svg", "does not exist"), (tmp_path / "x.gif", ".svg or .png")):
        ran = terminal.run("replay", str(SAMPLE), "--picture", str(name))

        assert ran.code == 2
        assert words in ran.err
    assert not (tmp_path / "nope").exists()
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert terminal.run("replay", str(SAMPLE), "--dump", str(tmp_path / "file")).code == 2
