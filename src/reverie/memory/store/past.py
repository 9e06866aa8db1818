"""Reads the history of a memory: the log, the diff of a change, and the directory at a given time.

Nothing here writes. Commits made by hand with git are read like ours; their author is `unknown`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import PurePosixPath

from reverie.errors import UserMistake
from reverie.memory.store.change import Commit, parse_message
from reverie.memory.store.git.commits import read_blobs, read_head, read_tree
from reverie.memory.store.history import History
from reverie.memory.store.worktree import ARCHIVE, ARCHIVED_SUFFIX, INDEX_FILE

_COMMIT_NAME = re.compile(r"[0-9a-f]{4,40}\Z")
_RECORD = "--format=%H%n%P%n%at%n%B"


def log(history: History, path: str | None = None, *, limit: int | None = None) -> tuple[Commit, ...]:
    """The commits, newest first; of one file through all its names when a path is given."""
    if _is_unborn(history):
        return ()
    bound = () if limit is None else (f"--max-count={limit}",)
    if path is None:
        return tuple(_read_commits(history, history.git.run("log", "-z", _RECORD, *bound)))
    names = history.git.run("log", "--follow", "--find-renames=40%", "--format=%H", *bound, "--", path).split()
    return tuple(find_commits(history, [name.decode() for name in names]))


def find_commits(history: History, names: Iterable[str]) -> Iterator[Commit]:
    """These commits, in the order given."""
    request = "".join(f"{name}\n" for name in names).encode()
    if not request:
        return iter(())
    return _read_commits(history, history.git.run("log", "-z", "--no-walk=unsorted", "--stdin", _RECORD, stdin=request))


def find_commit(history: History, name: str) -> Commit:
    """The commit with this id or beginning of an id.

    Raises:
        UserMistake: there is none, or more than one.
    """
    if not isinstance(name, str) or not _COMMIT_NAME.match(name) or _is_unborn(history):
        raise UserMistake(f"{name!r} is not a commit of {history.directory}; run `reverie log` for a list")
    commit_id = history.git.run("rev-parse", "--quiet", "--verify", f"{name}^{{commit}}", accept=(0, 1, 128)).split()
    if len(commit_id) != 1:
        mapped = find_rewritten(history, name)
        if mapped is None:
            raise UserMistake(f"{name!r} is ambiguous in {history.directory}; run `reverie log` for a list")
        return find_commit(history, mapped)
    return next(find_commits(history, [commit_id[0].decode()]))


def find_rewritten(history: History, name: str) -> str | None:
    """The commit that took the place of this one when something was erased."""
    try:
        rows = (history.private / "rewritten").read_text(encoding="ascii").splitlines()
    except FileNotFoundError:
        return None
    replaced = [new for old, _, new in (row.partition(" ") for row in rows) if old.startswith(name)]
    return replaced[-1] if replaced and replaced[-1] != name else None


def diff(history: History, commit: str | None = None) -> str:
    """What a change did, as a unified diff; of the last one when none is named. The index is left out."""
    if _is_unborn(history):
        return ""
    name = find_commit(history, commit).commit if commit is not None else "HEAD"
    shown = history.git.run(
        "show",
        "--format=",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--text",
        "--find-renames",
        "--diff-merges=first-parent",
        name,
        "--",
        ".",
        f":(exclude,glob)**/{INDEX_FILE}",
    )
    return shown.decode("utf-8", "replace")


def commit_at(history: History, when: datetime) -> str | None:
    """The last commit that was made by this moment, or None when memory was not there yet."""
    if _is_unborn(history):
        return None
    moment = when if when.tzinfo else when.replace(tzinfo=UTC)
    commits = history.git.run("rev-list", "-1", f"--before={int(moment.timestamp())}", "HEAD").split()
    return commits[0].decode() if commits else None


def read_at(history: History, commit: str | None, paths: Iterable[str]) -> dict[str, bytes | None]:
    """The contents of files in a commit; None for those it does not hold."""
    tree = read_tree(history.git, commit)
    unique_paths = list(dict.fromkeys(paths))
    blobs = read_blobs(history.git, (tree[path] for path in unique_paths if path in tree))
    return {path: blobs[tree[path]] if path in tree else None for path in unique_paths}


def read_all_versions(history: History) -> Iterator[tuple[str, bytes]]:
    """Every object that a commit of any branch leads to, with the path of the file; commits have none."""
    if _is_unborn(history):
        return
    listed = history.git.run("rev-list", "--objects", "HEAD", "--branches").decode("utf-8", "surrogateescape")
    paths = {bytes.fromhex(oid): path for oid, _, path in (row.partition(" ") for row in listed.splitlines())}
    for oid, content in read_blobs(history.git, paths).items():
        yield paths[oid], content


def read_all(history: History, commit: str) -> dict[str, bytes]:
    """Everything a commit holds."""
    tree = read_tree(history.git, commit)
    blobs = read_blobs(history.git, tree.values())
    return {path: blobs[oid] for path, oid in tree.items()}


def names_of(history: History, path: str) -> tuple[str, ...]:
    """Every path one file ever had, by renames that changed nothing in it."""
    listed = history.git.run("log", "--follow", "--find-renames=100%", "--format=", "--name-only", "-z", "--", path)
    names = (os.fsdecode(raw).lstrip("\n") for raw in listed.split(b"\0"))
    return tuple(dict.fromkeys([path, *(name for name in names if name)]))


def read_gone(history: History) -> dict[str, bytes]:
    """Every path that was ever removed, the latest first, with its last content."""
    if _is_unborn(history):
        return {}
    listed = history.git.run("log", "-z", "--format=", "--raw", "--no-abbrev", "--diff-filter=D", "--no-renames")
    words = [word.lstrip(b"\n") for word in listed.split(b"\0") if word.strip(b"\n")]
    gone: dict[str, bytes] = {}
    for head, path in zip(words[::2], words[1::2], strict=True):
        gone.setdefault(os.fsdecode(path), bytes.fromhex(head.split()[2].decode()))
    blobs = read_blobs(history.git, gone.values())
    return {path: blobs[oid] for path, oid in gone.items()}


def original_path(path: str) -> str:
    """The path a file had before it went to the archive."""
    if path.startswith(f"{ARCHIVE}/") and path.endswith(ARCHIVED_SUFFIX):
        return path.removeprefix(f"{ARCHIVE}/").removesuffix(ARCHIVED_SUFFIX)
    return path


def _is_unborn(history: History) -> bool:
    if not history.is_on:
        history.git.run("version")
    return not history.exists or read_head(history.git.directory) is None


def _read_commits(history: History, records: bytes) -> Iterator[Commit]:
    rows = [record.decode("utf-8", "replace").split("\n", 3) for record in records.split(b"\0") if record]
    paths = _list_changed_paths(history, [row[0] for row in rows])
    for name, parents, seconds, message in rows:
        when = datetime.fromtimestamp(int(seconds), tz=UTC)
        yield Commit(name, when, parse_message(message), paths.get(name, ()), tuple(parents.split()))


def _list_changed_paths(history: History, commits: list[str]) -> dict[str, tuple[str, ...]]:
    ids = "".join(f"{name}\n" for name in commits).encode()
    listed = history.git.run(
        "diff-tree", "--stdin", "--root", "-r", "-z", "--name-only", "--no-renames", "-m", "--first-parent", stdin=ids
    )
    names = set(commits)
    paths: dict[str, list[str]] = {}
    current: list[str] = []
    for raw in listed.split(b"\0"):
        word = os.fsdecode(raw)
        if word in names:
            current = paths.setdefault(word, [])
        elif word and PurePosixPath(word).name != INDEX_FILE:
            current.append(word)
    return {name: tuple(changed) for name, changed in paths.items()}
