"""The state of the repository as a session begins: gathered once, bounded, never renewed while the session lasts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from reverie.messages.injection import harmless
from reverie.session.prompt_text import prompt_text

STATUS_CHARS = 2_000
"""The longest list of changes; the model can ask git for the rest."""

Run: TypeAlias = Callable[[tuple[str, ...]], Awaitable[str | None]]
"""Asks git in the working directory and gives what it printed; None when it failed or took too long."""

_BRANCH = ("branch", "--show-current")
_COMMIT = ("rev-parse", "--short", "HEAD")
_MAIN = ("symbolic-ref", "--short", "refs/remotes/origin/HEAD")
_AUTHOR = ("config", "user.name")
# A submodule has a configuration of its own, so it is not looked at.
_STATUS = ("status", "--short", "--ignore-submodules=all")
_COMMITS = ("log", "--oneline", "-n", "5")


async def git_status(run: Run, *, looks_at_files: bool = True) -> str:
    """A section for the system prompt; empty outside of a repository or when git does not answer.

    Without `looks_at_files` the list of changes is left out: asking for it could start a program of the repository's.
    """
    asked = (_BRANCH, _COMMIT, _MAIN, _AUTHOR, _COMMITS, *((_STATUS,) if looks_at_files else ()))
    branch, commit, main, author, commits, *rest = await asyncio.gather(*(run(command) for command in asked))
    if branch is None and not any(rest):
        return ""
    unknown = "git did not answer in time" if looks_at_files else "the repository's configuration names programs"
    status = rest[0] if rest else None
    return prompt_text(
        "git_status",
        branch=_line(branch) or f"none, at commit {_line(commit) or 'unknown'}",
        main=_line(main).removeprefix("origin/") or "unknown",
        author=_line(author) or "unknown",
        status=f"unknown: {unknown}" if status is None else _cut(harmless(status).rstrip()) or "clean",
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
