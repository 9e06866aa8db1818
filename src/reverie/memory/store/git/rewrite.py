"""Rewrite a whole history without some of its files, and remove every trace of the old one.

By `git fast-export` and `git fast-import`: a commit keeps its dates and its author; what is to go is left out. The
branches move in one transaction, which is the moment that counts: before it the old history stands, after it the new
one does, and `purge` may be run again at any time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from reverie.memory.store.git.repository import Git
from reverie.values import value

_DRAFT_REFS = "refs/reverie-rewrite/"
_LEFT_BY_COMMANDS = ("ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "COMMIT_EDITMSG", "AUTO_MERGE")
_ESCAPES = {"n": b"\n", "t": b"\t", "r": b"\r", '"': b'"', "\\": b"\\", "a": b"\a", "b": b"\b", "f": b"\f", "v": b"\v"}


@value
class RewriteRules:
    """What a rewriting leaves out."""

    is_erased: Callable[[str], bool]
    """Whether the file at this path goes, from every commit."""
    is_rewritten: Callable[[str], bool]
    """Whether the contents at this path go through `content`."""
    content: Callable[[bytes], bytes]
    message: Callable[[str], str]
    """The new message of a commit that touched an erased file."""


@dataclass(slots=True)
class _Commit:
    header: list[bytes] = field(default_factory=list)
    original: str = ""
    message: bytes = b""
    links: list[bytes] = field(default_factory=list)
    files: list[bytes] = field(default_factory=list)


def write_rewritten(git: Git, rules: RewriteRules) -> dict[str, str]:
    """Write the new history beside the old one; return old commit → new commit."""
    remove_draft_references(git)
    exported = git.run("fast-export", "--no-data", "--show-original-ids", "--reencode=no", "--branches")
    stream, originals = _filter_stream(exported, _Filter(git, rules))
    marks = git.directory / "reverie" / "marks"
    git.run("fast-import", "--quiet", "--force", f"--export-marks={marks}", stdin=stream)
    new = dict(row.split(" ") for row in marks.read_text(encoding="ascii").splitlines())
    marks.unlink()
    return {original: new[mark] for mark, original in originals.items()}


def move_references(git: Git) -> None:
    """Put the new history in the old one's place, all branches at once; other references to the old one go."""
    listed = git.run("for-each-ref", "--format=%(refname) %(objectname)").decode().splitlines()
    references = dict(row.split(" ") for row in listed)
    rows = ["start"]
    for name, commit in references.items():
        if name.startswith(_DRAFT_REFS):
            rows.append(f"update refs/{name.removeprefix(_DRAFT_REFS)} {commit}")
            rows.append(f"delete {name}")
        elif not name.startswith("refs/heads/"):
            rows.append(f"delete {name}")
    git.run("update-ref", "--stdin", stdin="\n".join([*rows, "prepare", "commit", ""]).encode())


def remove_draft_references(git: Git) -> None:
    """Remove what an interrupted rewriting left."""
    listed = git.run("for-each-ref", "--format=delete %(refname)", _DRAFT_REFS)
    if listed:
        git.run("update-ref", "--stdin", stdin=listed)


