"""The vendor's own agent and ours take over each other's sessions, in one home."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from reverie_simulator.script import Incoming, ScriptAction, ToolCall
from tests.acceptance.host import host_folder, needs_host, run_host, sent, write_records
from tests.acceptance.workplace import ASKED, Workplace, workplace
from tests.messages.host_sessions import CASES, Case, records
from tests.requirements import requirement

pytestmark = [pytest.mark.agents, needs_host, pytest.mark.timeout(300)]


def answer(incoming: Incoming) -> ScriptAction:
    """A summary when one is asked for, a command when told to run one, else an answer with a number."""
    asked = incoming.last_user
    if "detailed summary" in asked:
        return ScriptAction(text="<analysis>-</analysis><summary>It was about apples.</summary>")
    if "run it" in asked and not incoming.tool_result:
        return ScriptAction(text="I run it.", tool_calls=(ToolCall("Bash", {"command": "echo printed"}),))
    return ScriptAction(text=f"answer {incoming.number}")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Workplace]:
    with workplace(tmp_path, answer, extends=False) as at:
        yield at


def host(at: Workplace, *arguments: str, stdin: str | None = None) -> str:
    return run_host(at.provider, at.home, at.project, *arguments, stdin=stdin)


def newest(at: Workplace) -> list[str]:
    bodies = [record.body for record in at.provider.requests if record.path.endswith("/messages")]
    body = bodies[-1]
    assert isinstance(body, dict)
    return sent(body)


@requirement("acceptance:host:preserved-messages")
def test_we_go_on_with_what_the_host_kept_of_a_long_conversation(place: Workplace) -> None:
    session = json.loads(host(place, "-p", "tell me of apples", "--output-format", "json"))["session_id"]
    host(place, "-p", "please run it", "--resume", session, "--allowedTools", "Bash")
    host(place, "-p", "/compact", "--resume", session)
    assert host(place, "-p", "and pears?", "--resume", session).startswith("answer")
    theirs = newest(place)

    assert place.run("-p", f"{ASKED}and plums?", "--resume", session).code == 0

    ours = newest(place)
    assert ours[: len(theirs)] == theirs
    assert ours[1].startswith("assistant: answer")
    assert ours[-1] == f"user: {ASKED}and plums?"
    shown = json.dumps(place.provider.requests[-1].body)
    assert "powered by the model" not in shown
    assert "Co-Authored-By" not in shown


@requirement("acceptance:host:preserved-messages")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_both_resume_a_compaction_alike(tmp_path: Path, case: Case, *, thorough: bool) -> None:
    if not thorough and case not in CASES[2:4]:
        pytest.skip("--thorough compares every case")
    session = str(uuid4())
    with workplace(tmp_path, answer, extends=False) as place:
        path = host_folder(place.home, place.project) / f"{session}.jsonl"
        write_records(path, records(case, session=session, cwd=str(place.project.resolve())))

        assert place.run("-p", f"{ASKED}go on", "--resume", session).code == 0
        ours = newest(place)
        host(place, "-p", f"{ASKED}go on", "--resume", session)
        theirs = newest(place)

    assert [one.partition(": ")[2] for one in theirs[1:-1]] == case.sends.split()
    assert ours == theirs


@requirement("acceptance:host:resumes-ours")
def test_the_host_goes_on_with_a_session_of_ours(place: Workplace) -> None:
    assert place.run("-p", f"{ASKED}tell me of apples").code == 0
    assert place.run("-p", f"{ASKED}run it", "--continue", "--allowed-tools", "Bash").code == 0
    ours = newest(place)
    (path,) = place.transcripts
    shutil.copy(path, host_folder(place.home, place.project) / path.name)

    assert host(place, "-p", "go on", "--resume", path.stem).startswith("answer")

    theirs = newest(place)
    assert [one for one in theirs if one in ours] == ours
    assert "printed" in json.dumps(place.provider.requests[-1].body)

    # And back: we take over what the host wrote behind ours.
    assert (
        place.run("-p", f"{ASKED}once more", "--resume", str(host_folder(place.home, place.project) / path.name)).code
        == 0
    )
    assert "user: go on" in newest(place)


@requirement("acceptance:host:big-records")
def test_a_session_that_begins_with_a_long_log_is_found(place: Workplace) -> None:
    log = "".join(f"{number}: something happened here\n" for number in range(8_000))
    host(place, "-p", "what went wrong?", stdin=log)
    (path,) = host_folder(place.home, place.project).glob("*.jsonl")

    listed = place.run("sessions", "--json")
    assert [row["id"] for row in json.loads(listed.out)] == [path.stem]
    assert json.loads(listed.out)[0]["tokens"] > 50_000
    assert place.run("context").code == 0
    assert place.run("-p", f"{ASKED}go on", "--continue").code == 0
    assert any("7999: something happened here" in one for one in newest(place))
