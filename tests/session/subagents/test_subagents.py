from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from reverie.files.background_tasks import list_tasks, write_stop_request
from reverie.messages.blocks import Json
from reverie.messages.entries import BoundaryEntry
from reverie.messages.transcript import read_entries
from reverie.models.ledger import read_bookings
from reverie.models.ports import Ending
from reverie.session.events import AgentEnded, AgentProgress, Notice, TurnEvent
from reverie.session.session import Session
from reverie.session.subagents.fork import MARKER, NO_RECURSION
from reverie.settings import AgentSettings, BudgetSettings, Declaration, ExtractionSettings, SpillSettings
from tests.requirements import requirement
from tests.session.session_desk import Desk, calls, desk, ending, is_legal, results, told
from tests.session.subagents.definitions.roles import write_role

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


def start(kind: Json = "", **more: Json) -> Json:
    given: dict[str, Json] = {"description": "look into it", "prompt": "look into it", **more}
    return calls(("Agent", {**given, "subagent_type": kind} if kind else given))


def began(**more: Json) -> dict[str, Json]:
    """The main agent starts a helper at the word `kick-off`."""
    return {"when": {"last_user": "kick-off"}, "times": 1, "then": start(**more)}


def of_role(at: Desk, words: str) -> list[dict[str, Any]]:
    """The requests of an agent, by words of its prompt."""
    return [body for body in at.bodies if any(words in block["text"] for block in body["system"])]


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(120):
        while not holds():  # noqa: ASYNC110 - other threads and processes change it
            await asyncio.sleep(0.01)


@requirement("agents:typed:run", "agents:typed:transcript")
async def test_a_typed_agent_begins_with_its_own_prompt_and_nothing_else(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"system": "You review"}, "then": "Two mistakes: a.py:3 and b.py:9."},
        began(kind="reviewer", prompt="review a.py"),
        {"then": "There are two mistakes."},
    ]
    with desk(tmp_path, script) as at:
        write_role(
            at.home / ".claude", "reviewer", "tools: Read, Grep\ninitialPrompt: Begin with tests.", "You review."
        )
        async with at.start() as session:
            events = await told(session, "kick-off: the secret plan")

            (body,) = of_role(at, "You review")
            assert [tool["name"] for tool in body["tools"]] == ["Read", "Grep"]
            assert "secret plan" not in json.dumps(body)
            assert body["messages"][0]["content"][0]["text"] == "review a.py\n\nBegin with tests."
            assert str(at.project) in json.dumps(body["system"]), "it knows where it is"
            ((failed, text),) = results(at.bodies[-1])
            assert not failed
            assert text.startswith("Two mistakes: a.py:3 and b.py:9.")
            assert ending(events).text == "There are two mistakes."
            folder = session.path.with_suffix("") / "subagents"
            (transcript,) = folder.glob("agent-*.jsonl")
            facts = json.loads(transcript.with_suffix(".meta.json").read_text(encoding="utf-8"))
            assert facts == {"agentType": "reviewer", "description": "look into it"}
            rows = [json.loads(line) for line in transcript.read_text(encoding="utf-8").splitlines()]
            assert all(row["isSidechain"] and transcript.stem == f"agent-{row['agentId']}" for row in rows)
            assert rows[-1]["message"]["content"][0]["text"].startswith("Two mistakes")
            assert read_entries(transcript)
            detail = next(
                row["toolUseResult"]
                for line in session.path.read_text(encoding="utf-8").splitlines()
                if "toolUseResult" in (row := json.loads(line))
            )
            assert detail["status"] == "completed"
            assert detail["agentId"] == rows[0]["agentId"]
            assert detail["totalToolUseCount"] == 0
        purposes = {booking.purpose for booking in read_bookings(at.home / ".reverie" / "ledger")}
        assert "agent" in purposes


