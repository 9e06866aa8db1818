from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from reverie.files.trust import TrustKind, TrustPart, read_trust
from reverie.messages.blocks import Json
from reverie.messages.entries import AttachmentEntry, BoundaryEntry, UserEntry
from reverie.models.ports import Ending
from reverie.permissions.approval import Approval
from reverie.session.events import Attached, CacheBroken, Notice
from reverie.settings import Declaration, ToolsSettings
from tests.requirements import requirement
from tests.session.session_desk import Desk, calls, desk, ending, results, told
from tests.tools.mcp.servers import EXAMPLE, is_alive

COUNT: list[Json] = [
    {"when": {"last_user": "count", "has_tool_results": False}, "then": calls(("Bash", {"command": "seq 1 4000"}))}
]
"""Fills the window with something that a compaction can leave out."""


def skill(at: Desk, name: str, text: str, *, below: str = "", **head: str) -> Path:
    lines = "".join(f"{key.replace('_', '-')}: {value}\n" for key, value in head.items())
    return at.file(f"{below}.claude/skills/{name}/SKILL.md", f"---\n{lines}---\n{text}\n")


def own_skill(at: Desk, name: str, text: str, **head: str) -> None:
    """A skill of the user, who need not agree to it."""
    made = skill(at, name, text, **head)
    target = at.home / ".claude" / "skills" / name / "SKILL.md"
    target.parent.mkdir(parents=True)
    made.rename(target)


def server(at: Desk, *arguments: str, project: bool = False) -> None:
    """The example server among the user's own, or among the project's."""
    entry = {"example": {"command": sys.executable, "args": [str(EXAMPLE), "stdio", *arguments]}}
    path = at.project / ".mcp.json" if project else at.home / ".reverie" / "mcp.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"mcpServers": entry}), encoding="utf-8")
    at.settings = _with_tools(at, server_wait_seconds=30.0)


def _with_tools(at: Desk, **more: Any) -> Any:
    from dataclasses import asdict, replace

    return replace(at.settings, tools=ToolsSettings(**{**asdict(at.settings.tools), **more}))


def said(body: dict[str, Any]) -> str:
    return json.dumps(body["messages"])


def tools(body: dict[str, Any]) -> list[str]:
    return [tool["name"] for tool in body["tools"]]


@requirement("extensions:skill:user", "extensions:skill:listing")
async def test_a_skill_that_the_user_calls_joins_behind_their_words(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "reviewed"}]) as at:
        skill(at, "review", "Look at $ARGUMENTS with care.", description="Reviews code")
        async with at.start() as session:
            events = await told(session, "/review the parser")
            assert ("review", "Reviews code", "") in session.commands

        assert any(isinstance(event, Attached) and event.summary == "skill review" for event in events)
        typed = [one for one in session.entries if isinstance(one, UserEntry) and one.source == "typed"]
        assert [one.message.text for one in typed] == ["/review the parser"]
        sent = said(at.bodies[0])
        assert "- review: Reviews code" in sent
        assert sent.index("/review the parser") < sent.index("Look at the parser with care.")
        assert "Skill" in tools(at.bodies[0])


