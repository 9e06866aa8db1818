"""The state of the repository as a session begins: gathered once, bounded, never renewed while the session lasts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from reverie.agent.prompt_text import prompt_text
from reverie.memory.injection import harmless

STATUS_CHARS = 2_000
"""The longest list of changes; the model can ask git for the rest."""

Run: TypeAlias = Callable[[tuple[str, ...]], Awaitable[str | None]]
"""Runs a command in the working directory and gives what it printed; None when it failed or took too long."""

# Without locks, so that a question never stands in the way of what the user does in the same repository.
_GIT = ("git", "--no-optional-locks")
_BRANCH = (*_GIT, "branch", "--show-current")
_COMMIT = (*_GIT, "rev-parse", "--short", "HEAD")
_MAIN = (*_GIT, "symbolic-ref", "--short", "refs/remotes/origin/HEAD")
_AUTHOR = (*_GIT, "config", "user.name")
_STATUS = (*_GIT, "status", "--short")
_COMMITS = (*_GIT, "log", "--oneline", "-n", "5")


async def git_status(run: Run) -> str:
    """A section for the system prompt; empty outside of a repository or when git does not answer."""
    branch, commit, main, author, status, commits = await asyncio.gather(
        *(run(command) for command in (_BRANCH, _COMMIT, _MAIN, _AUTHOR, _STATUS, _COMMITS))
    )
    if branch is None and status is None:
        return ""
    return prompt_text(
        "git_status",
        branch=_line(branch) or f"none, at commit {_line(commit) or 'unknown'}",
        main=_line(main).removeprefix("origin/") or "unknown",
        author=_line(author) or "unknown",
        status="unknown: git did not answer in time" if status is None else _cut(harmless(status).rstrip()) or "clean",
        commits=harmless(commits or "").strip() or "none",
    )


def _line(text: str | None) -> str:
    return harmless(text or "").strip().partition("\n")[0]


def _cut(status: str) -> str:
    """The first lines within the limit, and how many are missing."""
    if len(status) <= STATUS_CHARS:
        return status
    kept = status[:STATUS_CHARS].rpartition("\n")[0] or status[:STATUS_CHARS]
    missing = status.count("\n") - kept.count("\n")
    return f"{kept}\n[… {missing:,} more lines; `git status --short` shows all of them]"