@requirement("agents:typed:instructions")
@pytest.mark.parametrize(("kind", "reads"), [("reviewer", True), ("general-purpose", True), ("Explore", False)])
async def test_an_agent_reads_the_instruction_files_and_not_the_memory_of_the_main_one(
    tmp_path: Path, kind: str, reads: bool
) -> None:
    script: list[Json] = [
        {"when": {"last_user": "look at the lake"}, "then": "looked"},
        began(kind=kind, prompt="look at the lake"),
        {"then": "fine"},
    ]
    with desk(tmp_path, script) as at:
        at.file("CLAUDE.md", "Mind the heron.")
        write_role(at.home / ".claude", "reviewer", "", "You review.")
        async with at.start() as session:
            index = session.memory.directory / "MEMORY.md"
            index.parent.mkdir(parents=True, exist_ok=True)
            index.write_text("- [Geese](geese.md) - they come in spring\n", encoding="utf-8")
            await told(session, "kick-off")

        main, agent = (json.dumps(body["messages"]) for body in at.bodies[:2])
        assert "Mind the heron." in main
        assert "they come in spring" in main
        assert ("Mind the heron." in agent) is reads
        assert "they come in spring" not in agent
        assert agent.rindex("look at the lake") > agent.find("Mind the heron.")


@requirement("agents:typed:limits")
async def test_tool_lists_rules_and_rounds_of_a_role_hold(tmp_path: Path) -> None:
    tried: Json = calls(
        ("Bash", {"command": "git log --oneline"}),
        ("Bash", {"command": "touch made"}),
        ("Write", {"file_path": "x", "content": "x"}),
        ("Bash", {"command": "ls"}),
    )
    script: list[Json] = [
        {"when": {"system": "You look"}, "then": tried},
        began(kind="looker"),
        {"then": "fine"},
    ]
    with desk(tmp_path, script) as at:
        at.person.answer = lambda question: pytest.fail(f"asked: {question}")
        write_role(
            at.home / ".claude", "looker", "tools: Bash(read-only), Read\nmaxTurns: 2\nmodel: haiku", "You look."
        )
        async with at.start() as session:
            await told(session, "kick-off")
        first, second = of_role(at, "You look")
        assert "haiku" in first["model"]
        outcome = results(second)
        assert [failed for failed, _ in outcome][1:] == [True, True, False]
        assert "only as Bash(read-only)" in outcome[1][1]
        assert "There is no tool 'Write'" in outcome[2][1]
        assert "stopped after 2 rounds" in results(at.bodies[-1])[0][1]
        assert not (at.project / "made").exists()


@requirement("agents:typed:limits", "agents:found:built-in")
async def test_explore_changes_nothing(tmp_path: Path) -> None:
    script: list[Json] = [
        {
            "when": {"system": "You explore", "has_tool_results": False},
            "then": calls(("Bash", {"command": "touch made"}), ("Glob", {"pattern": "*.py"})),
        },
        {"when": {"system": "You explore"}, "then": "app.py"},
        began(kind="Explore"),
        {"then": "fine"},
    ]
    with desk(tmp_path, script) as at:
        at.file("app.py", "x = 1\n")
        async with at.start() as session:
            await told(session, "kick-off")
        body = of_role(at, "You explore")[-1]
        assert "recall_span" in [tool["name"] for tool in at.bodies[0]["tools"]]
        assert "recall_span" not in [tool["name"] for tool in body["tools"]], "it would read the parent's words"
        assert [failed for failed, _ in results(body)] == [True, False]
        assert not {"Agent", "Edit", "Write"} & {tool["name"] for tool in body["tools"]}
        assert not (at.project / "made").exists()