@requirement("extensions:skill:user")
async def test_words_that_nobody_typed_call_no_skill(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine {request}"}]) as at:
        skill(at, "ship", "Ship it.", description="Ships", disable_model_invocation="true")
        async with at.start() as session:
            heard = [event async for event in session.send("/ship now", source="system")]

        assert ending(heard).ending is Ending.COMPLETED
        assert "Ship it." not in said(at.bodies[0])


@requirement("extensions:skill:model")
async def test_the_model_loads_a_skill_and_not_one_that_is_only_the_users(tmp_path: Path) -> None:
    script: list[Json] = [
        {
            "when": {"last_user": "help", "has_tool_results": False},
            "then": calls(("Skill", {"skill": "review", "args": "it"}), ("Skill", {"skill": "ship"})),
        },
        {"then": "done"},
    ]
    with desk(tmp_path, script) as at:
        skill(at, "review", "Look at $1.", description="Reviews")
        skill(at, "ship", "Ship it.", description="Ships", disable_model_invocation="true")
        async with at.start() as session:
            await told(session, "help me")

        sent = said(at.bodies[-1])
        assert "Look at it." in sent
        assert "Only the user may call" in sent
        assert "Ship it." not in sent
        assert "- ship" not in sent


@requirement("extensions:skill:survives", "extensions:skill:listing")
async def test_an_invoked_skill_returns_after_compactions_also_when_resumed(tmp_path: Path) -> None:
    with desk(tmp_path, [*COUNT, {"then": "fine {request}"}]) as at:
        skill(at, "review", "Mind the heron.", description="Reviews")
        async with at.start() as session:
            await told(session, "/review")
            for _ in range(6):
                await told(session, "count")
            assert await session.compact() is not None
            await told(session, "next")
        assert said(at.bodies[-1]).count("Mind the heron.") == 1
        assert said(at.bodies[-1]).count("- review: Reviews") == 1

        async with at.resume(session.id) as again:
            for _ in range(6):
                await told(again, "count")
            assert await again.compact() is not None
            await told(again, "next")
        assert said(at.bodies[-1]).count("Mind the heron.") == 1


@requirement("extensions:skill:listing", "extensions:skill:model")
@pytest.mark.moves_prefix("the first skill brings the tool that loads it")
async def test_skills_below_a_touched_folder_are_announced_when_it_is_touched(tmp_path: Path) -> None:
    file = str(tmp_path / "project" / "deep" / "a.txt")
    script: list[Json] = [
        {"when": {"last_user": "read", "has_tool_results": False}, "then": calls(("Read", {"file_path": file}))},
        {"then": "ok"},
    ]
    with desk(tmp_path, script) as at:
        at.file("deep/a.txt", "hello")
        skill(at, "dive", "Dive.", below="deep/", description="Dives")
        async with at.start() as session:
            await told(session, "read it")
            assert "Skill" not in tools(at.bodies[0])
            await told(session, "again")

        assert "- dive" not in said(at.bodies[0])
        assert said(at.bodies[-1]).count("- dive: Dives") == 1
        assert tools(at.bodies[-1])[-1] == "Skill"


@requirement("extensions:skill:commands")
async def test_commands_in_a_skill_run_only_when_they_are_allowed(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine {request}"}]) as at:
        own_skill(at, "state", "Now: !`echo a heron` and !`touch made`", description="Shows")
        at.person.answer = lambda _: Approval(False, message="not that")
        async with at.start() as session:
            await told(session, "/state")

        assert "Now: a heron and" in said(at.bodies[0])
        assert "not that" in said(at.bodies[0])
        assert not (at.project / "made").exists()
        assert [question.need.command for question in at.person.asked] == ["touch made"]


@requirement("extensions:skill:rules", "extensions:trust:waiting", "extensions:trust:answers")
async def test_rules_of_a_skill_hold_for_its_turn_and_for_a_projects_skill_only_after_trust(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"has_tool_results": True}, "then": "ok"},
        {"then": calls(("Bash", {"command": "touch made"}))},
    ]
    with desk(tmp_path, script) as at:
        skill(at, "make", "Make it.", description="Makes", allowed_tools="Bash(touch:*)")
        at.person.answer = lambda _: Approval(False)
        async with at.start() as session:
            await told(session, "/make")
            assert not (at.project / "made").exists()
            (part,) = session.waiting_for_trust
            assert part.kind == TrustKind.SKILL
            session.answer_trust([part], accepted=True)
            assert session.waiting_for_trust == ()
            await told(session, "/make")
            assert (at.project / "made").exists()
            (at.project / "made").unlink()
            await told(session, "and now without it")
            assert not (at.project / "made").exists()

        skill(at, "make", "Make it.", description="Makes", allowed_tools="Bash(rm:*)")
        async with at.start() as later:
            await later.begin()
            assert [one.kind for one in later.waiting_for_trust] == [TrustKind.SKILL]


