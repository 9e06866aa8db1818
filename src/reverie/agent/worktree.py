"""A git work tree of its own for one agent: made from the present commit, removed when nothing changed in it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from reverie.errors import Unavailable, UserMistake
from reverie.files import write_folder
from reverie.places import ASKING_GIT, FILTERS, configured_programs

_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class WorkTree:
    """Where an isolated agent works."""

    path: Path
    branch: str
    commit: str
    """Where it began."""
    repository: Path
    environment: Mapping[str, str]


async def add_worktree(repository: Path, path: Path, branch: str, environment: Mapping[str, str]) -> WorkTree:
    """Make a work tree on a branch of its own.

    Raises:
        UserMistake: there is no repository, or it has no commit yet.
        Unavailable: git could not make it.
    """
    named = configured_programs(repository) & FILTERS
    if named:
        raise UserMistake(
            f"the git configuration of {repository} names programs ({', '.join(sorted(named))}) that making a work "
            "tree would run; work without one"
        )
    try:
        commit = await _git(repository, environment, "rev-parse", "--verify", "HEAD")
    except Unavailable as problem:
        raise UserMistake(f"{repository} has no git commit to make a work tree from ({problem})") from problem
    write_folder(path.parent)
    await _git(repository, environment, "worktree", "add", "--quiet", "-b", branch, str(path), commit)
    return WorkTree(path, branch, commit, repository, environment)


async def remove_if_unchanged(tree: WorkTree) -> bool:
    """Remove a work tree in which nothing was changed or committed; whether it was removed."""
    try:
        status = await _git(tree.path, tree.environment, "status", "--porcelain", "--untracked-files=all", "--ignored")
        commit = await _git(tree.path, tree.environment, "rev-parse", "HEAD")
        if status or commit != tree.commit:
            return False
        await _git(tree.repository, tree.environment, "worktree", "remove", str(tree.path))
        await _git(tree.repository, tree.environment, "branch", "--quiet", "-D", tree.branch)
    except Unavailable:
        return False
    return True


async def _git(directory: Path, environment: Mapping[str, str], *arguments: str) -> str:
    try:
        process = await asyncio.create_subprocess_exec(
            *ASKING_GIT,
            *arguments,
            cwd=directory,
            env={**environment, "LC_ALL": "C"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError as problem:
        raise Unavailable(f"git cannot be run: {problem}") from problem
    try:
        async with asyncio.timeout(_SECONDS):
            out, err = await process.communicate()
    except TimeoutError as late:
        raise Unavailable(f"git {arguments[0]} took longer than {_SECONDS:.0f} s") from late
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise Unavailable(f"git {arguments[0]}: {err.decode('utf-8', 'replace').strip()}")
    return out.decode("utf-8", "replace").strip()
