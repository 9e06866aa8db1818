"""Write a commit with `git fast-import`, move the branch with `git update-ref`, renew git's index with `git read-tree`.

A commit is written under `PENDING` first, whole or not at all. Its files then take their places, and only then the
branch moves: a commit that is found under `PENDING` is one that a killed writer left under way.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from reverie.errors import Conflict, Unavailable
from reverie.memory.store.git.program import Git
from reverie.memory.store.git.refs import (
    head_reference,
    is_commit_id,
    read_head,
    read_reference,
    wait_for_locks,
    write_head,
)

PENDING = "refs/reverie/pending"
_NEEDS_QUOTES = re.compile(rb'["\\\n]')
_QUOTED = {b'"': b'\\"', b"\\": b"\\\\", b"\n": b"\\n"}
_NO_COMMIT = "0" * 40


def write_pending_commit(
    git: Git,
    files: Mapping[str, bytes | None],
    *,
    author: str,
    committer: str,
    message: str,
    parents: Iterable[str],
) -> str:
    """Write a commit that changes these files of its first parent (None removes), and return its id."""
    wait_for_locks(git.directory, PENDING)
    text = message.encode()
    rows = [b"feature done", b"commit %s" % PENDING.encode(), b"mark :1"]
    rows += [f"author {author}".encode(), f"committer {committer}".encode(), b"data %d" % len(text), text]
    rows += [f"{word} {parent}".encode() for word, parent in zip(_links(), parents, strict=False)]
    # A folder may come where a file was.
    rows += [b"D %s" % _quote_path(path) for path, content in files.items() if content is None]
    for path, content in files.items():
        if content is not None:
            rows += [b"M 100644 inline %s" % _quote_path(path), b"data %d" % len(content), content]
    stream = b"\n".join([*rows, b"get-mark :1", b"done", b""])
    commit = git.run("fast-import", "--quiet", "--force", stdin=stream).decode("ascii").strip()
    if not is_commit_id(commit):
        raise Unavailable(f"git fast-import wrote no commit in {git.directory}")
    return commit


def _links() -> Iterable[str]:
    yield "from"
    while True:
        yield "merge"


def _quote_path(path: str) -> bytes:
    """A path as `fast-import` reads it."""
    name = os.fsencode(path)
    if not _NEEDS_QUOTES.search(name):
        return name
    return b'"%s"' % _NEEDS_QUOTES.sub(lambda match: _QUOTED[match[0]], name)


def read_pending(git: Git) -> str | None:
    """The commit that is under way; a reference that names nothing is removed."""
    commit = read_reference(git.directory, PENDING)
    if commit is None:
        (git.directory / PENDING).unlink(missing_ok=True)
    return commit


def write_pending(git: Git, commit: str) -> None:
    """Let a commit that is there already be the one under way."""
    wait_for_locks(git.directory, PENDING)
    git.run("update-ref", PENDING, commit)


def remove_pending(git: Git) -> None:
    """Let no commit be under way."""
    if read_pending(git) is not None:
        wait_for_locks(git.directory, PENDING, "packed-refs")
        git.run("update-ref", "-d", PENDING)


def write_branch(git: Git, commit: str, *, old: str | None, is_done: bool) -> None:
    """Move the branch of HEAD from `old` to a commit; `is_done` removes `PENDING` with it.

    Raises:
        Conflict: it no longer stands at `old`, or another git holds it.
    """
    name = head_reference(git.directory)
    wait_for_locks(git.directory, name, PENDING, "packed-refs")
    rows = [f"update {name} {commit} {old or _NO_COMMIT}\n"]
    if name == "HEAD":
        # Detached. Git is shown a HEAD of ours (see `program.py`), so it cannot move this one.
        write_head(git.directory, commit)
        rows = []
    if is_done and read_reference(git.directory, PENDING):
        rows.append(f"delete {PENDING}\n")
    try:
        git.run("update-ref", "--stdin", stdin="".join(rows).encode())
    except Unavailable as error:
        # The git of a writer that was killed may have gone on for a moment, and moved it.
        if read_head(git.directory) != commit:
            raise Conflict(f"{name} in {git.directory} changed concurrently; run the command again") from error


def write_git_index(git: Git, commit: str) -> bool:
    """Let git's index file hold what a commit holds, so that `git status` is clean; False when another git holds it."""
    try:
        wait_for_locks(git.directory, "index")
        try:
            git.run("read-tree", "--reset", commit)
        except Unavailable:
            # Damaged, or of a version that this git cannot read.
            (git.directory / "index").unlink(missing_ok=True)
            git.run("read-tree", "--reset", commit)
    except (Conflict, Unavailable):
        return False
    return True
