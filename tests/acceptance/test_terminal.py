"""Whole sessions in a real terminal against the simulated provider, from the first word to the last."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from reverie.context.receipt import receipts
from reverie.messages.entries import BoundaryEntry, UserEntry
from reverie_simulator.script import Fault, Incoming, ScriptAction, ToolCall
from tests.acceptance.workplace import ASKED, Steps, answer_questions, is_aside, workplace
from tests.apps.tui.tmux import needs_tmux
from tests.requirements import requirement

pytestmark = [needs_tmux, pytest.mark.program]

BUG = "def last(rows):\n    return rows[:-1]\n"
CHECK = "from rows import last\n\nassert last([1, 2, 3]) == 3, last([1, 2, 3])\nprint('all well')\n"
READY = "Type a message."


def call(name: str, text: str = "", **given: str | int | list[dict[str, str]]) -> ScriptAction:
    return ScriptAction(text=text, tool_calls=(ToolCall(name, given),))  # type: ignore[arg-type]  # JSON


@requirement("acceptance:session:bug-fix")
def test_a_bug_is_fixed_with_ten_calls_and_a_question_before_each_change(tmp_path: Path) -> None:
    rows, check = tmp_path / "project" / "rows.py", tmp_path / "project" / "check.py"
    todo = [{"content": "fix last()", "status": "in_progress", "activeForm": "fixing last()"}]
    steps = Steps(
        {
            "fix": (
                call("Glob", "I look around.", pattern="*.py"),
                call("Read", file_path=str(rows)),
                call("Read", file_path=str(check)),
                call("Grep", pattern="last", path=str(tmp_path / "project")),
                call("Bash", command="python3 check.py"),
                call("TodoWrite", todos=todo),
                call("Edit", file_path=str(rows), old_string="rows[:-1]", new_string="rows[-1]"),
                call("Bash", command="python3 -B check.py"),
                call("Write", file_path=str(tmp_path / "project" / "NEWS.md"), content="- `last` gives the last row\n"),
                call("Bash", command="cat NEWS.md"),
                ScriptAction(text="Done: the check passes."),
            )
        }
    )
    with workplace(tmp_path, steps) as at:
        at.file("rows.py", BUG)
        at.file("check.py", CHECK)
        with at.terminal(rows=40) as terminal:
            terminal.sees(READY)
            terminal.enter("Please: fix rows.py")
            answer_questions(terminal, ["python3 check.py", "+    return rows[-1]", "python3 -B check.py", "+- `last`"])
            terminal.sees("Done: the check passes.")
            terminal.press("C-d")
            assert terminal.wait_for_end() == 0

        sent = at.last_messages
        assert rows.read_text(encoding="utf-8") == BUG.replace("[:-1]", "[-1]")
        assert sent.count('"tool_result"') == 10
        assert "AssertionError: [1, 2]" in sent
        assert "all well" in sent
        assert len(at.asked) == 11


STEPS = 9


class Counting:
    """A script: each turn runs a command with a long output and notes it, whatever is left of the prompt in view."""

    def __init__(self) -> None:
        self._noted = 0
        self._has_called = False

    def __call__(self, incoming: Incoming) -> ScriptAction:
        if is_aside(incoming.body):
            return ScriptAction(text="A summary of sorts: numbers were counted.")
        self._has_called = not self._has_called
        if self._has_called:
            return call("Bash", command="seq 1 4000")
        self._noted += 1
        return ScriptAction(text=f"Noted {self._noted - 1}.")


@requirement("acceptance:session:long")
def test_a_long_session_passes_three_compactions_and_shows_each_receipt(tmp_path: Path) -> None:
    with workplace(tmp_path, Counting()) as at:
        with at.terminal("--window", "40000", "--allowed-tools", "Bash(seq:*)", rows=50) as terminal:
            terminal.sees(READY)
            shown = 0
            for number in range(STEPS):
                terminal.enter(f"Please: step {number}. Mind the {number} swans")
                screen = terminal.sees(f"Noted {number}.")
                shown = max(shown, screen.count("/uncompact undoes it"))
                assert "cache was lost" not in screen
            terminal.press("C-d")
            assert terminal.wait_for_end() == 0

        boundaries = [entry for entry in at.entries if isinstance(entry, BoundaryEntry)]
        assert len(boundaries) >= 3
        assert len(receipts(at.entries)) == len(boundaries)
        assert shown >= 1
        assert all(f"Mind the {number} swans" in at.last_messages for number in range(STEPS))


@requirement("acceptance:session:refusal")
def test_a_refusal_reaches_the_model_with_its_reason_and_nothing_happens(tmp_path: Path) -> None:
    steps = Steps(
        {"clean": (call("Bash", command="rm -rf build"), ScriptAction(text="Then I leave it: {tool_result}"))}
    )
    with workplace(tmp_path, steps) as at:
        (at.project / "build").mkdir()
        with at.terminal() as terminal:
            terminal.sees(READY)
            terminal.enter("Please: clean up")
            terminal.sees("1. Yes")
            terminal.press("n")
            terminal.sees("reason, or what to do instead")
            terminal.enter("it is shared")
            terminal.sees("Then I leave it")

        assert (at.project / "build").is_dir()
        assert "They say: it is shared" in at.last_messages


@requirement("acceptance:session:crash")
def test_a_session_killed_while_a_tool_runs_is_resumed_where_it_stood(tmp_path: Path) -> None:
    steps = Steps(
        {
            "wait": (call("Bash", "I wait.", command="sleep 60"), ScriptAction(text="unreachable")),
            "go on": (ScriptAction(text="We were waiting."),),
        }
    )
    with workplace(tmp_path, steps) as at:
        with at.terminal("--allowed-tools", "Bash(sleep:*)") as terminal:
            terminal.sees(READY)
            terminal.enter("Please: wait a little")
            terminal.sees("Bash sleep 60")
            os.kill(terminal.process_id, signal.SIGKILL)
            terminal.until(lambda _: terminal.has_ended, "the kill")
        (path,) = at.transcripts
        with at.terminal("--resume", path.stem[:8]) as terminal:
            terminal.sees("I wait.")
            terminal.enter("Please: go on")
            terminal.sees("We were waiting.")

        assert at.transcripts == [path]
        assert "interrupted this call" in at.last_messages
        assert "Please: wait a little" in at.last_messages


@requirement("acceptance:session:faults")
def test_overloaded_servers_and_dropped_streams_are_asked_again(tmp_path: Path) -> None:
    steps = Steps(
        {
            "hello": (call("Bash", "I look.", command="ls"), ScriptAction(text="Here after all.")),
            "more": (ScriptAction(text="And once more."),),
        }
    )
    with workplace(tmp_path, steps, faults=(529,)) as at:
        overloaded, dropped = (
            ScriptAction(fault=Fault("overloaded")),
            ScriptAction(text="Half an", fault=Fault("drop", after_events=4)),
        )
        at.provider.act(overloaded, overloaded, dropped)
        with at.terminal() as terminal:
            terminal.sees(READY)
            terminal.enter("Please: hello")
            assert "retrying in" in terminal.sees("Here after all.")
            at.provider.act(dropped, overloaded)
            terminal.enter("Please: more")
            terminal.sees("And once more.")

        assert "Half an" not in at.last_messages
        assert [record.status for record in at.provider.requests].count(529) == 3


@requirement("acceptance:session:stops")
def test_ctrl_c_stops_the_turn_with_a_valid_history_and_twice_leaves(tmp_path: Path) -> None:
    slow = ScriptAction(text="one two three four five six", event_delay_seconds=1.0)
    steps = Steps(
        {
            "slowly": (slow,),
            "run": (call("Bash", command="sleep 50"), ScriptAction(text="unreachable")),
            "quickly": (ScriptAction(text="Here I am."),),
        }
    )
    with workplace(tmp_path, steps) as at:
        with at.terminal("--allowed-tools", "Bash(sleep:*)") as terminal:
            terminal.sees(READY)
            terminal.enter("Please: answer slowly")
            terminal.sees("Esc stops")
            terminal.press("C-c")
            terminal.sees("stopped; type what to do instead")
            terminal.enter("Please: run it")
            terminal.sees("Bash sleep 50")
            terminal.press("C-c")
            terminal.until(lambda screen: "Esc stops" not in screen, "the turn to stop")
            terminal.enter("Please: answer quickly")
            terminal.sees("Here I am.")
            terminal.press("C-c")
            terminal.press("C-c")
            terminal.sees("Resume this session with: reverie --resume")
            assert terminal.wait_for_end() == 0

        assert at.last_messages.count("[Request interrupted by user]") == 2
        assert "interrupted this call" in at.last_messages
        typed = [entry.message.text for entry in at.entries if isinstance(entry, UserEntry) and entry.source == "typed"]
        assert typed == ["Please: answer slowly", "Please: run it", "Please: answer quickly"]


@requirement("acceptance:session:back")
def test_files_go_back_in_a_resumed_session_and_own_commands_are_told(tmp_path: Path) -> None:
    rows, made = tmp_path / "project" / "rows.py", tmp_path / "project" / "made.py"
    steps = Steps(
        {
            "fix": (
                call("Read", file_path=str(rows)),
                call("Edit", file_path=str(rows), old_string="[:-1]", new_string="[-1]"),
                call("Write", file_path=str(made), content="x = 1\n"),
                ScriptAction(text="Both are done."),
            ),
            "wait": (call("Bash", "I wait.", command="sleep 2"), ScriptAction(text="Waited.")),
        }
    )
    with workplace(tmp_path, steps) as at:
        at.file("rows.py", BUG)
        with at.terminal("--permission-mode", "acceptEdits") as terminal:
            terminal.sees(READY)
            terminal.enter("Please: fix it")
            terminal.sees("Both are done.")
            terminal.press("C-d")
            terminal.wait_for_end()
        made.write_text("y = 2\n", encoding="utf-8")
        with at.terminal("--continue", "--allowed-tools", "Bash(sleep:*)") as terminal:
            terminal.sees("Both are done.")
            terminal.enter("!echo by hand; false")
            terminal.sees("exit code 1")
            terminal.enter("Please: wait a little")
            terminal.sees("Bash sleep 2")
            terminal.enter("/rewind")
            terminal.sees("⋯ /rewind")
            terminal.sees("Rewind to before which message?")
            terminal.type("fix it")
            terminal.until(lambda screen: "  Please: wait" not in screen, "the list to be narrowed")
            terminal.press("Enter")
            terminal.sees("The conversation and 2 files")
            terminal.press("Enter")
            terminal.sees("Files also changed outside this session: made.py")
            terminal.press("Enter")
            terminal.sees("conversation rewound; restored: rows.py")

        assert "<bash-stdout>by hand" in at.last_messages
        assert "exit code 1" in at.last_messages
        assert rows.read_text(encoding="utf-8") == BUG
        assert made.read_text(encoding="utf-8") == "y = 2\n"


@requirement("acceptance:terminal:compact-side")
def test_one_side_of_a_message_that_is_picked_from_a_list_is_summed_up(tmp_path: Path) -> None:
    words = ("alpha", "beta", "gamma", "delta")
    told = {
        word: (ScriptAction(text=f"{word} answer. " + f"The {word} lamp burns. " * 120 + f"{word}end."),)
        for word in words
    }
    steps = Steps(
        {**told, "epsilon": (ScriptAction(text="epsilon answer."),)}, aside="The lamps were looked at, one by one."
    )
    with workplace(tmp_path, steps) as at, at.terminal(rows=40) as terminal:
        terminal.sees(READY)
        for word in words:
            terminal.enter(f"{ASKED}{word}")
            terminal.sees(f"{word}end.")
        terminal.enter("/compact from")
        terminal.sees("Summarise from which message on?")
        terminal.press("Escape")
        terminal.sees(READY)
        terminal.enter("/compact from")
        terminal.sees("Summarise from which message on?")
        terminal.type("gam")
        terminal.until(lambda screen: f"  {ASKED}delta" not in screen, "the list to be narrowed")
        terminal.press("Enter")
        terminal.sees("partial compaction")
        terminal.enter(f"{ASKED}epsilon")
        terminal.sees("epsilon answer.")
        assert [word in at.last_messages for word in ("alphaend.", "betaend.", "gammaend.", "deltaend.")] == [
            True,
            True,
            False,
            False,
        ]
        terminal.enter("/compact up to")
        terminal.sees("Summarise everything before which message?")
        terminal.type("beta")
        terminal.until(lambda screen: f"  {ASKED}alpha" not in screen, "the list to be narrowed")
        terminal.press("Enter")
        terminal.until(lambda screen: screen.count("partial compaction") == 2, "the second compaction")
        terminal.enter(f"{ASKED}epsilon again")
        terminal.until(lambda screen: screen.count("epsilon answer.") == 2, "the answer")
        assert ["alphaend." in at.last_messages, "betaend." in at.last_messages] == [False, True]