@requirement("agents:typed:memory")
@pytest.mark.parametrize("scope", ["user", "project", "local"])
async def test_a_role_with_memory_reads_and_writes_its_own(tmp_path: Path, scope: str) -> None:
    folders = {
        "user": tmp_path / "home" / ".claude" / "agent-memory" / "critic",
        "project": tmp_path / "project" / ".claude" / "agent-memory" / "critic",
        "local": tmp_path / "project" / ".claude" / "agent-memory-local" / "critic",
    }
    memory = folders[scope]
    script: list[Json] = [
        {
            "when": {"system": "You judge", "has_tool_results": False},
            "then": calls(
                ("Write", {"file_path": str(memory / "style.md"), "content": "short"}),
                ("Write", {"file_path": str(tmp_path / "project" / "elsewhere.md"), "content": "x"}),
                ("Write", {"file_path": str(memory / ".." / "other" / "x.md"), "content": "x"}),
            ),
        },
        {"when": {"system": "You judge"}, "then": "judged"},
        began(kind="critic"),
        {"then": "fine"},
    ]
    with desk(tmp_path, script) as at:
        at.person.answer = lambda question: pytest.fail(f"asked: {question}")
        write_role(at.home / ".claude", "critic", f"tools: Grep\nmemory: {scope}", "You judge.")
        memory.mkdir(parents=True)
        (memory / "MEMORY.md").write_text("- [Tone](tone.md) - the user likes it dry\n", encoding="utf-8")
        async with at.start() as session:
            await told(session, "kick-off")
        first, second = of_role(at, "You judge")
        system = "\n".join(block["text"] for block in first["system"])
        assert system.startswith("You judge.\n\n")
        assert str(memory) in system
        assert "the user likes it dry" in system
        assert {tool["name"] for tool in first["tools"]} == {"Grep", "Read", "Edit", "Write"}
        assert [failed for failed, _ in results(second)] == [False, True, True]
        written = (memory / "style.md").read_text(encoding="utf-8")
        assert written.endswith("---\nshort")
        assert "trust: inferred" in written
        index = (memory / "MEMORY.md").read_text(encoding="utf-8")
        assert "the user likes it dry" in index
        assert "(style.md)" in index
        ignored = memory.parent / ".gitignore"
        assert ignored.exists() == (scope == "local")
        assert not (tmp_path / "project" / "elsewhere.md").exists()


@requirement("context:spill:honest")
@pytest.mark.parametrize("tools", ["Glob", "Glob, Read"])
async def test_a_role_that_reads_no_files_is_not_sent_to_one(tmp_path: Path, tools: str) -> None:
    script: list[Json] = [
        {"when": {"system": "You judge", "has_tool_results": False}, "then": calls(("Glob", {"pattern": "*.txt"}))},
        {"when": {"system": "You judge"}, "then": "judged"},
        began(kind="critic"),
        {"then": "fine"},
    ]
    with desk(tmp_path, script) as at:
        at.settings = replace(
            at.settings, spill=SpillSettings(result_chars=900, search_result_chars=900, preview_bytes=100)
        )
        for number in range(90):
            at.file(f"a-file-with-a-longer-name-{number:03}.txt", "x")
        write_role(at.home / ".claude", "critic", f"tools: {tools}", "You judge.")
        async with at.start() as session:
            await told(session, "kick-off")
        ((_, shown),) = results(of_role(at, "You judge")[-1])
        assert "Only a part is shown here" in shown
        if "Read" in tools:
            assert "read that file in pieces" in shown
        else:
            assert "file in pieces" not in shown
            assert str(at.home) not in shown.partition("Beginning:")[0]
            assert "call the tool again for a smaller part" in shown
            assert len(shown) > 700, "more than the preview of 100 bytes"
            assert len(shown) < 1_300


@requirement("agents:typed:memory")
async def test_the_folder_of_a_memory_is_made(tmp_path: Path) -> None:
    script: list[Json] = [began(kind="critic"), {"then": "fine"}]
    with desk(tmp_path, script) as at:
        write_role(at.home / ".claude", "critic", "memory: project", "You judge.")
        async with at.start() as session:
            await told(session, "kick-off")
        assert (at.project / ".claude" / "agent-memory" / "critic").is_dir()


@requirement("agents:typed:hooks")
async def test_hooks_frame_an_agent_and_its_own_hold_for_it_alone(tmp_path: Path) -> None:
    heard = tmp_path / "heard.jsonl"
    note = f"cat >> {heard}; echo >> {heard}"
    once = f"test -e {tmp_path}/stopped || {{ touch {tmp_path}/stopped; echo 'look again' >&2; exit 2; }}"
    head = f"""\
tools: Glob
hooks:
  PreToolUse:
    - matcher: Glob
      hooks:
        - type: command
          command: touch {tmp_path}/own-$(basename $PWD)
  Stop:
    - hooks:
        - type: command
          command: {once!r}"""
    script: list[Json] = [
        {
            "when": {"system": "Finder of things", "has_tool_results": False, "last_user": "look into"},
            "times": 1,
            "then": calls(("Glob", {"pattern": "*"})),
        },
        {"when": {"system": "Finder of things"}, "then": "found"},
        began(kind="finder"),
        {"then": "fine"},
    ]
    with desk(tmp_path, script) as at:
        hook: Json = [{"hooks": [{"type": "command", "command": note}]}]
        at.hooks(SubagentStart=hook, SubagentStop=hook, UserPromptSubmit=hook)
        write_role(at.home / ".claude", "finder", head, "Finder of things.")
        async with at.start() as session:
            await told(session, "kick-off")
        rows = [json.loads(line) for line in heard.read_text(encoding="utf-8").splitlines() if line]
        names = [row["hook_event_name"] for row in rows]
        assert names == ["UserPromptSubmit", "SubagentStart", "SubagentStop", "SubagentStop"]
        assert {row["agent_type"] for row in rows[1:]} == {"finder"}
        assert Path(rows[2]["agent_transcript_path"]).is_file()
        assert rows[2]["last_assistant_message"] == "found"
        assert "look again" in json.dumps(of_role(at, "Finder of things")[-1]["messages"][-1])
        assert list(tmp_path.glob("own-*"))


