"""A work tree of its own for one agent: made by git from the present commit, removed when nothing changed in it.

A `WorktreeCreate` hook of the user makes it in git's place and prints where it is. Such a tree is left to the user's
`WorktreeRemove` hooks, and only where git says that nothing changed in it.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from reverie.errors import Unavailable, UserMistake
from reverie.extensions.hooks.verdict import FiresHooks
from reverie.files import write_folder
from reverie.files.git import run_git
from reverie.files.places.git_programs import may_look_at_files
from reverie.values import value

_SECONDS = 60.0


@value
class AgentWorkTree:
    """Where an isolated agent works."""

    path: Path
    branch: str
    commit: str
    """Where it began; empty where git does not know."""
    repository: Path
    is_ours: bool = True
    """Whether git made it for us; else a hook did."""


async def start_worktree(repository: Path, path: Path, branch: str, hooks: FiresHooks) -> AgentWorkTree:
    """Let a hook of the user make a work tree, or git where there is none; raises as `add_worktree`."""
    verdict = await hooks.fire("WorktreeCreate", {"name": path.name})
    if verdict.blocked is not None:
        raise UserMistake(f"no worktree created: {verdict.blocked}")
    named = verdict.more.get("worktreePath")
    if not isinstance(named, str):
        return await add_worktree(repository, path, branch)
    tree = Path(named)
    if not tree.is_absolute() or not tree.is_dir():
        raise UserMistake(f"a WorktreeCreate hook named {named!r}, which is not the absolute path of a directory")
    try:
        commit = await _git(tree, "rev-parse", "--verify", "HEAD")
    except Unavailable:
        commit = ""
    return AgentWorkTree(tree, "", commit, repository, is_ours=False)


async def end_worktree(tree: AgentWorkTree, hooks: FiresHooks) -> str:
    """Remove a work tree in which nothing changed, and let hooks hear of it; else where the changes are."""
    if tree.is_ours:
        is_removed = await remove_if_unchanged(tree)
    else:
        is_removed = bool(tree.commit) and await _is_unchanged(tree)
    if is_removed:
        await hooks.fire("WorktreeRemove", {"worktree_path": str(tree.path)})
        return ""
    where = f", on the branch {tree.branch}" if tree.branch else ""
    return f"What it changed is in the work tree {tree.path}{where}."


async def add_worktree(repository: Path, path: Path, branch: str) -> AgentWorkTree:
    """Make a work tree on a branch of its own.

    Raises:
        UserMistake: there is no repository, or it has no commit yet.
        Unavailable: git could not make it.
    """
    if not await asyncio.to_thread(may_look_at_files, repository):
        raise UserMistake(
            f"the git configuration of {repository} configures programs that creating a worktree could run; "
            "work without a worktree"
        )
    try:
        commit = await _git(repository, "rev-parse", "--verify", "HEAD")
    except Unavailable as problem:
        raise UserMistake(f"{repository} has no commit to create a worktree from ({problem})") from problem
    write_folder(path.parent)
    await _git(repository, "worktree", "add", "--quiet", "-b", branch, str(path), commit)
    return AgentWorkTree(path, branch, commit, repository)


async def remove_if_unchanged(tree: AgentWorkTree) -> bool:
    """Remove a work tree in which nothing was changed or committed; whether it was removed."""
    if not await _is_unchanged(tree):
        return False
    try:
        await _git(tree.repository, "worktree", "remove", str(tree.path))
        await _git(tree.repository, "branch", "--quiet", "-D", tree.branch)
    except Unavailable:
        return False
    return True


async def _is_unchanged(tree: AgentWorkTree) -> bool:
    if not await asyncio.to_thread(may_look_at_files, tree.path):
        return False
    try:
        status = await _git(tree.path, "status", "--porcelain", "--untracked-files=all", "--ignored")
        commit = await _git(tree.path, "rev-parse", "HEAD")
    except Unavailable:
        return False
    return not status and commit == tree.commit


async def _git(directory: Path, *arguments: str) -> str:
    done = await asyncio.to_thread(run_git, directory, *arguments, seconds=_SECONDS)
    if done.returncode:
        raise Unavailable(f"git {arguments[0]}: {done.stderr.decode('utf-8', 'replace').strip()}")
    return done.stdout.decode("utf-8", "replace").strip()
