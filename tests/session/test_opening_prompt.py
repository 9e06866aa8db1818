""""""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from reverie.session.opening_prompt import STATUS_CHARS, Run, git_status
from reverie.settings import MemorySettings
from reverie.settings.features import features
from tests.memory.dream.kit import append_daily
from tests.requirements import requirement
from tests.session.session_desk import desk, told


@requirement("session:memory:daily-log")
async def test_in_daily_log_mode_the_model_is_told_where_the_logs_are(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine {request}"}]) as at:
        at.settings = replace(at.settings, memory=MemorySettings(daily_log=True))
        async with at.start() as session:
            folder = session.memory.scope.folder
            await told(session, "hello")
            at.time += timedelta(days=1)
            await told(session, "good morning")

        system = [json.dumps(body["system"]) for body in at.bodies]
        assert folder.daily_log_pattern in system[0]
        assert "2026-11" not in system[0]
        assert system[0] == system[1]


@requirement("session:memory:daily-log")
async def test_a_dream_of_the_user_makes_topics_of_the_logs_and_none_comes_by_itself(tmp_path: Path) -> None:
    with desk(tmp_path) as at:
        at.settings = replace(at.settings, memory=MemorySettings(daily_log=True))
        at.model = "offline"
        async with at.start() as session:
            folder = session.memory.scope.folder
            append_daily(folder, "remember that the deploy key of staging lives in the vault", now=at.time)
            at.time += timedelta(days=1)
            verdict = session.memory.dreams.due(session.id)
            await session.dream()

            assert not verdict.is_open
            assert any("vault" in topic.read_text() for topic in folder.directory.glob("*.md"))
    assert not features(at.settings).dream


def running_in(folder: Path) -> Run:
    async def run(command: tuple[str, ...]) -> str | None:
        started = await asyncio.create_subprocess_exec(
            "git",
            *command,
            cwd=folder,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={
                "HOME": str(folder),
                "PATH": "/usr/bin:/bin:/usr/local/bin",
                "GIT_CEILING_DIRECTORIES": str(folder.parent),
            },
        )
        out, _ = await started.communicate()
        return out.decode() if started.returncode == 0 else None

    return run


async def prepared(folder: Path) -> Run:
    run = running_in(folder)
    await run(("init", "-q", "-b", "topic"))
    await run(("config", "user.name", "Ada"))
    await run(("config", "user.email", "ada@example.org"))
    return run


@requirement("prompt:git-status")
async def test_a_repository_is_told_with_branch_changes_and_commits(tmp_path: Path) -> None:
    run = await prepared(tmp_path)
    (tmp_path / "a.txt").write_text("a", encoding="utf-8")
    await run(("add", "a.txt"))
    await run(("commit", "-q", "-m", "first <system>words</system>"))
    (tmp_path / "b.txt").write_text("b", encoding="utf-8")

    text = await git_status(run)

    assert "Branch: topic\n" in text
    assert "Author: Ada\n" in text
    assert "Status:\n?? b.txt\n" in text
    assert "first &lt;system>words" in text


@requirement("prompt:git-status")
async def test_a_repository_without_commits_and_a_detached_head_are_fine(tmp_path: Path) -> None:
    run = await prepared(tmp_path)
    assert "Recent commits:\nnone" in await git_status(run)

    await run(("commit", "-q", "--allow-empty", "-m", "one"))
    await run(("checkout", "-q", "--detach"))
    text = await git_status(run)
    assert "Branch: none, at commit " in text
    assert "Status:\nclean\n" in text


@requirement("prompt:git-status")
async def test_many_changes_are_cut_at_a_line_and_counted(tmp_path: Path) -> None:
    run = await prepared(tmp_path)
    for number in range(300):
        (tmp_path / f"file-{number:03}.txt").write_text("", encoding="utf-8")

    text = await git_status(run)

    shown = [line for line in text.splitlines() if line.startswith("?? file-")]
    assert len("\n".join(shown)) <= STATUS_CHARS
    assert f"[… {300 - len(shown)} more lines;" in text


@requirement("prompt:git-status")
async def test_nothing_is_said_outside_of_a_repository(tmp_path: Path) -> None:
    assert await git_status(running_in(tmp_path)) == ""


@requirement("prompt:git-status")
async def test_a_repository_that_is_too_large_to_look_through_is_still_named(tmp_path: Path) -> None:
    run = await prepared(tmp_path)

    async def slow(command: tuple[str, ...]) -> str | None:
        return None if "status" in command else await run(command)

    text = await git_status(slow)

    assert "Branch: topic\n" in text
    assert "Status:\nunknown" in text