@requirement("agents:typed:skills")
async def test_skills_of_a_role_are_there_from_the_beginning(tmp_path: Path) -> None:
    script: list[Json] = [began(kind="writer"), {"then": "fine"}]
    with desk(tmp_path, script) as at:
        write_role(at.home / ".claude", "writer", "skills: house-style, missing", "You write.")
        skill = at.home / ".claude" / "skills" / "house-style" / "SKILL.md"
        skill.parent.mkdir(parents=True)
        skill.write_text("---\ndescription: How we write\n---\nNo adverbs.\n", encoding="utf-8")
        async with at.start() as session:
            events = await told(session, "kick-off")
        (body,) = of_role(at, "You write")
        assert "No adverbs." in json.dumps(body["messages"])
        assert any(isinstance(event, Notice) and "'missing'" in event.text for event in events)


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


@requirement("agents:typed:worktree")
@pytest.mark.parametrize("changes", [False, True])
async def test_an_isolated_agent_works_in_a_tree_of_its_own(tmp_path: Path, changes: bool) -> None:
    with desk(tmp_path, trying("echo changed > app.py" if changes else "cat app.py")) as at:
        with_commit(at)
        write_role(at.home / ".claude", "trier", "isolation: worktree", "You try.")
        async with at.start() as session:
            await told(session, "kick-off")
        assert (at.project / "app.py").read_text(encoding="utf-8") == "before\n"
        trees = git(at.project, "worktree", "list").splitlines()
        branches = git(at.project, "branch", "--list", "reverie/*").split()
        ((_, text),) = results(at.bodies[-1])
        if changes:
            (tree,) = (Path(line.split()[0]) for line in trees if "worktrees/" in line)
            assert (tree / "app.py").read_text(encoding="utf-8") == "changed\n"
            assert str(tree) in text
            assert branches[-1] in text
        else:
            assert len(trees) == 1
            assert branches == []
            assert "work tree" not in text


def with_commit(at: Desk) -> None:
    at.file("app.py", "before\n")
    for arguments in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"],
    ):
        git(at.project, *arguments)


def trying(command: str) -> list[Json]:
    return [
        {"when": {"system": "You try", "has_tool_results": False}, "then": calls(("Bash", {"command": command}))},
        {"when": {"system": "You try"}, "then": "tried"},
        began(kind="trier"),
        {"then": "fine"},
    ]


@requirement("agents:worktree:hooks")
@pytest.mark.parametrize("changes", [False, True])
async def test_a_hook_makes_the_work_tree_and_hears_when_it_can_go(tmp_path: Path, changes: bool) -> None:
    tree, gone = tmp_path / "elsewhere", tmp_path / "gone"
    with desk(tmp_path, trying("echo changed > app.py" if changes else "cat app.py")) as at:
        with_commit(at)
        make: Json = [{"hooks": [{"type": "command", "command": f"git clone -q . {tree} && echo {tree}"}]}]
        note: Json = [{"hooks": [{"type": "command", "command": f"cat > {gone}"}]}]
        at.hooks(WorktreeCreate=make, WorktreeRemove=note)
        write_role(at.home / ".claude", "trier", "isolation: worktree", "You try.")
        async with at.start() as session:
            await told(session, "kick-off")

        assert git(at.project, "worktree", "list").count("\n") == 1, "git made none"
        assert str(tree) in json.dumps(of_role(at, "You try")[0]["system"])
        ((_, text),) = results(at.bodies[-1])
        assert (str(tree) in text) is changes
        assert gone.exists() is not changes
        if not changes:
            assert json.loads(gone.read_text(encoding="utf-8"))["worktree_path"] == str(tree)


