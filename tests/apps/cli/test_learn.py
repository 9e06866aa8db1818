from __future__ import annotations

from pathlib import Path

import pytest

from reverie.messages.blocks import Json
from reverie.testing.simulator import simulator
from tests.apps.cli.conftest import Terminal
from tests.requirements import requirement
from tests.session.sessions import hold

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
    assert "would save 2" in ran.err
    assert terminal.run("list", "--json").document == []


@requirement("learn:each-project")
@pytest.mark.parametrize("flags", [(), ("--each-project",)])
def test_each_session_goes_to_the_project_it_was_held_in(
    terminal: Terminal, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    sessions = tmp_path / "sessions"
    hold(sessions / "s1.jsonl", TEXTS[0], cwd=str(terminal.project))
    hold(sessions / "s2.jsonl", TEXTS[2], cwd=str(other))
    gone = hold(sessions / "s3.jsonl", "I prefer small pull requests, one change each.", cwd=str(tmp_path / "gone"))
    nowhere = hold(sessions / "s4.jsonl", "Always sign commits.")

    ran = terminal.run("learn", str(sessions), *flags, "--json")

    assert (ran.code, ran.document["sessions"], ran.document["saved"]) == (0, 2, 2), ran.err
    assert sorted(each["path"] for each in ran.document["not_stored"]) == [str(gone), str(nowhere)]
    assert {each["cwd"] for each in ran.document["not_stored"]} == {str(tmp_path / "gone"), None}
    stores = {each["project"]: each for each in ran.document["stores"]}
    assert set(stores) == {str(terminal.project), str(other)}
    for project, text in ((terminal.project, TEXTS[0]), (other, TEXTS[2])):
        [topic] = terminal.run("list", "--json", "--project", str(project)).document
        assert Path(stores[str(project)]["directory"], topic["path"]).is_file()
        assert text in Path(stores[str(project)]["directory"], topic["path"]).read_text(encoding="utf-8")


@requirement("learn:each-project")
def test_the_answer_names_the_stores_and_what_was_not_stored(terminal: Terminal, tmp_path: Path) -> None:
    hold(tmp_path / "sessions" / "s1.jsonl", TEXTS[0], cwd=str(terminal.project))
    gone = hold(tmp_path / "gone.jsonl", TEXTS[2], cwd="/gone/away")

    ran = terminal.run("learn", str(tmp_path / "sessions"), str(gone))
    named = terminal.run("learn", str(gone), "--project", str(terminal.project), "--json")

    assert f"not saved: {gone}: /gone/away does not exist" in ran.err
    assert "1 session, saved 1" in ran.err
    [store] = named.document["stores"]
    assert store["directory"] in ran.err
    assert (store["saved"], named.document["not_stored"]) == (1, [])


@requirement("learn:unusable-reply")
@pytest.mark.parametrize("text", ["Sure! I have noted it.", '{"memories": [{"name": "x"'])
def test_a_model_that_cannot_answer_in_form_leaves_it_to_the_rules(
    terminal: Terminal, tmp_path: Path, text: str
) -> None:
    hold(tmp_path / "s1.jsonl", TEXTS[0], TEXTS[2], cwd=str(terminal.project))
    script: Json = [{"then": text}]
    with simulator(script) as provider:
        key = {"ANTHROPIC_API_KEY": provider.api_key, "ANTHROPIC_BASE_URL": provider.base_url}

        ran = terminal.run("learn", str(tmp_path / "s1.jsonl"), "--model", "claude-haiku-4-5", "--json", **key)

    assert (ran.code, ran.document["saved"], ran.document["failed"]) == (0, 2, []), ran.err
    assert len(ran.document["unusable_replies"]) == len(provider.requests) == 1
    assert "1 of 1 replies of claude-haiku-4-5 were unusable" in ran.err


def test_a_path_that_does_not_exist_is_a_mistake(terminal: Terminal) -> None:
    ran = terminal.run("learn", "nowhere.jsonl")

    assert ran.code == 2
    assert "nowhere.jsonl does not exist" in ran.err


@pytest.mark.parametrize("content", [bytes(range(256)) * 20, b'{"a": 1}\n', b""])
def test_a_file_without_messages_is_a_mistake_and_is_passed_over_in_a_folder(
    terminal: Terminal, tmp_path: Path, content: bytes
) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "recalled.jsonl").write_bytes(content)

    named = terminal.run("learn", str(folder / "recalled.jsonl"))
    assert named.code == 2
    assert "is not a transcript" in named.err
    searched = terminal.run("learn", str(folder), "--json")
    assert searched.code == 0
    assert searched.document["sessions"] == 0
    assert searched.document["not_stored"] == []
