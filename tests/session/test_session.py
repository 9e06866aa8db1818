from __future__ import annotations

import asyncio
import json
import sys
import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from reverie.apps.cli.print_turn import run_command, slash_command
from reverie.context.receipt import receipts
from reverie.errors import UserMistake
from reverie.messages.blocks import Json
from reverie.messages.entries import AssistantEntry, AttachmentEntry, BoundaryEntry, NotesEntry, UserEntry
from reverie.messages.transcript import Transcript, read_entries
from reverie.messages.view import ItemKind, project
from reverie.models.ledger import read_bookings
from reverie.models.ports import Ending, Retrying, TextDelta
from reverie.models.profiles import ProfileOverride
from reverie.permissions.approval import Approval
from reverie.session.events import (
    Attached,
    Notice,
    RequestSent,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    ViewReduced,
)
from reverie.session.session import Session
from reverie.settings import BudgetSettings, ExtractionSettings, ModelSettings, NotesSettings, ToolsSettings
from tests.requirements import requirement
from tests.session.session_desk import cached_share, calls, desk, ending, is_legal, results, told
from tests.tools.mcp.servers import EXAMPLE


@requirement("session:turn:tools", "session:file:on-disk-first")
async def test_a_bug_is_fixed_with_several_calls(tmp_path: Path) -> None:
    app = str(tmp_path / "project" / "app.py")
    script: list[Json] = [
        {"when": {"last_user": "fix"}, "times": 1, "then": calls(("Read", {"file_path": app}), text="I look.")},
        {
            "when": {"answers_tool": "Read"},
            "times": 1,
            "then": calls(("Edit", {"file_path": app, "old_string": "return 1", "new_string": "return 2"})),
        },
        {
            "when": {"answers_tool": "Edit"},
            "times": 1,
            "then": calls(("Bash", {"command": "python3 -c 'import app; print(app.f())'", "description": "try it"})),
        },
        {"when": {"answers_tool": "Bash"}, "then": "It returns 2 now."},
    ]
    with desk(tmp_path, script) as at:
        at.file("app.py", "def f():\n    return 1\n")
        async with at.start() as session:
            events = await told(session, "please fix app.py")

        assert ending(events).ending is Ending.COMPLETED
        assert ending(events).text == "It returns 2 now."
        assert (at.project / "app.py").read_text() == "def f():\n    return 2\n"
        assert results(at.bodies[-1]) == [(False, "2")]
        assert [event.name for event in events if isinstance(event, ToolStarted)] == ["Read", "Edit", "Bash"]
        assert [question.need.tool for question in at.person.asked] == ["Edit", "Bash"]
        assert all(map(is_legal, at.bodies))
        typed = [one for one in read_entries(session.path) if isinstance(one, UserEntry) and one.source == "typed"]
        assert [one.message.text for one in typed] == ["please fix app.py"]


class WatchedTranscript(Transcript):
    """Notes from which thread it is flushed and how many entries it holds then."""

    flushes: list[tuple[bool, int]]

    def flush(self) -> None:
        on_loop = threading.current_thread() is threading.main_thread()
        self.flushes.append((on_loop, len(self.entries)))
        super().flush()


@requirement("session:events:none-lost")
async def test_what_happens_while_the_end_of_a_turn_is_read_reaches_the_listeners(tmp_path: Path) -> None:
    late = Notice("the agent has ended", "info")
    heard: list[object] = []
    with desk(tmp_path, [{"then": "fine"}]) as at:
        async with at.start() as session:
            session.listen(heard.append)
            async for event in session.send("hello"):
                if isinstance(event, TurnEnded):
                    session.parts.loop.parts.emit(late)

    assert heard == [late]


@requirement("session:file:flushed-off-the-loop")
async def test_what_is_said_is_flushed_beside_the_event_loop(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"last_user": "look"}, "times": 1, "then": calls(("Read", {"file_path": "app.py"}))},
        {"when": {"answers_tool": "Read"}, "then": "Seen."},
    ]
    with desk(tmp_path, script) as at:
        at.file("app.py", "x = 1\n")
        transcript = WatchedTranscript.open(tmp_path / "s.jsonl", now=at.time)
        transcript.flushes = []
        async with Session(at.setup(), transcript, source="startup") as session:
            held = [
                len(transcript.flushes)
                async for event in session.send("look at app.py")
                if isinstance(event, RequestSent | ToolStarted | TurnEnded)
            ]
            flushes = list(transcript.flushes)

    assert [on_loop for on_loop, _ in flushes] == [False] * 3
    assert held == [1, 2, 2, 3]  # the request, the call, the second request, the end
    entries = read_entries(tmp_path / "s.jsonl")
    covered = [entries[:count] for _, count in flushes]
    assert any(isinstance(one, UserEntry) and one.source == "typed" for one in covered[0])
    assert isinstance(covered[1][-1], AssistantEntry)
    assert isinstance(covered[2][-1], AssistantEntry)