@requirement("agents:worktree:hooks")
async def test_a_hook_that_fails_to_make_a_work_tree_keeps_the_agent_from_starting(tmp_path: Path) -> None:
    with desk(tmp_path, trying("cat app.py")) as at:
        with_commit(at)
        at.hooks(WorktreeCreate=[{"hooks": [{"type": "command", "command": "echo no room >&2; exit 1"}]}])
        write_role(at.home / ".claude", "trier", "isolation: worktree", "You try.")
        async with at.start() as session:
            await told(session, "kick-off")

        assert of_role(at, "You try") == []
        ((failed, text),) = results(at.bodies[-1])
        assert failed
        assert "no room" in text


@requirement("forks:tool:starts", "agents:background:notified")
async def test_a_fork_in_the_background_is_told_of_at_the_next_boundary(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"last_user": "audit the branch"}, "then": {"text": "Three things are left.", "event_delay_ms": 5}},
        began(prompt="audit the branch", run_in_background=True, name="auditor"),
        {"then": "I wait."},
    ]
    outside: list[TurnEvent] = []
    with desk(tmp_path, script) as at:
        async with at.start() as session:
            session.listen(outside.append)
            events = await told(session, "kick-off")
            assert ending(events).ending is Ending.COMPLETED
            ((failed, text),) = results(next(body for body in reversed(at.bodies) if MARKER not in json.dumps(body)))
            assert not failed
            assert "auditor" in text
            await until(lambda: session.parts.subagents.children.all[0].state == "completed")
            events += outside
            assert any(isinstance(event, AgentEnded) and event.text == "Three things are left." for event in events)
            await told(session, "and?")
            joined = [one for one in session.attachments if one.kind == "task_status"]
            assert len(joined) == 1
            assert "Three things are left." in json.dumps(at.bodies[-1]["messages"])
            await told(session, "and now?")
            assert len([one for one in session.attachments if one.kind == "task_status"]) == 1
        assert all(map(is_legal, at.bodies))
        (task,) = [one for one in list_tasks(at.home / ".reverie" / "tasks", now=NOW) if one.kind == "agent"]
        assert (task.state, task.title) == ("completed", "auditor: look into it")
        assert task.cost_usd > 0
        purposes = [booking.purpose for booking in read_bookings(at.home / ".reverie" / "ledger")]
        assert purposes.count("background_agent") == 1


@requirement("agents:background:kill", "agents:progress:line")
@pytest.mark.parametrize("by_request", [False, True])
async def test_a_running_agent_is_listed_with_what_it_does_and_can_be_ended(tmp_path: Path, by_request: bool) -> None:
    script: list[Json] = [
        {"when": {"system": "You wait", "has_tool_results": False}, "then": calls(("Read", {"file_path": "notes.md"}))},
        {"when": {"system": "You wait"}, "then": {"text": "word " * 4000, "event_delay_ms": 50}},
        began(kind="waiter", run_in_background=True, name="w"),
        {"then": "fine"},
    ]
    outside: list[TurnEvent] = []
    with desk(tmp_path, script) as at:
        at.settings = replace(at.settings, agent=AgentSettings(summary_interval_seconds=0.05))
        at.file("notes.md", "hello\n")
        write_role(at.home / ".claude", "waiter", "", "You wait.")
        async with at.start() as session:
            session.listen(outside.append)
            # What it does is told within the turn where that still runs, and to listeners after it.
            outside += await told(session, "kick-off")
            await until(lambda: any(isinstance(one, AgentProgress) and "notes.md" in one.line for one in outside))
            assert "w: Reading through notes.md" in session.status.background
            assert "waiter, running, $" in dict(session.describe("tasks") or ())["w"]
            assert ("waiter", "What waiter is for [user]") in (session.describe("agents") or ())
            if by_request:
                write_stop_request(at.home / ".reverie" / "tasks", session.parts.subagents.children.all[0].id)
                await until(lambda: not session.parts.subagents.children.running)
            else:
                assert await session.kill("w")
                assert not await session.kill("w")
            assert not session.parts.subagents.lines
            await told(session, "and?")
            assert "has ended: killed" in json.dumps(at.bodies[-1]["messages"])
        (task,) = [one for one in list_tasks(at.home / ".reverie" / "tasks", now=NOW) if one.kind == "agent"]
        assert task.state == "killed"