@requirement("extensions:skill:user")
async def test_a_hook_may_refuse_a_command_and_other_slashes_are_only_words(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine {request}"}]) as at:
        skill(at, "review", "Look.", description="Reviews")
        refuse = "cat > /dev/null; echo not today >&2; exit 2"
        at.hooks(UserPromptExpansion=[{"matcher": "review", "hooks": [{"type": "command", "command": refuse}]}])
        async with at.start() as session:
            events = await told(session, "/review")
            assert ending(events).ending is Ending.BLOCKED
            assert "not today" in ending(events).text
            await told(session, "/tmp/file is a path")

        assert len(at.bodies) == 1
        assert "/tmp/file is a path" in said(at.bodies[0])


@requirement("mcp:connect:transports", "mcp:call:permission", "mcp:prompt:instructions", "mcp:connect:close")
async def test_the_tools_of_a_server_take_part_in_a_session(tmp_path: Path) -> None:
    script: list[Json] = [
        {
            "when": {"last_user": "add", "has_tool_results": False},
            "then": calls(("mcp__example__add", {"a": 2, "b": 3}), ("mcp__example__broken", {})),
        },
        {"then": "five"},
    ]
    with desk(tmp_path, script) as at:
        server(at, "--pid", str(tmp_path / "pid"))
        async with at.start() as session:
            events = await told(session, "add them")
            rows = dict(session.describe("mcp") or ())
            process = int((tmp_path / "pid").read_text())
            assert is_alive(process)

        assert ending(events).text == "five"
        assert results(at.bodies[-1]) == [
            (False, "5"),
            (True, "Error executing tool broken: the crane is out of order"),
        ]
        assert [question.need.tool for question in at.person.asked] == ["mcp__example__add", "mcp__example__broken"]
        assert "Add numbers with add." in json.dumps(at.bodies[0]["system"])
        assert " tools" in rows["example"]
        assert not is_alive(process)

        # The same servers in a session that is resumed leave what was sent as it was: the net below this test looks.
        async with at.resume(session.id) as again:
            await told(again, "and on")
        assert tools(at.bodies[-1]) == tools(at.bodies[0])
        assert "Add numbers with add." in json.dumps(at.bodies[-1]["system"])


@requirement("mcp:resources:read")
async def test_the_model_lists_and_reads_resources_of_a_server(tmp_path: Path) -> None:
    script: list[Json] = [
        *COUNT,
        {
            "when": {"answers_tool": "ListMcpResources"},
            "then": calls(("ReadMcpResource", {"server": "example", "uri": "doc://handbook/1"})),
        },
        {"when": {"answers_tool": "ReadMcpResource"}, "then": "read it"},
        {"then": calls(("ListMcpResources", {}))},
    ]
    with desk(tmp_path, script) as at:
        server(at, "--resources")
        async with at.start() as session:
            events = await told(session, "what does the handbook say?")

        assert ending(events).text == "read it"
        assert tools(at.bodies[0])[-2:] == ["ListMcpResources", "ReadMcpResource"]
        ((_, listed),) = results(at.bodies[1])
        assert "- example: doc://handbook/1 [text/plain]" in listed
        assert "doc://handbook/{chapter}/note [template]" in listed
        ((_, read),) = results(at.bodies[2])
        assert read.startswith("[resource doc://handbook/1]\nChapter one")
        assert "<system-reminder>" not in read
        assert [question.need.tool for question in at.person.asked] == ["ReadMcpResource"]


@requirement("mcp:connect:failure", "mcp:prompt:instructions")
@pytest.mark.moves_prefix("the tools of a slow server join later")
async def test_a_slow_server_does_not_hold_the_first_request_and_joins_later(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine {request}"}]) as at:
        server(at, "--slow", "1")
        at.settings = _with_tools(at, server_wait_seconds=0.05)
        async with at.start() as session:
            heard = await told(session, "first")
            await session.parts.extensions.mcp_tools.connections.wait_until_settled(30)
            heard += await told(session, "second")

        before, after = at.bodies
        assert not any(name.startswith("mcp__") for name in tools(before))
        assert tools(after)[: len(tools(before))] == tools(before)
        assert "mcp__example__add" in tools(after)
        assert "Add numbers with add." not in json.dumps(before["system"])
        assert "Add numbers with add." in json.dumps(after["system"])
        assert all(event.parted.is_announced for event in heard if isinstance(event, CacheBroken))


@requirement("mcp:connect:failure")
async def test_a_broken_server_is_a_notice(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine {request}"}]) as at:
        server(at)
        path = at.home / ".reverie" / "mcp.json"
        path.write_text(json.dumps({"mcpServers": {"gone": {"command": "no-such-program-at-all"}}}))
        async with at.start() as session:
            events = await told(session, "hello")

        assert ending(events).ending is Ending.COMPLETED
        assert any(isinstance(event, Notice) and "'gone'" in event.text for event in events)


@requirement("mcp:tools:deferred", "mcp:tools:restored")
@pytest.mark.moves_prefix("tools are loaded on demand and a compaction takes place")
async def test_many_tools_are_loaded_on_demand_and_stay(tmp_path: Path) -> None:
    script: list[Json] = [
        *COUNT,
        {"when": {"answers_tool": "ToolSearch"}, "then": calls(("mcp__example__drawer_7", {}))},
        {"when": {"has_tool_results": True}, "then": "opened"},
        {"when": {"last_user": "open"}, "then": calls(("ToolSearch", {"query": "select:mcp__example__drawer_7"}))},
        {"then": "fine {request}"},
    ]
    with desk(tmp_path, script) as at:
        server(at, "--many", "30")
        async with at.start() as session:
            events = await told(session, "open the seventh drawer")
            assert ending(events).text == "opened"
            first = at.bodies[0]
            assert "ToolSearch" in tools(first)
            assert not any(name.startswith("mcp__") for name in tools(first))
            assert said(first).count("- mcp__example__drawer_7\\n") == 1
            assert tools(at.bodies[1]) == [*tools(first), "mcp__example__drawer_7"]
            assert results(at.bodies[2]) == [(False, "drawer 7")]
            await told(session, "count")
            await told(session, "count again")
            assert await session.compact() is not None
            await told(session, "next")
            assert "mcp__example__drawer_7" in tools(at.bodies[-1])
            assert said(at.bodies[-1]).count("- mcp__example__drawer_8\\n") == 1
            (boundary,) = [one for one in session.entries if isinstance(one, BoundaryEntry)]
            assert "mcp__example__drawer_7" in json.dumps(dict(boundary.details))
        count = len(at.bodies)
        async with at.resume(session.id) as again:
            await told(again, "and on")
        assert tools(at.bodies[-1]) == tools(at.bodies[count - 1])


@requirement("mcp:prompt:commands")
async def test_a_prompt_of_a_server_is_a_command(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "hello"}]) as at:
        server(at)
        async with at.start() as session:
            await told(session, "/mcp__example__greet Ada formal")
            assert any(name == "mcp__example__greet" for name, _, _ in session.commands)

        assert "Say hello to Ada, in a formal voice." in said(at.bodies[0])


@requirement("extensions:plugins:sources", "extensions:hooks:effects")
async def test_a_plugin_brings_hooks_skills_and_servers(tmp_path: Path) -> None:
    plugin = tmp_path / "crane"
    (plugin / "skills" / "lift").mkdir(parents=True)
    (plugin / "skills" / "lift" / "SKILL.md").write_text("---\ndescription: Lifts\n---\nLift it.\n")
    (plugin / "hooks").mkdir()
    hooks = {
        "SessionStart": [{"hooks": [{"type": "command", "command": 'echo export HOOK=yes >> "$CLAUDE_ENV_FILE"'}]}],
        "UserPromptSubmit": [
            {
                "hooks": [
                    {"type": "mcp_tool", "server": "plugin:crane:example", "tool": "add", "input": {"a": 40, "b": 2}}
                ]
            }
        ],
    }
    (plugin / "hooks" / "hooks.json").write_text(json.dumps({"hooks": hooks}))
    entry = {"example": {"command": sys.executable, "args": [str(EXAMPLE), "stdio"]}}
    (plugin / ".mcp.json").write_text(json.dumps({"mcpServers": entry}))
    script: list[Json] = [
        {"when": {"last_user": "go", "has_tool_results": False}, "then": calls(("Bash", {"command": "echo $HOOK"}))},
        {"then": "ok"},
    ]
    with desk(tmp_path, script) as at:
        at.settings = _with_tools(at, server_wait_seconds=30.0)
        at.options["plugin_dirs"] = (plugin,)
        async with at.start() as session:
            await told(session, "go")
            assert dict(session.describe("plugins") or ()) == {"crane": str(plugin)}

        assert "mcp__plugin_crane_example__add" in tools(at.bodies[0])
        assert "- crane:lift: Lifts" in said(at.bodies[0])
        assert results(at.bodies[-1]) == [(False, "yes")]
        said_by_hook = [one for one in session.entries if isinstance(one, AttachmentEntry) and "hook" in one.kind]
        assert any("42" in json.dumps([block.text for block in one.content]) for one in said_by_hook)  # type: ignore[union-attr]


@requirement("extensions:hooks:effects")
async def test_a_hook_asks_the_model_and_judges_rules_as_permissions_do(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"last_user": "<event>"}, "then": '{"ok": false, "reason": "the model says no"}'},
        {
            "when": {"last_user": "go", "has_tool_results": False},
            "then": calls(("Bash", {"command": "cd . && echo b"}), ("Bash", {"command": "pwd"})),
        },
        {"then": "ok"},
    ]
    with desk(tmp_path, script) as at:
        asked: Json = {"type": "prompt", "prompt": "May it? $ARGUMENTS", "if": "Bash(echo:*)"}
        at.hooks(PreToolUse=[{"matcher": "Bash", "hooks": [asked]}])
        async with at.start() as session:
            await told(session, "go")

        first, second = results(at.bodies[-1])
        assert first[0]
        assert "the model says no" in first[1]
        assert second == (False, str(at.project))


