"""Asks git about the user's project, so that nothing of the project's git configuration runs."""

from __future__ import annotations

from pathlib import Path

from reverie.files.git import ask_git
from reverie.files.places import find_checkout

_SECONDS = 60.0


def first_commit(path: Path) -> str | None:
    """The first commit of the repository around a path."""
    commits = _ask(path, "rev-list", "--max-parents=0", "HEAD").split()
    return commits[-1] if commits else None


def has_commit(path: Path, commit: str) -> bool:
    """Whether the repository around a path has a commit."""
    return _ask(path, "cat-file", "-t", f"{commit}^{{commit}}").strip() == "commit"


def has_word(path: Path, word: str) -> bool:
    """Whether the word stands anywhere in the files that the repository tracks."""
    return bool(_ask(path, "grep", "-lwF", "--max-count=1", "-e", word))


def _ask(path: Path, *arguments: str) -> str:
    checkout = find_checkout(path)
    if checkout is None or checkout.git_dir is None:
        return ""
    where = (f"--git-dir={checkout.git_dir}", f"--work-tree={checkout.top}")
    return ask_git(path, *where, *arguments, seconds=_SECONDS) or ""