@requirement("agents:background:notified")
async def test_an_agent_that_was_lost_with_its_session_is_told_of_when_it_goes_on(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"last_user": MARKER}, "then": {"text": "word " * 400, "event_delay_ms": 50}},
        began(run_in_background=True, name="auditor"),
        {"then": "fine"},
    ]
    with desk(tmp_path, script) as at:
        async with at.start() as session:
            await told(session, "kick-off")
        async with at.resume(session.id) as again:
            await told(again, "and?")
            await told(again, "and now?")
            said = [str(one.content) for one in again.attachments if one.kind == "task_status"]
        assert len(said) == 1
        assert "auditor" in said[0]
        assert "was lost" in said[0]


@requirement("agents:background:budget")
async def test_background_agents_stop_where_the_budget_does(tmp_path: Path) -> None:
    once_more: dict[str, Json] = {"when": {"last_user": "once more"}, "times": 1, "then": start(run_in_background=True)}
    script: list[Json] = [
        once_more,
        {"when": {"last_user": MARKER}, "then": "looked"},
        began(run_in_background=True),
        {"then": "fine"},
    ]
    with desk(tmp_path, script) as at:
        at.settings = replace(at.settings, budget=BudgetSettings(background_fraction=0.0001))
        async with at.start() as session:
            await told(session, "kick-off")
            await until(lambda: not session.parts.subagents.children.running)
            await told(session, "once more")
        refused = [text for body in at.bodies for failed, text in results(body) if failed]
        assert refused
        assert "budget.background_fraction" in refused[0]


@requirement("agents:background:budget")
async def test_a_typed_agent_in_the_background_stops_between_rounds_when_the_budget_is_spent(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"system": "Looker by trade"}, "then": calls(("Glob", {"pattern": "*"}), text="word " * 3_000)},
        began(subagent_type="looker", run_in_background=True),
        {"then": "fine"},
    ]
    with desk(tmp_path, script) as at:
        write_role(at.home / ".claude", "looker", "", "Looker by trade.")
        at.settings = replace(at.settings, budget=BudgetSettings(background_fraction=1.0, background_usd_per_hour=0.1))
        async with at.start() as session:
            await told(session, "kick-off")
            await until(lambda: not session.parts.subagents.children.running)
            (child,) = session.parts.subagents.children.all
            await told(session, "and?")
            said = [str(one.content) for one in session.attachments if one.kind == "task_status"]
        assert child.state == "failed"
        assert "budget.background_" in child.result
        assert "did not finish" in said[0]
        tasks = list_tasks(at.setup().places.tasks, now=at.time)
        assert [task.state for task in tasks if task.kind == "agent"] == ["failed"]


