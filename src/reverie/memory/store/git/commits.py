"""Commits, trees, blobs and references of a repository, by the git program.

A commit is written by `git fast-import` under `PENDING` first, whole or not at all. Its files then take their places,
and only then `git update-ref` moves the branch and `git read-tree` renews git's index: a commit that is found under
`PENDING` is one that a killed writer left under way.

References are read without a git process; only their `files` format, which our repositories are made with.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path

from reverie.errors import Conflict, Unavailable
from reverie.files.durable import write_atomic
from reverie.memory.store.git.repository import Git

PENDING = "refs/reverie/pending"
_NEEDS_QUOTES = re.compile(rb'["\\\n]')
_QUOTED = {b'"': b'\\"', b"\\": b"\\\\", b"\n": b"\\n"}
_NO_COMMIT = "0" * 40
MAIN = "refs/heads/main"
SET_ASIDE = "reverie/set-aside"
"""Where directories go that stood in the place of a reference."""
_BRANCH = re.compile(r"ref: refs/heads/(?!.*(?:\.\.|//))[^\s~^:?*\[\\\x00-\x1f]+")
_COMMIT_ID = re.compile(r"[0-9a-f]{40}")
_WAIT_SECONDS = 3.0
"""How long somebody's git may hold the branch before we say so."""
_STALE_SECONDS = 2.0
"""Git holds these locks for milliseconds; one this old was left by a process that was killed."""


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
        # Detached. Git is shown a HEAD of ours (see `repository.py`), so it cannot move this one.
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


def read_tree(git: Git, commit: str | None) -> dict[str, bytes]:
    """Path → content id of every ordinary file a commit holds; no commit holds nothing."""
    if commit is None:
        return {}
    rows = (row.split(b"\t", 1) for row in git.run("ls-tree", "-r", "-z", commit).split(b"\0") if row)
    return {os.fsdecode(path): bytes.fromhex(head[12:].decode()) for head, path in rows if head.startswith(b"100")}


def read_blob(git: Git, oid: bytes) -> bytes:
    """The content with this id."""
    return read_blobs(git, (oid,))[oid]


def read_blobs(git: Git, oids: Iterable[bytes]) -> dict[bytes, bytes]:
    """The contents of many blobs, by one call of git."""
    unique_oids = list(dict.fromkeys(oids))
    if not unique_oids:
        return {}
    answer = git.run("cat-file", "--batch", stdin=b"".join(b"%s\n" % oid.hex().encode() for oid in unique_oids))
    contents: dict[bytes, bytes] = {}
    at = 0
    for oid in unique_oids:
        end = answer.index(b"\n", at)
        head = answer[at:end].split(b" ")
        if len(head) < 3:
            raise Unavailable(f"{oid.hex()} is missing in {git.directory}; restore the history from a copy or a bundle")
        size = int(head[2])
        contents[oid] = answer[end + 1 : end + 1 + size]
        at = end + size + 2
    return contents


def head_reference(git_directory: Path) -> str:
    """The name HEAD points at (`refs/heads/main`), or `HEAD` itself when it is detached.

    A HEAD that names nothing counts as that of a new repository; see `find_damage`.
    """
    text = _read_text(git_directory / "HEAD") or ""
    if is_commit_id(text):
        return "HEAD"
    return text.removeprefix("ref: ") if _BRANCH.fullmatch(text) else MAIN


def read_reference(git_directory: Path, name: str) -> str | None:
    """The commit a reference names, in hex; None when it is not born yet, or damaged."""
    text = _read_text(git_directory / name)
    if text is None:
        text = _read_packed(git_directory).get(name, "")
    return text if is_commit_id(text) else None


def is_commit_id(text: str) -> bool:
    """Whether a text is the whole id of an object."""
    return _COMMIT_ID.fullmatch(text) is not None


def find_damage(git_directory: Path, *, was_born: bool) -> str:
    """What is wrong with the reference of the last commit, in words; nothing where it is as it should be.

    `was_born` says that there were commits already.
    """
    text = _read_text(git_directory / "HEAD")
    if text is None or not (is_commit_id(text) or _BRANCH.fullmatch(text)):
        return f"HEAD {_describe_ref(text)}"
    name = head_reference(git_directory)
    if (git_directory / name).is_dir():
        return f"{name} is a directory"
    text = _read_text(git_directory / name)
    if read_reference(git_directory, name) is None and (text is not None or was_born):
        return f"{name} {_describe_ref(text)}"
    return ""


def write_head(git_directory: Path, commit: str) -> None:
    """Let the branch of HEAD name a commit, or none, whatever stood there before; a directory is set aside."""
    name = head_reference(git_directory)
    for place in ("HEAD", name):
        _set_aside(git_directory, place)
    if name != "HEAD":
        write_atomic(git_directory / "HEAD", f"ref: {name}\n")
    if commit:
        write_atomic(git_directory / name, f"{commit}\n")
    else:
        (git_directory / name).unlink(missing_ok=True)


def _set_aside(git_directory: Path, name: str) -> None:
    """Move a directory out of the place of a reference, whole."""
    place = git_directory / name
    if place.is_dir():
        aside = git_directory / SET_ASIDE
        aside.mkdir(parents=True, exist_ok=True)
        free = (aside / f"{name.replace('/', '-')}-{number}" for number in count(1))
        place.rename(next(each for each in free if not each.exists()))


def read_last_logged(git_directory: Path) -> str:
    """The commit that git's own log of the branch names last, where somebody keeps one."""
    for name in (f"logs/{head_reference(git_directory)}", "logs/HEAD"):
        lines = (_read_text(git_directory / name) or "").splitlines()
        if lines and is_commit_id(lines[-1][41:81]):
            return lines[-1][41:81]
    return ""


def _describe_ref(text: str | None) -> str:
    return "is missing" if text is None else "is empty" if not text else "names no commit"


def _read_text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "replace").strip()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def read_head(git_directory: Path) -> str | None:
    """The commit that HEAD leads to, or None in a history without commits."""
    return read_reference(git_directory, head_reference(git_directory))


def wait_for_locks(git_directory: Path, *names: str) -> None:
    """Wait until no other git holds these files; a lock that a killed git left is removed.

    Raises:
        Conflict: another git holds one for too long.
    """
    until = time.monotonic() + _WAIT_SECONDS
    for name in names:
        lock = git_directory / f"{name}.lock"
        while lock.exists():
            if is_stale(lock):
                lock.unlink(missing_ok=True)
            elif time.monotonic() > until:
                raise Conflict(f"another git process holds {lock}; if none is running, delete that file")
            else:
                time.sleep(0.02)


def is_stale(lock: Path) -> bool:
    """Whether a lock file of git is too old to be anybody's; by the disk's clock, not by ours."""
    probe = lock.with_name(f"{lock.name}.probe")
    probe.write_bytes(b"")
    try:
        return probe.stat().st_mtime - lock.stat().st_mtime > _STALE_SECONDS
    except FileNotFoundError:
        return False
    finally:
        probe.unlink(missing_ok=True)


def _read_packed(git_directory: Path) -> dict[str, str]:
    try:
        lines = (git_directory / "packed-refs").read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    return {name: commit for commit, _, name in (line.partition(" ") for line in lines) if is_commit_id(commit)}