@requirement("session:turn:concurrent", "session:turn:tools")
async def test_readers_run_together_and_answer_in_the_order_of_the_calls(tmp_path: Path) -> None:
    script: list[Json] = [
        {
            "when": {"last_user": "look"},
            "times": 1,
            "then": calls(*(("Bash", {"command": f"sleep 0.3; echo {word}"}) for word in ("slow", "0", "1", "2", "3"))),
        },
        {"then": "done"},
    ]
    with desk(tmp_path, script) as at:
        async with at.start() as session:
            events = await told(session, "look at everything")

        assert [text for _, text in results(at.bodies[-1])] == ["slow", "0", "1", "2", "3"]
        ended = [event for event in events if isinstance(event, ToolEnded)]
        started = [events.index(event) for event in events if isinstance(event, ToolStarted)]
        # All had begun before the first had ended: none waited for another.
        assert max(started) < events.index(ended[0])


@requirement("session:turn:refusal")
async def test_a_refused_call_tells_the_model_why_and_changes_nothing(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"last_user": "write"}, "times": 1, "then": calls(("Bash", {"command": "touch made"}))},
        {"then": "I leave it."},
    ]
    with desk(tmp_path, script) as at:
        at.person.answer = lambda _: Approval(False, message="not in this folder")
        async with at.start() as session:
            events = await told(session, "write something")

        ((failed, text),) = results(at.bodies[-1])
        assert failed
        assert "not in this folder" in text
        assert not (at.project / "made").exists()
        assert ending(events).ending is Ending.COMPLETED


@requirement("session:turn:refusal")
async def test_an_answer_may_hold_for_the_session_and_for_the_project(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"last_user": "write", "has_tool_results": False}, "then": calls(("Bash", {"command": "touch made"}))},
        {"then": "done"},
    ]
    with desk(tmp_path, script) as at:
        at.person.answer = lambda question: Approval(True, rule=question.suggestions[0], scope="local")
        async with at.start() as session:
            await told(session, "write it")
            await told(session, "write it again")

        assert len(at.person.asked) == 1
        assert "touch made" in (at.project / ".reverie" / "settings.local.toml").read_text()


@requirement("session:turn:cancel")
async def test_a_turn_is_cancelled_in_the_middle_of_an_answer(tmp_path: Path) -> None:
    words = "one two three four five six seven eight nine ten " * 5
    script: list[Json] = [
        {"when": {"last_user": "long"}, "times": 1, "then": {"text": words, "event_delay_ms": 30}},
        {"then": "yes"},
    ]
    with desk(tmp_path, script) as at:
        async with at.start() as session:
            heard = []
            async for event in session.send("a long story"):
                heard.append(event)
                if isinstance(event, TextDelta):
                    session.cancel()
            assert ending(heard).ending is Ending.CANCELLED
            events = await told(session, "go on")

        assert ending(events).text == "yes"
        assert is_legal(at.bodies[-1])
        assert "interrupted" in json.dumps(at.bodies[-1]["messages"])


@requirement("session:turn:cancel")
async def test_a_turn_is_cancelled_in_the_middle_of_a_command_which_ends_too(tmp_path: Path) -> None:
    script: list[Json] = [
        {
            "when": {"last_user": "wait"},
            "times": 1,
            "then": calls(("Bash", {"command": "echo $$ > pid; sleep 30"}), ("Bash", {"command": "touch after"})),
        },
        {"then": "yes"},
    ]
    with desk(tmp_path, script) as at:
        async with at.start() as session:
            heard = []
            async for event in session.send("wait a while"):
                heard.append(event)
                if isinstance(event, ToolStarted):
                    for _ in range(100):
                        if (at.project / "pid").exists() and (at.project / "pid").read_text().strip():
                            break
                        await asyncio.sleep(0.02)
                    session.cancel()
            assert ending(heard).ending is Ending.CANCELLED
            await told(session, "go on")

        assert not (at.project / "after").exists()
        pid = (at.project / "pid").read_text().strip()
        assert not Path(f"/proc/{pid}").exists() or "sleep" not in Path(f"/proc/{pid}/cmdline").read_text()
        assert is_legal(at.bodies[-1])