def purge(git: Git) -> None:
    """Remove everything that no branch holds: reflogs, leftovers of commands, objects, temporary files."""
    git.run("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    for name in _LEFT_BY_COMMANDS:
        (git.directory / name).unlink(missing_ok=True)
    # A killed `fast-import` leaves a `.keep` file, and git would not touch the pack beside it.
    for pattern in ("objects/??/tmp_*", "objects/pack/tmp_*", "objects/tmp_*", "objects/pack/*.keep"):
        for leftover in git.directory.glob(pattern):
            with suppress(OSError):
                leftover.unlink()
    git.run("repack", "-a", "-d", "-q")
    git.run("prune", "--expire=now")


def object_names(git: Git) -> set[str]:
    """The ids of all objects there are, reachable or not."""
    return set(git.run("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").decode().split())


class _Filter:
    """Applies the rules to one commit of the stream."""

    def __init__(self, git: Git, rules: RewriteRules) -> None:
        self._git, self._rules = git, rules
        self._known: dict[bytes, bytes] = {}

    def apply(self, commit: _Commit) -> bytes:
        output: list[bytes] = []
        touched = False
        for row in commit.files:
            head, path = _split_row(row)
            if path is not None and self._rules.is_erased(path):
                touched = True
            elif path is not None and head.startswith(b"M 100644 ") and self._rules.is_rewritten(path):
                output.append(self._rewritten(row, head.split()[2]))
            else:
                output.append(row)
        message = commit.message
        if touched:
            message = self._rules.message(message.decode("utf-8", "replace")).encode()
        header = [_to_draft(row) for row in commit.header]
        return b"\n".join([*header, b"data %d" % len(message), message + b"".join([*commit.links, *output]), b""])

    def _rewritten(self, row: bytes, oid: bytes) -> bytes:
        """The line of a file, followed by its new content."""
        if oid not in self._known:
            self._known[oid] = self._rules.content(self._git.run("cat-file", "blob", oid.decode()))
        content = self._known[oid]
        return b"%sdata %d\n%s\n" % (row.replace(oid, b"inline", 1), len(content), content)


def _filter_stream(exported: bytes, rules: _Filter) -> tuple[bytes, dict[str, str]]:
    """The stream for the import, and mark → original id of each commit."""
    out: list[bytes] = []
    originals: dict[str, str] = {}
    at = 0
    while at < len(exported):
        end = exported.index(b"\n", at)
        row = exported[at:end]
        if row.startswith(b"commit "):
            commit, at = _read_commit(exported, at)
            mark = next(line for line in commit.header if line.startswith(b"mark "))[5:].decode()
            originals[mark] = commit.original
            out.append(rules.apply(commit))
            continue
        out.append(_to_draft(row) + b"\n")
        at = end + 1
    return b"".join(out), originals


def _to_draft(row: bytes) -> bytes:
    """A line of the stream, with the branch it names moved aside."""
    if row.startswith((b"commit ", b"reset ")):
        return row.replace(b" refs/", b" " + _DRAFT_REFS.encode(), 1)
    return row


def _read_commit(stream: bytes, at: int) -> tuple[_Commit, int]:
    commit = _Commit()
    while True:
        end = stream.index(b"\n", at)
        row = stream[at:end]
        at = end + 1
        if row.startswith(b"data "):
            size = int(row[5:])
            commit.message = stream[at : at + size]
            at += size
            break
        if row.startswith(b"original-oid "):
            commit.original = row[13:].decode()
        else:
            commit.header.append(row)
    for row, after in _rows(stream, at):
        at = after
        if row in (b"", b"\n"):
            break
        (commit.links if row.startswith((b"from ", b"merge ")) else commit.files).append(row + b"\n")
    return commit, at


def _rows(stream: bytes, at: int) -> Iterator[tuple[bytes, int]]:
    while at < len(stream):
        end = stream.index(b"\n", at)
        yield stream[at:end], end + 1
        at = end + 1


def _split_row(row: bytes) -> tuple[bytes, str | None]:
    """A line of a commit as its head and its path."""
    match = re.match(rb"(M \d+ [0-9a-f]+ |D )(.*)\n\Z", row, re.DOTALL)
    if match is None:
        return row, None
    return match[1], os.fsdecode(_unquote_path(match[2]))


def _unquote_path(path: bytes) -> bytes:
    if not path.startswith(b'"'):
        return path

    def one(match: re.Match[bytes]) -> bytes:
        word = match[1].decode()
        return bytes([int(word, 8)]) if word.isdigit() else _ESCAPES[word]

    return re.sub(rb"\\([0-7]{3}|.)", one, path[1:-1])


def list_remotes(git_directory: Path) -> tuple[str, ...]:
    """Where else this history was sent or fetched from, by the repository's own settings."""
    text = (git_directory / "config").read_text(encoding="utf-8", errors="replace")
    return tuple(re.findall(r"^\s*url\s*=\s*(\S.*?)\s*$", text, re.MULTILINE))
