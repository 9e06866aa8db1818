from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from reverie.messages.blocks import Json
from reverie.messages.view import ItemKind
from reverie.session.events import ToolStarted
from reverie.session.file_history import RestorePlan
from reverie.settings import ToolsSettings
from tests.requirements import requirement
from tests.session.session_desk import Desk, calls, desk, told


def _without_extraction(at: Desk) -> None:
    """Let no other request follow the last one of the conversation."""
    at.settings = replace(at.settings, extraction=replace(at.settings.extraction, enabled=False))


def _writes(word: str, path: Path, content: str) -> list[Json]:
    given: dict[str, Json] = {"file_path": str(path), "content": content}
    return [{"when": {"last_user": word}, "times": 1, "then": calls(("Write", given))}]


@requirement("rewind:files:back", "rewind:files:others")
async def test_files_go_back_after_a_restart_and_the_model_is_told(tmp_path: Path) -> None:
    a, b = tmp_path / "project" / "a.txt", tmp_path / "project" / "b.txt"
    script: list[Json] = [*_writes("first", a, "one"), *_writes("second", b, "two"), {"then": "done"}]
    with desk(tmp_path, script) as at:
        _without_extraction(at)
        async with at.start() as session:
            await told(session, "the first thing")
            await told(session, "the second thing")
            messages = [uuid for uuid, _ in session.prompts]
        b.write_text("by hand")
        async with at.resume(session.id) as again:
            assert {each.path.name: each.way for each in again.changed_files(messages[0])} == {
                "a.txt": RestorePlan.FREE,
                "b.txt": RestorePlan.OTHERS,
            }
            free = [each for each in again.changed_files(messages[0]) if each.way is RestorePlan.FREE]
            assert again.restore_files(free, told=True) == (a,)
            await told(again, "go on")

        assert not a.exists()
        assert b.read_text() == "by hand"
        assert "brought these files back" in json.dumps(at.bodies[-1]["messages"][-1])


@requirement("rewind:files:back")
async def test_a_fork_brings_back_what_its_original_changed(tmp_path: Path) -> None:
    a = tmp_path / "project" / "a.txt"
    with desk(tmp_path, [*_writes("first", a, "one"), {"then": "done"}]) as at:
        async with at.start() as session:
            await told(session, "the first thing")
        async with at.resume(session.id, fork=True) as copy:
            assert copy.id != session.id
            copy.restore_files(copy.changed_files(copy.prompts[0][0]))
        assert not a.exists()


@requirement("rewind:files:back")
async def test_what_a_child_agent_changed_goes_back_too(tmp_path: Path) -> None:
    a = tmp_path / "project" / "a.txt"
    agent: dict[str, Json] = {"description": "do it", "prompt": "child task", "subagent_type": "general-purpose"}
    script: list[Json] = [
        {"when": {"last_user": "hand it on"}, "times": 1, "then": calls(("Agent", agent))},
        *_writes("child task", a, "one"),
        {"then": "done"},
    ]
    with desk(tmp_path, script) as at:
        async with at.start() as session:
            await told(session, "hand it on")
            assert a.read_text() == "one"
            session.restore_files(session.changed_files(session.prompts[0][0]))
        assert not a.exists()


@requirement("rewind:files:back")
@pytest.mark.parametrize("is_providers", [False, True])
async def test_memories_go_back_by_a_commit(tmp_path: Path, is_providers: bool) -> None:
    saved: dict[str, Json] = {"name": "Build", "description": "How it is built", "type": "project", "body": "make all"}
    created: dict[str, Json] = {"command": "create", "path": "/memories/build.md", "file_text": "make all"}
    call = ("memory", created) if is_providers else ("SaveMemory", saved)
    with desk(tmp_path, [{"when": {"last_user": "first"}, "times": 1, "then": calls(call)}, {"then": "done"}]) as at:
        at.settings = replace(at.settings, tools=ToolsSettings(provider_memory=is_providers))
        async with at.start() as session:
            await told(session, "the first thing")
            (kept,) = session.memory.directory.glob("[a-z]*.md")
            (found,) = session.changed_files(session.prompts[0][0])
            assert (found.path, found.way) == (kept.resolve(), RestorePlan.FREE)
            session.restore_files([found])
            assert not kept.exists()
            newest = next(iter(session.memory.log()))
            assert (newest.change.author, newest.change.reason) == ("user", "rewind")


@requirement("rewind:files:back")
async def test_after_going_back_a_file_must_be_read_again(tmp_path: Path) -> None:
    a = tmp_path / "project" / "a.txt"
    script: list[Json] = [*_writes("first", a, "one"), *_writes("second", a, "two"), {"then": "done"}]
    with desk(tmp_path, script) as at:
        _without_extraction(at)
        async with at.start() as session:
            await told(session, "the first thing")
            session.rewind(session.prompts[0][0])
            await told(session, "the second thing")
        assert a.read_text() == "one"
        assert "has not been read yet" in json.dumps(at.bodies[-1]["messages"])


@requirement("shell:words:join")
async def test_what_the_user_ran_joins_their_next_words(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine {request}"}]) as at:
        async with at.start() as session:
            await session.begin()
            session.parts.desk.keys = ("abcdefgh",)
            session.tell_command("make test abcdefgh", "2 failed abcdefgh\n</bash-stdout>", "exit code 1")
            await told(session, "why is that?")
            kinds = [item.kind for item in session.parts.log.view.items if item.kind is not ItemKind.ATTACHMENT]
            assert kinds == [ItemKind.TYPED, ItemKind.META, ItemKind.TYPED, ItemKind.REPLY]
        sent = json.dumps(at.bodies[-1]["messages"])
        assert "<bash-input>make test [key]</bash-input>" in sent
        assert (
            "<bash-stdout>2 failed [key]\\n&lt;/bash-stdout></bash-stdout><bash-stderr>exit code 1</bash-stderr>"
            in sent
        )
        assert sent.index("2 failed") < sent.index("why is that?")


@requirement("shell:words:join")
async def test_what_was_run_during_a_turn_waits_for_its_end(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"last_user": "wait"}, "times": 1, "then": calls(("Bash", {"command": "sleep 0.1"}))},
        {"then": "done"},
    ]
    with desk(tmp_path, script) as at:
        _without_extraction(at)
        async with at.start() as session:
            async for event in session.send("wait a little"):
                if isinstance(event, ToolStarted):
                    session.tell_command("ls", "a.txt")
            await told(session, "and now?")
        assert "<bash-input>" not in json.dumps(at.bodies[-2]["messages"])
        assert "<bash-input>ls</bash-input>" in json.dumps(at.bodies[-1]["messages"])
