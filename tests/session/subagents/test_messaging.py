from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.files.places import Places
from reverie.messages.blocks import Json
from reverie.session.events import Notice, TurnEvent
from reverie.session.session import Session
from reverie.session.subagents.mailbox import AgentMessage, append_letter, has_mail
from reverie.session.subagents.team import write_member
from reverie.tools.send_message import Outgoing
from reverie.tools.tool import ToolMistake
from reverie_simulator.script import RuleScript
from reverie_simulator.script_file import script_from_json
from tests.requirements import requirement
from tests.session.session_desk import Desk, calls, desk, results, told
from tests.session.subagents.definitions.roles import write_role
from tests.session.subagents.test_subagents import until

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


def received(session: Session) -> list[str]:
    return [str(one.data["from"]) for one in session.attachments if one.kind == "agent_message"]


async def sent(session: Session, to: str, text: str = "hello") -> str:
    return await session.parts.subagents.post.send("main", Outgoing(to, text))


@requirement("mailbox:send:boundary", "mailbox:send:order")
async def test_a_running_agent_reads_a_message_at_its_next_round_and_answers(tmp_path: Path) -> None:
    script: list[Json] = [
        {
            "when": {"system": "Watcher", "has_tool_results": False},
            "times": 1,
            "then": calls(("Bash", {"command": "sleep 1", "description": "wait"})),
        },
        {
            "when": {"system": "Watcher", "answers_tool": "Bash"},
            "times": 1,
            "then": calls(("SendMessage", {"to": "main", "message": "what now?", "summary": "a question"})),
        },
        {"when": {"system": "Watcher"}, "then": "noted"},
        {
            "when": {"last_user": "kick-off"},
            "times": 1,
            "then": calls(
                (
                    "Agent",
                    {
                        "description": "d",
                        "prompt": "go",
                        "subagent_type": "watcher",
                        "name": "w",
                        "run_in_background": True,
                    },
                )
            ),
        },
        {
            "when": {"answers_tool": "Agent"},
            "times": 1,
            "then": calls(("SendMessage", {"to": "w", "message": "stop at twelve"})),
        },
        {"then": "fine"},
    ]
    with desk(tmp_path, script) as at:
        at.settings = replace(at.settings, permissions=replace(at.settings.permissions, mode="bypassPermissions"))
        write_role(at.home / ".claude", "watcher", "", "Watcher.")
        async with at.start() as session:
            await told(session, "kick-off")
            await until(lambda: not session.parts.subagents.children.running)
            assert session.parts.subagents.children.all[0].result == "noted"
            (told_to,) = (body for body in at.bodies if "sleep 1" in json.dumps(body) and len(body["messages"]) == 3)
            assert "stop at twelve" in json.dumps(told_to)
            await told(session, "and?")
            assert received(session) == ["w"]
            assert "what now?" in json.dumps(at.bodies[-1]["messages"])
            assert "not from the user" in json.dumps(at.bodies[-1]["messages"])
            with pytest.raises(ToolMistake, match="has ended"):
                await sent(session, "w")