@requirement("session:turn:limits")
async def test_a_turn_ends_at_its_rounds(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": calls(("Glob", {"pattern": "*"}))}]) as at:
        at.options["max_rounds"] = 3
        async with at.start() as session:
            events = await told(session, "go round")

        assert ending(events).ending is Ending.MAX_ROUNDS
        assert len(at.bodies) == 3


@requirement("session:turn:rounds")
async def test_without_a_limit_of_the_caller_a_turn_ends_at_that_of_the_settings_and_goes_on_when_told(
    tmp_path: Path,
) -> None:
    script: list[Json] = [
        {"when": {"last_user": "continue"}, "then": "done"},
        {"then": calls(("Glob", {"pattern": "*"}))},
    ]
    with desk(tmp_path, script) as at:
        assert at.settings.budget.turn_rounds == 200
        at.settings = replace(at.settings, budget=BudgetSettings(turn_rounds=4))
        async with at.start() as session:
            first = ending(await told(session, "go round"))
            second = ending(await told(session, "continue"))

        assert (first.ending, first.rounds) == (Ending.MAX_ROUNDS, 4)
        assert "budget.turn_rounds" in first.text
        assert (second.ending, second.text) == (Ending.COMPLETED, "done")
        assert len(at.bodies) == 5
        assert is_legal(at.bodies[-1])


@requirement("session:turn:limits", "session:ledger:booked")
async def test_a_turn_ends_at_the_budget_and_every_call_is_booked(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": calls(("Glob", {"pattern": "*"}))}]) as at:
        at.settings = replace(at.settings, budget=BudgetSettings(session_usd=0.06))
        async with at.start() as session:
            events = await told(session, "go round")

        booked = list(read_bookings(at.home / ".reverie" / "ledger"))
        assert ending(events).ending is Ending.BUDGET
        assert len(booked) == len(at.bodies) >= 1
        assert sum(one.cost_usd or 0 for one in booked) >= 0.06
        assert {one.purpose for one in booked} == {"turn"}


@requirement("session:turn:limits")
async def test_a_reply_that_was_cut_off_is_continued(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"request": 1}, "then": {"text": "The first half", "stop_reason": "max_tokens"}},
        {"then": "and the second."},
    ]
    with desk(tmp_path, script) as at:
        async with at.start() as session:
            events = await told(session, "tell me all")

        assert ending(events).text == "and the second."
        assert len(at.bodies) == 2


@requirement("session:turn:limits")
async def test_a_reply_that_is_always_cut_off_is_continued_three_times(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": {"text": "more", "stop_reason": "max_tokens"}}]) as at:
        async with at.start() as session:
            events = await told(session, "tell me all")

        assert ending(events).ending is Ending.COMPLETED
        assert len(at.bodies) == 4


@requirement("session:turn:failures")
@pytest.mark.parametrize("fault", ["overloaded", "drop", "error_event"])
async def test_a_failure_that_may_pass_is_tried_again(tmp_path: Path, fault: str) -> None:
    script: list[Json] = [
        {"times": 1, "then": {"text": "half an answer", "fault": {"kind": fault}}},
        {"then": "a whole answer"},
    ]
    with desk(tmp_path, script) as at:
        async with at.start() as session:
            events = await told(session, "hello there")

        assert ending(events).text == "a whole answer"
        assert any(isinstance(event, Retrying) for event in events)


@requirement("session:turn:failures")
async def test_another_model_is_asked_when_the_first_has_no_capacity(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"model": "sonnet"}, "then": {"fault": {"kind": "overloaded"}}},
        {"then": "the other one answers"},
    ]
    with desk(tmp_path, script) as at:
        at.settings = replace(at.settings, model=ModelSettings(fallback=("claude-haiku-4-5",)))
        async with at.start() as session:
            events = await told(session, "hello there")

        assert ending(events).text == "the other one answers"
        assert any(isinstance(event, Notice) and "claude-haiku-4-5" in event.text for event in events)


@requirement("session:turn:failures")
async def test_the_other_model_is_asked_for_no_longer_an_answer_than_it_can_give(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"model": "sonnet"}, "then": {"fault": {"kind": "overloaded"}}},
        {"then": "the other one answers"},
    ]
    with desk(tmp_path, script) as at:
        other = "claude-haiku-3-5"
        at.settings = replace(at.settings, model=ModelSettings(fallback=(other,), max_output_tokens=30_000))
        async with at.start() as session:
            events = await told(session, "hello there")
        assert ending(events).text == "the other one answers"
        assert [body["max_tokens"] for body in at.bodies if body["model"] == other] == [8_192]
        at.options["overrides"] = {other: ProfileOverride(max_output_tokens=4_000)}
        async with at.start() as session:
            await told(session, "hello there")
        assert at.bodies[-1]["max_tokens"] == 4_000


