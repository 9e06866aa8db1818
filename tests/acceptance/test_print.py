"""`reverie -p` as scripts use it, against the simulated provider."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from reverie_simulator.script import ScriptAction, ToolCall
from tests.acceptance.host import host_folder, write_records
from tests.acceptance.workplace import Steps, Workplace, workplace
from tests.messages.host_sessions import CASES, records
from tests.requirements import requirement

pytestmark = pytest.mark.program

STEPS = Steps(
    {
        "count": (
            ScriptAction(text="I look.", tool_calls=(ToolCall("Bash", {"command": "ls"}),)),
            ScriptAction(text="Two files."),
        ),
        "more": (ScriptAction(text="No more."),),
        "otherwise": (ScriptAction(text="It went another way."),),
    }
)


@requirement("acceptance:print:formats", "acceptance:print:goes-on")
def test_a_turn_is_streamed_continued_from_stdin_and_forked(tmp_path: Path) -> None:
    with workplace(tmp_path, STEPS) as at:
        at.file("a.txt", "a")
        at.file("b.txt", "b")
        streamed = at.run("-p", "Please: count the files", "--output-format", "stream-json")
        continued = at.run("-p", "-", "--continue", "--output-format", "json", stdin="Please: is there more?\n")
        forked = at.run("-p", "Please: otherwise", "--continue", "--fork-session", "--output-format", "json")

        kinds = [line["type"] for line in streamed.lines if line["type"] != "stream_event"]
        assert (streamed.code, kinds) == (0, ["system", "assistant", "user", "assistant", "result"])
        (answered,) = (line for line in streamed.lines if line["type"] == "user")
        assert "a.txt" in answered["message"]["content"][0]["content"]
        whole = "".join(line["event"]["text"] for line in streamed.lines if line["type"] == "stream_event")
        assert whole == "I look.Two files."
        (first,), (second,), (third,) = streamed.lines[-1:], continued.lines, forked.lines
        assert [one["result"] for one in (first, second, third)] == ["Two files.", "No more.", "It went another way."]
        assert all(one["subtype"] == "success" and one["usage"]["output_tokens"] > 0 for one in (first, second, third))
        assert first["session_id"] == second["session_id"] != third["session_id"]
        assert {path.stem for path in at.transcripts} == {first["session_id"], third["session_id"]}
        assert "Please: is there more?" in at.last_messages


@requirement("acceptance:print:formats")
def test_what_nobody_allowed_is_refused_and_said(tmp_path: Path) -> None:
    steps = Steps(
        {
            "remove": (
                ScriptAction(tool_calls=(ToolCall("Bash", {"command": "rm a.txt"}),)),
                ScriptAction(text="I may not."),
            )
        }
    )
    with workplace(tmp_path, steps) as at:
        at.file("a.txt", "a")
        ran = at.run("-p", "Please: remove it")

        assert (ran.code, ran.out) == (0, "I may not.\n")
        assert (at.project / "a.txt").is_file()
        assert "did not allow this call" in at.last_messages


def _host_session(at: Workplace, words: str, *, year: str, cwd: Path) -> str:
    """The id of a session in the host's folder of the project, held in `cwd`."""
    session = str(uuid4())
    lines = records(CASES[0], session=session, cwd=str(cwd.resolve()))
    said = [{**line, "timestamp": str(line["timestamp"]).replace("2026", year)} for line in lines]
    said[-5]["message"] = {"role": "user", "content": words}
    write_records(host_folder(at.home, at.project) / f"{session}.jsonl", said)
    return session


@requirement("acceptance:print:goes-on")
def test_the_newest_session_goes_on_whoever_held_it(tmp_path: Path) -> None:
    with workplace(tmp_path, Steps({"on": (ScriptAction(text="So be it."),)}), extends=False) as at:
        _host_session(at, "the first of theirs", year="2001", cwd=at.project)
        assert at.run("-p", "Please: go on", "--continue").code == 0
        assert "the first of theirs" in at.last_messages
        assert at.run("-p", "Please: on with ours", "--continue").code == 0
        assert "Please: go on" in at.last_messages
        assert len(at.transcripts) == 1

        _host_session(at, "the last of theirs", year="2998", cwd=at.project)
        _host_session(at, "of a folder called alike", year="2999", cwd=at.home)
        assert at.run("-p", "Please: on with theirs", "--continue").code == 0
        assert "the last of theirs" in at.last_messages
        assert len(at.transcripts) == 2


@requirement("acceptance:print:elsewhere")
def test_what_is_listed_goes_on_in_every_directory_of_a_repository(tmp_path: Path) -> None:
    with workplace(tmp_path, Steps({"on": (ScriptAction(text="So be it."),)}), extends=False) as at:
        (at.project / "sub").mkdir()
        (at.project / ".git").mkdir()
        (at.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
        theirs = _host_session(at, "held at the top", year="2001", cwd=at.project)
        below = ("--project", "sub")

        assert theirs in at.run(*below, "sessions", "--json").out
        assert at.run(*below, "-p", "Please: go on below", "--resume", theirs[:8]).code == 0
        assert "held at the top" in at.last_messages
        (ours,) = at.transcripts
        kept = ours.read_bytes()
        assert at.run("-p", "Please: go on above", "--resume", ours.stem).code == 0
        assert "go on below" in at.last_messages
        assert ours.read_bytes() == kept, "each directory has its own sessions"
        assert len(at.transcripts) == 2