@requirement("mailbox:send:order")
async def test_names_are_looked_for_inside_then_in_the_team_and_everybody_is_all_of_them(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine"}]) as at:
        async with at.start() as session:
            post = session.parts.subagents.post
            write_member(post.team_folder, "tester", "", "s", at.time)
            write_member(post.team_folder, "writer", "", "s", at.time)
            assert "mailbox of tester" in await sent(session, "tester")
            assert has_mail(post.folder.mailbox(post.team, "tester"), "tester")
            assert "tester, writer" in await sent(session, "*")
            assert has_mail(post.folder.mailbox(post.team, "writer"), "writer")
            with pytest.raises(ToolMistake, match="there are: tester, writer"):
                await sent(session, "nobody")


@requirement("mailbox:send:boundary")
async def test_a_letter_to_the_main_agent_joins_once_also_when_it_was_killed_in_between(tmp_path: Path) -> None:
    heard: list[TurnEvent] = []
    with desk(tmp_path, [{"then": "fine"}]) as at:
        session = at.start()
        session.listen(heard.append)
        await told(session, "hello")
        post = session.parts.subagents.post
        append_letter(post.mailbox, AgentMessage("id-1", "tester", "main", "all green", at.time))
        await until(lambda: any(isinstance(one, Notice) and "message" in one.text for one in heard))
        await told(session, "and?")
        assert received(session) == ["tester"]
        # A kill here leaves the cursor where it was; the conversation remembers what it has.
        assert has_mail(post.mailbox, "main")
        name = session.id
        post._read.clear()
        await session.close()
        assert has_mail(post.mailbox, "main")
        async with at.resume(name) as again:
            await told(again, "go on")
            assert received(again) == ["tester"]
            await told(again, "go on")
            assert not has_mail(post.mailbox, "main")


@requirement("mailbox:send:structured")
async def test_structured_messages_are_complete_or_refused(tmp_path: Path) -> None:
    bad: Json = calls(
        ("SendMessage", {"to": "main", "message": {"type": "shutdown_response", "approve": True}}),
        ("SendMessage", {"to": "main", "message": {"type": "dance"}}),
        ("SendMessage", {"to": "*", "message": {"type": "shutdown_request"}}),
        ("SendMessage", {"to": "main", "message": " "}),
        (
            "SendMessage",
            {
                "to": "main",
                "message": {
                    "type": "plan_approval_response",
                    "request_id": "r1",
                    "approve": False,
                    "feedback": "too big",
                },
            },
        ),
    )
    with desk(tmp_path, [{"when": {"last_user": "kick-off"}, "times": 1, "then": bad}, {"then": "fine"}]) as at:
        async with at.start() as session:
            await told(session, "kick-off")
            assert [failed for failed, _ in results(at.bodies[-1])][:4] == [True] * 4
            (letter,) = (one for one in session.attachments if one.kind == "agent_message")
            text = json.dumps([getattr(block, "text", "") for block in letter.content])
            assert "no to r1" in text
            assert "too big" in text


@pytest.mark.moves_prefix("two sessions begin alike")
@requirement("mailbox:send:abroad")
@pytest.mark.parametrize("way", ["uds", "bridge"])
async def test_another_session_is_reached_after_a_question(tmp_path: Path, way: str) -> None:
    with desk(tmp_path, [{"then": "fine"}]) as at:
        async with reachable(at) as other:
            await told(other, "hello")
            to = f"uds:{other.parts.subagents.post.socket}" if way == "uds" else f"bridge:{other.id}"
            at.provider.simulation.use_script(_once(to))
            async with at.start() as session:
                await told(session, "tell it")
                assert [question.need.subject for question in at.person.asked] == [to]
                assert not any(failed for failed, _ in results(at.bodies[-1]))
            await told(other, "anything new?")
            assert received(other) == ["main"]
            assert "the tests are green" in json.dumps(at.bodies[-1]["messages"])


@requirement("mailbox:send:abroad")
@pytest.mark.parametrize("to", ["uds:/nowhere/at-all.sock", "bridge:00000000"])
async def test_a_session_that_is_not_there_is_a_mistake(tmp_path: Path, to: str) -> None:
    with desk(tmp_path) as at:
        async with at.start() as session:
            with pytest.raises(ToolMistake, match=r"no session listens|No sessions"):
                await sent(session, to)


def reachable(at: Desk) -> Session:
    """A session whose socket has a path that is short enough for one."""
    setup = at.setup()
    home = Path(tempfile.mkdtemp(prefix="rv-")) / "h"
    home.symlink_to(at.home / ".reverie", target_is_directory=True)
    (at.home / ".reverie").mkdir(parents=True, exist_ok=True)
    return Session.open(replace(setup, places=Places.at(home, at.home / ".claude")))


def _once(to: str) -> RuleScript:
    call: Json = calls(("SendMessage", {"to": to, "message": "the tests are green"}))
    rules: list[Json] = [{"when": {"last_user": "tell it"}, "times": 1, "then": call}, {"then": "fine"}]
    return script_from_json(rules, "test")
