"""Finds the repository around a path by reading a few small files, without running git.

Worktrees of one repository share its main root. A `.git` that points elsewhere is believed only when the other side
points back: else a folder from outside could pose as any project and be given that project's memories.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from reverie.files import is_inside, read_small
from reverie.files.places.git_config import read_git_config
from reverie.values import value


@value
class Checkout:
    """A work tree and the repository it belongs to."""

    top: Path
    """The folder that holds `.git`."""
    root: Path
    """The main work tree, the same for all worktrees; a bare repository stands for itself."""
    git_dir: Path | None
    """The repository's own folder, shared by worktrees; None when it cannot be shown to belong to this checkout."""


def find_checkout(path: Path) -> Checkout | None:
    """The innermost checkout that holds the path; None outside of git. A submodule is a checkout of its own."""
    real = Path(os.path.realpath(path))
    return next((found for folder in (real, *real.parents) if (found := _checkout_at(folder))), None)


def project_root(path: Path) -> Path:
    """The main root of the repository around the path; outside of git the real path itself."""
    checkout = find_checkout(path)
    return checkout.root if checkout else Path(os.path.realpath(path))


def list_worktrees(checkout: Checkout) -> tuple[Path, ...]:
    """The tops of all work trees of the repository that still exist, the main one first."""
    if checkout.git_dir is None:
        return (checkout.top,)
    linked = []
    for notes in sorted((checkout.git_dir / "worktrees").glob("*/gitdir")):
        top = _read_path(notes, relative_to=notes.parent)
        if top is not None and (found := _checkout_at(top.parent)) and found.git_dir == checkout.git_dir:
            linked.append(found.top)
    return (checkout.root, *linked)


def _checkout_at(folder: Path) -> Checkout | None:
    dot_git = folder / ".git"
    try:
        kind = stat.S_IFMT(dot_git.lstat().st_mode)
    except OSError:
        return None
    if kind == stat.S_IFLNK:
        return Checkout(folder, folder, None)
    if kind == stat.S_IFDIR:
        return Checkout(folder, folder, dot_git) if os.path.lexists(dot_git / "HEAD") else None
    git_dir = _read_git_file(folder)
    return _checkout_elsewhere(folder, git_dir) if git_dir is not None else None


def _checkout_elsewhere(folder: Path, git_dir: Path) -> Checkout:
    """A checkout whose `.git` is a file: a worktree, a submodule, or a repository kept in another folder."""
    common_dir = _read_path(git_dir / "commondir", relative_to=git_dir)
    if common_dir is None:
        is_ours = is_inside(folder, git_dir) or _configured_work_tree(git_dir) == folder
        return Checkout(folder, folder, git_dir if is_ours else None)
    points_back = _read_path(git_dir / "gitdir", relative_to=git_dir)
    if points_back != folder / ".git" or git_dir.parent != common_dir / "worktrees":
        return Checkout(folder, folder, None)
    return Checkout(folder, _main_work_tree(common_dir), common_dir)


def _main_work_tree(common_dir: Path) -> Path:
    for folder in (common_dir.parent, _configured_work_tree(common_dir)):
        if folder is not None and common_dir in (folder / ".git", _read_git_file(folder)):
            return folder
    return common_dir


def _configured_work_tree(git_dir: Path) -> Path | None:
    configured = read_git_config(git_dir / "config").get("core.worktree")
    return Path(os.path.realpath(git_dir / configured)) if configured else None


def _read_git_file(folder: Path) -> Path | None:
    return _read_path(folder / ".git", prefix="gitdir: ", relative_to=folder)


def _read_path(file: Path, *, relative_to: Path, prefix: str = "") -> Path | None:
    """The path that stands in one of git's one-line files."""
    content = read_small(file, limit_bytes=8192)
    if content is None or b"\0" in content or not content.startswith(prefix.encode()):
        return None
    # A blank at the end belongs to the path, as it does for git.
    return Path(os.path.realpath(relative_to / os.fsdecode(content[len(prefix) :].rstrip(b"\r\n"))))