@requirement("session:turn:failures")
async def test_a_failure_ends_the_turn_and_the_session_goes_on(tmp_path: Path) -> None:
    script: list[Json] = [{"times": 1, "then": {"fault": {"kind": "authentication"}}}, {"then": "welcome back"}]
    with desk(tmp_path, script) as at:
        async with at.start() as session:
            failed = await told(session, "hello there")
            events = await told(session, "and now")

        assert ending(failed).ending is Ending.FAILED
        assert ending(events).text == "welcome back"
        assert is_legal(at.bodies[-1])


@requirement("session:turn:queued")
async def test_words_typed_meanwhile_join_at_the_next_boundary(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"request": 1}, "then": calls(("Bash", {"command": "sleep 0.3"}))},
        {"then": "I heard both."},
    ]
    with desk(tmp_path, script) as at:
        async with at.start() as session:
            events = []
            async for event in session.send("first words"):
                events.append(event)
                if isinstance(event, ToolStarted):
                    session.queue("second words")

        assert "second words" in json.dumps(at.bodies[1]["messages"][-1])
        assert [event.text for event in events if isinstance(event, TurnStarted)] == ["first words", "second words"]
        assert len(at.bodies) == 2


@requirement("session:resume:goes-on")
async def test_a_session_that_was_killed_in_a_call_goes_on(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"request": 1}, "then": calls(("Glob", {"pattern": "*"}), text="I look.")},
        {"then": "I know."},
    ]
    with desk(tmp_path, script) as at:
        session = at.start()
        async for event in session.send("what is here?"):
            if isinstance(event, ToolStarted):
                break
        await session.close()
        lines = session.path.read_bytes().splitlines(keepends=True)
        asked = next(n for n, line in enumerate(lines) if b'"type":"tool_use"' in line)
        session.path.write_bytes(b"".join(lines[: asked + 1]))

        async with at.resume(session.id) as again:
            events = await told(again, "go on")

        assert ending(events).text == "I know."
        assert again.id == session.id
        assert is_legal(at.bodies[-1])
        assert "interrupted" in json.dumps(at.bodies[-1]["messages"])


@requirement("session:resume:goes-on", "session:resume:fork")
async def test_a_resumed_session_extends_and_a_fork_leaves_the_original_alone(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine {request}"}]) as at:
        async with at.start() as session:
            await told(session, "remember the number 7")
        before = session.path.read_bytes()
        async with at.resume(session.id[:8], fork=True) as copy:
            await told(copy, "in the copy")
        assert session.path.read_bytes() == before
        assert copy.id != session.id
        async with at.resume(session.id) as again:
            await told(again, "in the original")

        first, last = at.bodies[0], at.bodies[-1]
        assert last["system"][0]["text"] == first["system"][0]["text"]
        assert last["messages"][0]["content"][0]["text"] == first["messages"][0]["content"][0]["text"]
        assert "in the copy" not in json.dumps(last)
        assert cached_share(at.provider.requests[-1]) > 0.5


@requirement("session:window:compacts")
async def test_a_long_session_passes_three_compactions(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    script: list[Json] = [
        {"when": {"has_tool_results": True}, "then": "noted"},
        {"when": {"last_user": "step"}, "then": calls(("Bash", {"command": "seq 1 2500"}))},
        {"then": "a summary of sorts"},
    ]
    with desk(tmp_path, script) as at:
        at.file("CLAUDE.md", "Always greet the moon.")
        at.options["window_tokens"] = 40_000
        command = f"cat > /dev/null; echo PreCompact >> {heard}"
        at.hooks(PreCompact=[{"hooks": [{"type": "command", "command": command}]}])
        async with at.start() as session:
            events = []
            for number in range(24):
                events += await told(session, f"step {number}: mind the {number} swans")

        boundaries = [entry for entry in session.entries if isinstance(entry, BoundaryEntry)]
        assert len(boundaries) >= 3
        assert all(event.ending is Ending.COMPLETED for event in events if isinstance(event, TurnEnded))
        assert len(heard.read_text().split()) == len(boundaries)
        last = json.dumps(at.bodies[-1]["messages"])
        assert all(f"mind the {number} swans" in last for number in range(24))
        assert last.count("Always greet the moon.") == 1
        assert "<system-reminder>\\n<system-reminder>" not in last
        receipts = [event.receipt for event in events if isinstance(event, ViewReduced) and event.receipt]
        assert len(receipts) == len(boundaries)


@requirement("session:window:back", "session:window:span")
async def test_a_compaction_is_undone_and_what_it_left_out_is_read_again(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"answers_tool": "Bash"}, "then": "The secret word is heron."},
        {"when": {"last_user": "which word"}, "times": 1, "then": calls(("recall_span", {"subject": "heron"}))},
        {"when": {"last_user": "the (first|second) thing"}, "then": calls(("Bash", {"command": "seq 1 4000"}))},
        {"then": "done"},
    ]
    with desk(tmp_path, script) as at:
        async with at.start() as session:
            await told(session, "the first thing")
            await told(session, "the second thing")
            receipt = await session.compact()
            assert receipt is not None
            events = await told(session, "which word was it?")
            assert any(isinstance(event, ToolEnded) and "heron" in event.text for event in events)
            before = session.status.used_tokens
            assert session.uncompact() > before
            await told(session, "and again")

        sent = json.dumps(at.bodies[-1]["messages"])
        assert "3998" in sent
        assert sent.index("3998") < sent.index("which word was it?") < sent.index("and again"), "later turns stay"