@requirement("extensions:hooks:background")
async def test_what_a_hook_in_the_background_says_joins_at_the_next_boundary(tmp_path: Path) -> None:
    words = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "the tide turned"}}
    command = f"cat > /dev/null; echo '{json.dumps(words)}'"
    with desk(tmp_path, [{"then": "fine {request}"}]) as at:
        at.hooks(SessionStart=[{"hooks": [{"type": "command", "command": command, "async": True}]}])
        async with at.start() as session:
            await session.begin()
            async with asyncio.timeout(120):
                while session.parts.hooks._background:  # noqa: ASYNC110 - nothing else tells its end
                    await asyncio.sleep(0.01)
            await told(session, "hello")

        assert "the tide turned" in said(at.bodies[0])


@requirement("extensions:trust:waiting", "extensions:trust:answers")
async def test_servers_and_settings_of_a_project_wait_for_trust_and_then_take_part(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"has_tool_results": True}, "then": "ok"},
        {"then": calls(("Bash", {"command": "touch made"}))},
    ]
    with desk(tmp_path, script) as at:
        server(at, project=True)
        other = tmp_path / "other"
        other.mkdir()
        rules = TrustPart(TrustKind.ALLOW, "settings.json:1", json.dumps(["Bash(touch:*)"]))
        folders = TrustPart(TrustKind.DIRECTORIES, "settings.json:2", json.dumps([str(other)]))
        at.options["trust_parts"] = (rules, folders)
        hook = {"SessionStart": [{"hooks": [{"type": "command", "command": "touch hooked"}]}]}
        from dataclasses import replace

        declared = Declaration("project", "settings.json:3", committed=True, text=json.dumps(hook))
        at.settings = replace(at.settings, hooks=(declared,))
        at.person.answer = lambda _: Approval(False)
        async with at.start() as session:
            events = await told(session, "go")
            waiting = session.waiting_for_trust
            assert {part.kind for part in waiting} == {
                TrustKind.ALLOW,
                TrustKind.DIRECTORIES,
                TrustKind.SERVER,
                TrustKind.HOOKS,
            }
            assert any(isinstance(event, Notice) and "reverie trust" in event.text for event in events)
            assert not (at.project / "made").exists()
            assert not (at.project / "hooked").exists()
            assert not any(name.startswith("mcp__") for name in tools(at.bodies[-1]))

            session.answer_trust([part for part in waiting if part.kind == TrustKind.HOOKS], accepted=False)
            session.answer_trust([part for part in waiting if part.kind != TrustKind.HOOKS], accepted=True)
            assert session.waiting_for_trust == ()
            assert other in session.parts.desk.additional
            assert session.describe("mcp") == (("example", "connecting"),)

        trust = read_trust(session.parts.options.places.trust, at.project)
        assert [trust.accepts(part) for part in waiting] == [part.kind != TrustKind.HOOKS for part in waiting]
        at.options["trust_parts"] = ()
        async with at.start() as later:
            await later.begin()
            assert later.waiting_for_trust == ()