@requirement("agents:listing:attachment", "agents:found:trust")
async def test_roles_are_told_in_an_attachment_and_those_of_the_project_after_trust(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine"}]) as at:
        write_role(at.project / ".claude", "local-expert")
        at.options["agents"] = json.dumps({"flagged": {"description": "from the flag", "prompt": "p"}})
        declared = Declaration("user", "settings.json:1", False, json.dumps({"declared": {"description": "d"}}))
        at.settings = replace(at.settings, agents=(declared,))
        async with at.start() as session:
            await told(session, "hello")
            first = listing(session)
            assert len(first) == 1
            for name in ("flagged", "declared", "Explore"):
                assert f"- {name}: " in first[0]
            assert "local-expert" not in first[0]
            await told(session, "hello again")
            assert listing(session) == first
            waiting = [part for part in session.waiting_for_trust if part.kind == "agents"]
            assert [Path(part.place).name for part in waiting] == ["local-expert.md"]
            session.answer_trust(waiting, accepted=True)
            await told(session, "and now?")
            assert "- local-expert: " in listing(session)[1]
            assert "Explore" not in listing(session)[1]
        tools = [[tool for tool in body["tools"] if tool["name"] == "Agent"] for body in at.bodies]
        assert all(one == tools[0] for one in tools)


@requirement("agents:listing:attachment")
async def test_without_the_attachment_the_description_names_the_roles(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine"}]) as at:
        at.settings = replace(at.settings, agent=AgentSettings(list_attachment=False))
        async with at.start() as session:
            await told(session, "hello")
            assert listing(session) == []
        (tool,) = (tool for tool in at.bodies[0]["tools"] if tool["name"] == "Agent")
        assert "- Explore: " in tool["description"]


def listing(session: Session) -> list[str]:
    found = (one for one in session.attachments if one.kind == "agent_listing_delta")
    return ["".join(getattr(block, "text", "") for block in one.content) for one in found]


@requirement("agents:typed:limits")
async def test_an_unknown_type_is_answered_with_those_that_there_are(tmp_path: Path) -> None:
    with desk(tmp_path, [began(kind="wizard"), {"then": "fine"}]) as at:
        async with at.start() as session:
            await told(session, "kick-off")
        ((failed, text),) = results(at.bodies[-1])
        assert failed
        assert "general-purpose" in text


@requirement("forks:tool:compacts", "forks:limits:no-recursion")
@pytest.mark.moves_prefix("a fork is compacted")
async def test_a_fork_whose_window_fills_is_compacted_and_reports(tmp_path: Path) -> None:
    task = "count the herons of every pond, first to last"
    script: list[Json] = [
        {"when": {"last_user": "about to be replaced"}, "then": "<summary>The first ponds were counted.</summary>"},
        began(prompt=task),
        *({"times": 1, "then": calls(("Read", {"file_path": f"pond-{number}.txt"}))} for number in range(9)),
        {"times": 1, "then": calls(("recall_span", {"subject": "pond-0.txt"}))},
        {"times": 1, "then": start()},
        {"times": 1, "then": "There are nine ponds."},
        {"then": "Nine ponds, it says."},
    ]
    with desk(tmp_path, script) as at:
        at.options["window_tokens"] = 40_000
        at.settings = replace(at.settings, extraction=ExtractionSettings(enabled=False))
        for number in range(9):
            at.file(f"pond-{number}.txt", f"heron {number} stands in the reeds and waits\n" * 550)
        async with at.start() as session:
            events = await told(session, "kick-off")
            child = session.parts.subagents.children.all[0]
            boundaries = [one for one in child.loop.parts.log.entries if isinstance(one, BoundaryEntry)]
            shown = child.loop.parts.log.view

        assert ending(events).text == "Nine ponds, it says."
        assert child.result == "There are nine ponds."
        assert boundaries
        assert not [one for one in session.entries if isinstance(one, BoundaryEntry)]
        assert task in json.dumps([item.message.text for item in shown.items])
        asked = [results(body) for body in at.bodies if MARKER in json.dumps(body["messages"])]
        assert any("heron 0 stands" in text for given in asked for _, text in given)
        assert any(failed and NO_RECURSION in text for given in asked for failed, text in given)


@requirement("forks:cancel:linked")
async def test_cancelling_the_turn_ends_an_agent_that_is_waited_for(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"last_user": "look into it"}, "then": {"text": "word " * 400, "event_delay_ms": 50}},
        began(),
        {"then": "fine"},
    ]
    with desk(tmp_path, script) as at:
        async with at.start() as session:
            turn = asyncio.create_task(told(session, "kick-off"))
            await until(lambda: session.parts.subagents.children.running and len(at.bodies) > 1)
            session.cancel()
            assert ending(await turn).ending is Ending.CANCELLED
            assert not session.parts.subagents.children.running
            assert [child.state for child in session.parts.subagents.children.all] == ["killed"]
            await told(session, "go on")
        assert is_legal(at.bodies[-1])


@requirement("agents:mention:both")
async def test_a_mention_recalls_from_the_agents_memory_and_the_projects(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine"}]) as at:
        folder = at.project / ".claude" / "agent-memory" / "critic"
        folder.mkdir(parents=True)
        head = "---\nname: {0}\ndescription: {1}\ntype: feedback\n---\n{1}\n"
        (folder / "jokes.md").write_text(
            head.format("jokes", "The importer's release notes want dry jokes"), encoding="utf-8"
        )
        async with at.start() as session:
            said = "Release notes of the importer name the ticket number"
            session.memory.save(name="notes", description=said, type="feedback", body=said)
            await told(session, "@agent-critic write the importer's release notes")
            found = [one for one in session.attachments if one.kind == "relevant_memories"]
            assert found
            text = json.dumps([one.data for one in found])
            assert "jokes.md" in text
            assert "notes.md" in text