@requirement("session:window:part", "session:window:back")
@pytest.mark.moves_prefix("a compaction")
@pytest.mark.parametrize("side", ["from", "up_to"])
async def test_one_side_of_a_message_is_compacted_and_taken_back(tmp_path: Path, side: str) -> None:
    script: list[Json] = [
        {"when": {"last_user": "about to be replaced"}, "then": "<summary>The moles were seen to.</summary>"},
        {"when": {"has_tool_results": True}, "then": "seen"},
        {"when": {"last_user": "look at the"}, "times": 3, "then": calls(("Bash", {"command": "seq 1 2000"}))},
        {"then": "fine"},
    ]
    with desk(tmp_path, script) as at:
        at.settings = replace(at.settings, extraction=ExtractionSettings(enabled=False))
        at.file("CLAUDE.md", "## Compact instructions\n\nSpare the beetles.\n")
        async with at.start() as session:
            for animal in ("badgers", "moles", "voles"):
                await told(session, f"look at the {animal}")
            before = at.bodies[-1]["messages"]
            pivot = next(uuid for uuid, text in session.prompts if "moles" in text)
            command = slash_command(session, f"/compact {side} {pivot[:8]} mind the owls")
            assert command is not None
            assert (await run_command(session, *command)).startswith("compacted")
            asked = json.dumps(at.bodies[-1]["messages"][-1])
            assert "mind the owls" in asked
            assert "Spare the beetles" in asked
            assert "moles" in asked
            (receipt,) = receipts(session.entries)
            assert receipt.kind == "partial compaction"
            await told(session, "and then?")
            sent = at.bodies[-1]["messages"]
            if side == "from":
                start = next(n for n, message in enumerate(before) if "look at the moles" in json.dumps(message))
                assert unmarked(sent[:start]) == unmarked(before[:start]), "what comes before stays byte for byte"
                assert "look at the moles" in json.dumps(sent), "words of the user return"
                assert "1999" not in json.dumps(sent[start:])
            else:
                assert json.dumps(sent).count("1999") == 2, "what the moles and voles brought stays"
            session.uncompact()
            await told(session, "once more")
            last = json.dumps(at.bodies[-1]["messages"])
            assert last.count("1999") == 3
            assert last.index("look at the voles") < last.index("and then?") < last.index("once more")
            with pytest.raises(UserMistake, match="look at the voles"):
                await session.compact(up_to="ffff9999")


@requirement("session:window:back")
async def test_a_conversation_is_rewound_and_cleared_and_both_survive_a_restart(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine {request}"}]) as at:
        async with at.start() as session:
            await told(session, "alpha alpha")
            await told(session, "beta beta")
            session.rewind(session.prompts[-1][0])
        async with at.resume(session.id) as again:
            await told(again, "gamma gamma")
            assert "beta beta" not in json.dumps(at.bodies[-1]["messages"])
            assert "alpha alpha" in json.dumps(at.bodies[-1]["messages"])
            again.clear()
            await told(again, "delta delta")

        assert "gamma" not in json.dumps(at.bodies[-1]["messages"])
        assert all(word in session.path.read_text() for word in ("alpha", "beta", "gamma", "delta"))


@requirement("session:window:back")
@pytest.mark.parametrize("is_cleared", [False, True])
async def test_a_conversation_may_go_back_to_nothing_and_stays_there(tmp_path: Path, is_cleared: bool) -> None:
    with desk(tmp_path, [{"then": "fine {request}"}]) as at:
        async with at.start() as session:
            await told(session, "alpha alpha")
            if is_cleared:
                session.clear()
            else:
                session.rewind(session.prompts[0][0])
            assert not [item for item in project(session.entries).items if item.kind is ItemKind.TYPED]
        async with at.resume(session.id) as again:
            assert again.prompts == ()
            await told(again, "beta beta")
            assert "alpha" not in json.dumps(at.bodies[-1]["messages"])


@requirement("session:window:reactive")
async def test_a_request_that_is_too_long_for_the_provider_is_made_smaller(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"last_user": "last words"}, "times": 1, "then": {"fault": {"kind": "prompt_too_long"}}},
        {"then": "fine {request}"},
    ]
    with desk(tmp_path, script) as at:
        async with at.start() as session:
            for number in range(4):
                await told(session, f"part {number} " + "word " * 3000)
            events = await told(session, "last words")

        assert ending(events).ending is Ending.COMPLETED
        assert any(isinstance(event, ViewReduced) for event in events)


