"""What only git can tell of the user's project; asked so that nothing of the project's git configuration runs."""

from __future__ import annotations

from pathlib import Path

from reverie.errors import Unavailable
from reverie.files.git import find_git
from reverie.memory.git.program import Git
from reverie.places import find_checkout


def first_commit(path: Path) -> str | None:
    """The first commit of the repository around a path."""
    found = _ask(path, "rev-list", "--max-parents=0", "HEAD").split()
    return found[-1].decode() if found else None


def has_commit(path: Path, commit: str) -> bool:
    """Whether the repository around a path has a commit."""
    return _ask(path, "cat-file", "-t", f"{commit}^{{commit}}").strip() == b"commit"


def has_word(path: Path, word: str) -> bool:
    """Whether the word stands anywhere in the files that the repository tracks."""
    return bool(_ask(path, "grep", "-lwF", "--max-count=1", "-e", word))


def _ask(path: Path, *arguments: str) -> bytes:
    program, checkout = find_git(), find_checkout(path)
    if program is None or checkout is None or checkout.git_dir is None:
        return b""
    try:
        return Git(program, checkout.git_dir, checkout.top, trusts_settings=True).run(*arguments, accept=(0, 1, 128))
    except (Unavailable, OSError):
        return b""