@requirement("session:window:notes")
async def test_notes_are_written_beside_the_conversation(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine {request}"}]) as at:
        at.settings = replace(at.settings, notes=NotesSettings(init_tokens=3_000, growth_tokens=1_000))
        async with at.start() as session:
            for number in range(3):
                await told(session, f"part {number} " + "word " * 1500)
            await session.parts.notes_writer.settle()

        assert any(isinstance(entry, NotesEntry) for entry in session.entries)
        folder = session.path.with_suffix("")
        assert (folder / "session-memory" / "summary.md").read_text().startswith("#")
        asked = at.questions_for_notes
        assert cached_share(asked[-1]) > 0.8


@requirement("session:memory:recalled", "session:memory:index")
async def test_memories_that_fit_join_the_first_request_once(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine {request}"}]) as at:
        at.file("AGENTS.md", "Use tabs.")
        async with at.start() as session:
            session.memory.save(
                name="No database mocks",
                type="feedback",
                description="Integration tests of the importer use a real database",
                body="Mocks hid a broken migration.",
            )
            session.memory.recall("importer")
            events = await told(session, "how do we test the importer against the database?")
            await told(session, "and how do we test the importer against the database otherwise?")

        first = json.dumps(at.bodies[0]["messages"])
        assert "Mocks hid a broken migration." in first
        assert "Use tabs." in first
        assert "2026-11-15" in first
        assert any(isinstance(event, Attached) and "No database mocks" in event.summary for event in events)
        assert json.dumps(at.bodies[-1]["messages"]).count("Mocks hid a broken migration.") == 1


@requirement("session:instructions:nested")
async def test_instructions_below_a_folder_join_when_it_is_entered(tmp_path: Path) -> None:
    inner = str(tmp_path / "project" / "db" / "schema.sql")
    script: list[Json] = [
        {"when": {"last_user": "look", "has_tool_results": False}, "then": calls(("Read", {"file_path": inner}))},
        {"then": "seen"},
    ]
    with desk(tmp_path, script) as at:
        at.file("db/schema.sql", "create table a;")
        at.file("db/CLAUDE.md", "Never drop a column.")
        async with at.start() as session:
            await told(session, "look at the schema")
            await told(session, "look at the schema again")

        assert "Never drop a column." not in json.dumps(at.bodies[0])
        assert json.dumps(at.bodies[-1]["messages"]).count("Never drop a column.") == 1


@requirement("context:user:hidden")
async def test_characters_that_nobody_sees_in_instructions_are_warned_of_once_they_are_loaded(tmp_path: Path) -> None:
    inner = str(tmp_path / "project" / "db" / "schema.sql")
    script: list[Json] = [
        {"when": {"last_user": "look", "has_tool_results": False}, "then": calls(("Read", {"file_path": inner}))},
        {"then": "seen"},
    ]
    with desk(tmp_path, script) as at:
        at.file("CLAUDE.md", "Be brief.\nNever push" + "\u200b" * 9 + " to main.")
        at.file("db/schema.sql", "create table a;")
        at.file("db/CLAUDE.md", "Never \u202eporp\u202c a column.")
        async with at.start() as session:
            events = [
                *(await told(session, "good morning")),
                *(await told(session, "look at it")),
                *(await told(session, "look again")),
            ]

    said = [str(event.text) for event in events if isinstance(event, Notice) and " contains " in event.text]
    assert [text.partition(", first near")[0] for text in said] == [
        f"{tmp_path}/project/CLAUDE.md contains invisible characters",
        f"{tmp_path}/project/db/CLAUDE.md contains characters that reorder text",
    ]


@requirement("session:date:change")
async def test_a_new_day_is_an_attachment(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine {request}"}]) as at:
        async with at.start() as session:
            await told(session, "good evening")
            at.time += timedelta(days=1)
            await told(session, "good morning")

        assert "2026-11-16" in json.dumps(at.bodies[-1]["messages"])
        kinds = [entry.kind for entry in session.entries if isinstance(entry, AttachmentEntry)]
        assert "date_change" in kinds


@requirement("session:plan:approval")
async def test_plan_mode_changes_nothing_until_the_plan_is_approved_and_survives_a_compaction(tmp_path: Path) -> None:
    made = str(tmp_path / "project" / "made.txt")
    script: list[Json] = [
        {
            "when": {"last_user": "plan it", "has_tool_results": False},
            "then": calls(("Write", {"file_path": made, "content": "x"})),
        },
        {
            "when": {"last_user": "show it", "has_tool_results": False},
            "then": calls(("ExitPlanMode", {"plan": "# Make it"})),
        },
        {"then": "ok"},
    ]
    with desk(tmp_path, script) as at:
        at.options["mode"] = "plan"
        async with at.start() as session:
            await told(session, "plan it, please " + "word " * 3000)
            ((failed, _),) = results(at.bodies[1])
            assert failed
            assert not Path(made).exists()
            await session.compact()
            await told(session, "what holds?")
            assert "Plan mode is on" in json.dumps(at.bodies[-1]["messages"])
            at.person.answer = lambda _: Approval(True, mode="acceptEdits")
            await told(session, "show it")
            assert session.status.mode == "acceptEdits"
            assert (session.path.with_suffix("") / "plan.md").read_text() == "# Make it"
            await session.compact()
            await told(session, "go")

        assert "# Make it" in json.dumps(at.bodies[-1]["messages"])


def command(text: str) -> Json:
    return [{"hooks": [{"type": "command", "command": text}]}]


@requirement("session:hooks:say")
async def test_hooks_refuse_prompts_and_calls_and_add_context(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"last_user": "run", "has_tool_results": False}, "then": calls(("Bash", {"command": "ls"}))},
        {"then": "ok"},
    ]
    refuse = "grep -q forbidden && { echo 'not that word' >&2; exit 2; } || echo 'the moon is full'"
    with desk(tmp_path, script) as at:
        at.hooks(
            UserPromptSubmit=command(refuse),
            PreToolUse=[
                {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo 'no shell today' >&2; exit 2"}]}
            ],
        )
        async with at.start() as session:
            refused = await told(session, "a forbidden thing")
            assert ending(refused).ending is Ending.BLOCKED
            assert at.bodies == []
            await told(session, "run it")

        assert "the moon is full" in json.dumps(at.bodies[0]["messages"])
        assert "forbidden" not in json.dumps(at.bodies[0]["messages"])
        ((failed, text),) = results(at.bodies[1])
        assert failed
        assert "no shell today" in text


@requirement("session:hooks:say")
async def test_a_stop_hook_keeps_the_agent_working_and_one_word_ends_it(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "finished"}]) as at:
        once = tmp_path / "once"
        keep = f"test -e {once} || {{ touch {once}; echo 'the tests have not run' >&2; exit 2; }}"
        at.hooks(Stop=command(keep))
        async with at.start() as session:
            events = await told(session, "do it")

        assert ending(events).ending is Ending.COMPLETED
        assert len(at.bodies) == 2
        assert "the tests have not run" in json.dumps(at.bodies[1]["messages"])


@requirement("session:hooks:say")
async def test_a_stop_hook_that_never_lets_go_is_overruled(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "finished"}]) as at:
        at.hooks(Stop=command("echo more >&2; exit 2"))
        async with at.start() as session:
            events = await told(session, "do it")

        assert ending(events).ending is Ending.COMPLETED
        assert len(at.bodies) == 1 + at.settings.hook.max_continues


@requirement("session:file:readers")
async def test_the_vendors_reader_opens_the_transcript(tmp_path: Path) -> None:
    sdk = pytest.importorskip("claude_agent_sdk", reason="the vendor's reader is not installed")
    app = str(tmp_path / "project" / "a.py")
    script: list[Json] = [
        {
            "when": {"last_user": "look", "has_tool_results": False},
            "then": calls(("Read", {"file_path": app}), text="So."),
        },
        {"then": "seen"},
    ]
    with desk(tmp_path, script) as at:
        at.file("a.py", "x = 1\n")
        async with at.start() as session:
            await told(session, "look at it")
        folder = at.home / ".claude" / "projects" / session.path.parent.name
        folder.mkdir(parents=True)
        (folder / session.path.name).write_bytes(session.path.read_bytes())
        code = (
            "import claude_agent_sdk, json, sys;"
            "found = claude_agent_sdk.get_session_messages(sys.argv[1], directory=sys.argv[2]);"
            "print(json.dumps([m.type for m in found]))"
        )
        assert hasattr(sdk, "get_session_messages")
        shown = await asyncio.to_thread(_python, code, session.id, str(at.project), home=at.home)

    assert json.loads(shown) == ["user", "assistant", "assistant", "user", "assistant"]


def _python(code: str, *arguments: str, home: Path) -> str:
    import subprocess

    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, *arguments],
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return ran.stdout


@requirement("session:memory:provider-tool")
async def test_the_providers_own_memory_tool_is_served_from_the_store(tmp_path: Path) -> None:
    note = "---\nname: Colours\ndescription: Which colours we like\ntype: project\n---\n\nBlue.\n"
    script: list[Json] = [
        {
            "when": {"last_user": "keep it", "has_tool_results": False},
            "then": calls(("memory", {"command": "create", "path": "/memories/colours.md", "file_text": note})),
        },
        {"then": "kept"},
    ]
    with desk(tmp_path, script) as at:
        at.settings = replace(at.settings, tools=ToolsSettings(provider_memory=True))
        async with at.start() as session:
            await told(session, "keep it, please")
            assert session.memory.read("Colours").body.strip() == "Blue."

        assert {"type": "memory_20250818", "name": "memory"} in at.bodies[0]["tools"]
        ((failed, text),) = results(at.bodies[-1])
        assert not failed, text


@requirement("session:window:compacts")
async def test_instructions_return_from_a_small_compaction_too(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"answers_tool": "Bash"}, "then": "noted {request}"},
        {"when": {"last_user": "step"}, "then": calls(("Bash", {"command": "seq 1 3000"}))},
        {"then": "fine {request}"},
    ]
    with desk(tmp_path, script) as at:
        at.file("CLAUDE.md", "Always greet the moon. " + "And mind every single star of the sky. " * 100)
        async with at.start() as session:
            await told(session, "step one")
            await told(session, "step two")
            receipt = await session.compact()
            await told(session, "what now?")

        assert receipt is not None
        assert "Always greet the moon." in json.dumps(at.bodies[-1]["messages"])


@requirement("context:compact:prepared")
@pytest.mark.moves_prefix("a compaction")
async def test_the_question_for_a_summary_reads_the_conversation_from_the_cache(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"last_user": "about to be replaced"}, "then": "<summary>We read a file.</summary>"},
        {"when": {"last_user": "read"}, "times": 1, "then": calls(("Read", {"file_path": "long.txt"}))},
        {
            "when": {"last_user": "add"},
            "times": 1,
            "then": calls(("mcp__example__add", {"a": 17, "b": 25}), ("mcp__example__picture", {})),
        },
    ]
    with desk(tmp_path, script) as at:
        for kind, head in (
            ("skills/count/SKILL.md", ""),
            ("agents/keeper.md", "name: keeper\n"),
            ("output-styles/bard.md", "name: Bard\n"),
        ):
            path = at.home / ".claude" / kind
            path.parent.mkdir(parents=True)
            path.write_text(f"---\n{head}description: What it does\n---\nDo it in verse.\n", encoding="utf-8")
        servers = {"example": {"command": sys.executable, "args": [str(EXAMPLE), "stdio"]}}
        (at.home / ".reverie").mkdir()
        (at.home / ".reverie" / "mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
        at.settings = replace(
            at.settings, output_style="bard", tools=replace(at.settings.tools, server_wait_seconds=30.0)
        )
        at.file("CLAUDE.md", "Be brief.\n")
        at.file("long.txt", "many words that nobody reads but everybody counts\n" * 900)
        async with at.start() as session:
            await told(session, "please read long.txt")
            await told(session, "and add two numbers")
            await session.compact()
            asked = at.bodies[-1]
            before = at.bodies[-2]

        labels = {entry.kind for entry in session.entries if isinstance(entry, AttachmentEntry)}
        assert {"skill_listing", "agent_listing_delta"} <= labels
        assert "Do it in verse." in json.dumps(before["system"])
        assert "mcp__example__add" in {tool["name"] for tool in before["tools"]}
        assert results(before)[0] == (False, "42")
        assert '"image"' in json.dumps(before["messages"][-1])
        assert "about to be replaced" in json.dumps(asked["messages"][-1])
        for part in ("model", "tools", "system", "messages"):
            sent, extended = (unmarked(body[part]) for body in (before, asked))
            assert json.dumps(extended[: len(sent)]) == json.dumps(sent), part
        assert cached_share(at.provider.requests[-1]) > 0.85


def unmarked(part: Any) -> Any:
    """Without cache marks."""
    if isinstance(part, dict):
        return {key: unmarked(value) for key, value in part.items() if key != "cache_control"}
    return [unmarked(one) for one in part] if isinstance(part, list) else part
