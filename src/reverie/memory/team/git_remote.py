"""A branch of a git repository as the remote of a team: any host, no server.

The branch `reverie-memory` has one file per entry and, below `.tombstones/`, one for each that was deleted. Its history
is a line: a push adds one commit to what was fetched, and the remote refuses it when somebody else was faster. The
author of a commit is the author of the entries it changed. Nothing is ever checked out: files are read as objects, so a
path or a link in the branch leads nowhere.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from subprocess import CompletedProcess

from reverie.errors import Conflict, Damaged, Unavailable, UserMistake
from reverie.files import write_folder
from reverie.files.git import find_git
from reverie.files.secret_scan import scan
from reverie.memory.store.git.commits import (
    is_commit_id,
    read_blobs,
    read_pending,
    remove_pending,
    write_pending_commit,
)
from reverie.memory.store.git.repository import PRIVATE, Git
from reverie.memory.store.worktree import INDEX_FILE
from reverie.memory.team.entry import (
    RefusedEntry,
    SentChanges,
    TeamEntry,
    TeamSnapshot,
    clean_name,
    live_entry,
    tombstone,
)
from reverie.memory.team.rules import find_path_fault
from reverie.memory.topics.topic import parse_topic
from reverie.settings.tree import TeamSettings
from reverie.values import value

BRANCH = "reverie-memory"
_FETCHED = "refs/reverie/team"
TOMBSTONES = ".tombstones/"
_TOMBSTONE_BYTES = 4_096
_LISTED_AT_MOST = 20_000
"""A branch with more files is not one of ours."""
_RACES = re.compile(rb"\[rejected\]|cannot lock ref|failed to update ref|incorrect old value|reference already exists")


def parse_address(address: str, directory: Path) -> str:
    """The address of a git remote as it is kept: a path becomes absolute.

    Raises:
        UserMistake: it is no git remote, or holds a password.
    """
    text = address.strip()
    is_marked = text.startswith("git+")
    text = text.removeprefix("git+")
    if not text or text.startswith("-") or any(ord(char) < 32 for char in text):
        raise UserMistake(f"{address!r} is not the address of a git repository")
    if re.match(r"[a-z0-9+.-]+://[^/@]*:[^/@]*@", text) or scan(text):
        raise UserMistake(
            "the address contains a password or token, which would be stored; give it without, "
            "and let git ask a credential helper or use an SSH key"
        )
    url = re.match(r"([a-zA-Z][a-zA-Z0-9+.-]*)://", text)
    if url is not None:
        if url[1] in {"ssh", "git", "file"} or is_marked or text.rstrip("/").endswith(".git"):
            return text
        raise UserMistake(f"{text} is not the address of a git repository; if it is one, write git+{text}")
    if "::" in text:
        raise UserMistake(f"{address!r} names a remote helper; name a path, or an ssh, https or git address")
    if re.match(r"[^/\\]+:", text) and not (directory / text).exists():
        return text  # host:path, as ssh has it
    place = (directory / Path(text).expanduser()).resolve()
    if not place.exists():
        raise UserMistake(f"{place} does not exist; create it with `git init --bare {place}`, or name another remote")
    return str(place)


@value
class _TreeRow:
    """One file of the branch."""

    mode: str
    oid: bytes
    size_bytes: int


@dataclass(slots=True)
class GitRemote:
    """The branch of one repository, with a copy of its objects on this machine."""

    address: str
    directory: Path
    """Of the objects; made when needed, may be deleted."""
    author: str
    email: str
    environment: Mapping[str, str]
    settings: TeamSettings
    now: Callable[[], datetime]
    branch: str = BRANCH

    @property
    def _ref(self) -> str:
        return f"refs/heads/{self.branch}"

    def read_version(self) -> str:
        """The last commit of the branch; empty where there is none."""
        git = self._open()
        listed = self._reach(git, "ls-remote", "--quiet", self.address, self._ref).decode("utf-8", "replace")
        heads = [row.split("\t")[0] for row in listed.splitlines() if row.endswith(f"\t{self._ref}")]
        return heads[0] if heads and is_commit_id(heads[0]) else ""

    def fetch(self, known: Mapping[str, TeamEntry], version: str) -> TeamSnapshot | None:
        """What the branch holds; None when it is still at `version`."""
        git = self._open()
        head = self.read_version()
        if head == version:
            return None
        if not head:
            return TeamSnapshot("", {})
        # Without a base on this side (`+`): a branch that somebody rewrote is taken as it is.
        self._reach(git, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--refmap=", self.address,
                    f"+{self._ref}:{_FETCHED}")  # fmt: skip
        head = git.run("rev-parse", "--verify", f"{_FETCHED}^{{commit}}").decode().strip()
        return self._read_snapshot(git, head, known, version)

    def send(self, snapshot: TeamSnapshot, changes: Mapping[str, TeamEntry]) -> SentChanges:
        """Add one commit to the branch."""
        git = self._open()
        files: dict[str, bytes | None] = {}
        for path, entry in changes.items():
            files[path] = None if entry.text is None else entry.text.encode()
            row = {"sha256": entry.sha256, "author": entry.author, "when": self.now().isoformat(timespec="seconds")}
            files[f"{TOMBSTONES}{path}"] = f"{json.dumps(row)}\n".encode() if entry.text is None else None
        stamp = f"{int(self.now().timestamp())} {self.now().strftime('%z') or '+0000'}"
        who = f"{self.author} <{self.email}> {stamp}"
        commit = write_pending_commit(
            git,
            files,
            author=who,
            committer=who,
            message=_describe(changes),
            parents=[snapshot.version] if snapshot.version else [],
        )
        try:
            self._push(git, commit)
        finally:
            remove_pending(git)
        git.run("update-ref", _FETCHED, commit)
        return SentChanges(commit)

    def erase(self, paths: Sequence[str]) -> tuple[str, ...]:  # noqa: ARG002
        """Forget our copy of the objects; the branch keeps its history."""
        shutil.rmtree(self.directory, ignore_errors=True)
        return ("earlier commits of its branch",)

    def _push(self, git: Git, commit: str) -> None:
        arguments = ("push", "--porcelain", "--no-verify", self.address, f"{commit}:{self._ref}")
        done = git.run_transport(*arguments, inherited=self.environment, seconds=self.settings.timeout_seconds)
        if done.returncode:
            if _RACES.search(done.stdout + done.stderr):
                raise Conflict(f"others keep changing {self.address}; run `reverie team push` again")
            raise self._failure("push to", done)

    def _open(self) -> Git:
        program = find_git()
        if program is None:
            raise Unavailable("git is not installed; install it to share memories over a git remote")
        git = Git(program, self.directory, self.directory)
        if not (self.directory / PRIVATE).is_dir():
            write_folder(self.directory)
            replace(git, trusts_settings=True).run("init", "--quiet", "--template=")
            write_folder(self.directory / PRIVATE)
        read_pending(git)  # one that a killed push left is overwritten by the next
        return git

    def _reach(self, git: Git, *arguments: str) -> bytes:
        done = git.run_transport(*arguments, inherited=self.environment, seconds=self.settings.timeout_seconds)
        if done.returncode:
            raise self._failure("reach", done)
        return done.stdout

    def _failure(self, verb: str, done: CompletedProcess[bytes]) -> Unavailable:
        lines = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
        telling = [line for line in lines if re.match(r"(?:fatal|error|remote|ssh|!)", line.strip())] or lines
        reason = telling[0].strip()[:200] if telling else f"git exited with {done.returncode}"
        return Unavailable(
            f"cannot {verb} {self.address}: {reason}; check address and access with `git ls-remote {self.address}`"
        )

    def _read_snapshot(self, git: Git, head: str, known: Mapping[str, TeamEntry], version: str) -> TeamSnapshot:
        rows, refused = _list_tree(git, head)
        readable: dict[str, _TreeRow] = {}
        for path, row in rows.items():
            fault = self._find_fault(path, row)
            if fault:
                refused.append(RefusedEntry(path if path.isprintable() else ascii(path), fault))
            else:
                readable[path] = row
        topics = sorted(path for path in readable if not path.startswith(TOMBSTONES))
        # Those that are known stay, whatever somebody adds.
        topics.sort(key=lambda path: path not in known)
        for path in topics[self.settings.max_entries :]:
            refused.append(RefusedEntry(path, f"more than {self.settings.max_entries:,} entries"))
            del readable[path]
        blobs = read_blobs(git, (row.oid for row in readable.values()))
        texts: dict[str, str] = {}
        for path, row in readable.items():
            try:
                texts[path] = blobs[row.oid].decode()
            except UnicodeDecodeError:
                refused.append(RefusedEntry(path, "not UTF-8 text"))
        entries = self._build_entries(git, head, texts, known, version, {each.path for each in refused} | set(rows))
        return TeamSnapshot(head, entries, tuple(refused))

    def _find_fault(self, path: str, row: _TreeRow) -> str:
        name = path.removeprefix(TOMBSTONES)
        if not row.mode.startswith("100"):
            return "a link or a repository inside the branch"
        limit = self.settings.max_file_bytes if name == path else _TOMBSTONE_BYTES
        return find_path_fault(name) or ("" if row.size_bytes <= limit else f"a file of more than {limit:,} bytes")

    def _build_entries(
        self,
        git: Git,
        head: str,
        texts: Mapping[str, str],
        known: Mapping[str, TeamEntry],
        version: str,
        present: Iterable[str],
    ) -> dict[str, TeamEntry]:
        entries: dict[str, TeamEntry] = {}
        for path, text in texts.items():
            if not path.startswith(TOMBSTONES):
                entries[path] = live_entry(text, "", _read_trust(path, text))
        for path, text in texts.items():
            name = path.removeprefix(TOMBSTONES)
            if name != path and name not in entries and name not in present:
                entries[name] = _parse_tombstone(text)
        gone = [path for path, entry in known.items() if not entry.is_deleted]
        for path in gone:
            if path not in entries and path not in present:
                entries[path] = tombstone(known[path].sha256)
        changed = {
            path
            for path, entry in entries.items()
            if path not in known or known[path].sha256 != entry.sha256 or known[path].is_deleted != entry.is_deleted
        }
        authors = _read_authors(git, head, version, changed)
        return {
            path: replace(entry, author=authors.get(path) or entry.author) if path in changed else known[path]
            for path, entry in entries.items()
        }


def _list_tree(git: Git, head: str) -> tuple[dict[str, _TreeRow], list[RefusedEntry]]:
    """The files of a commit without the index, which everybody generates."""
    listed = git.run("ls-tree", "-r", "-l", "-z", "--full-tree", head).split(b"\0")
    rows: dict[str, _TreeRow] = {}
    for line in listed[:_LISTED_AT_MOST]:
        if not line:
            continue
        head_part, _, name = line.partition(b"\t")
        mode, _, oid, size = head_part.decode("ascii").split()
        path = os.fsdecode(name)
        if path.rpartition("/")[2] != INDEX_FILE:
            rows[path] = _TreeRow(mode, bytes.fromhex(oid), int(size) if size.isdigit() else 0)
    too_many = len(listed) - 1 - _LISTED_AT_MOST
    more = [RefusedEntry("…", f"{too_many:,} more files than a team's branch may have")] if too_many > 0 else []
    return rows, more


def _read_authors(git: Git, head: str, version: str, paths: set[str]) -> dict[str, str]:
    """Who last changed each path, by the commits since a version."""
    if not paths:
        return {}
    since = [f"^{version}"] if version and _has_commit(git, version) else []
    told = git.run(
        "log", "-z", "--format=%x01%an", "--name-only", "--no-renames", "--diff-merges=first-parent", head, *since, "--"
    )  # fmt: skip
    authors: dict[str, str] = {}
    for commit in told.split(b"\x01")[1:]:
        name, _, listed = commit.partition(b"\0")
        for row in re.split(rb"[\0\n]", listed):
            path = os.fsdecode(row).removeprefix(TOMBSTONES)
            if path in paths:
                authors.setdefault(path, clean_name(name.decode("utf-8", "replace")))
    return authors


def _has_commit(git: Git, commit: str) -> bool:
    return git.run("cat-file", "--batch-check", stdin=f"{commit}\n".encode()).split()[1:2] == [b"commit"]


def _parse_tombstone(text: str) -> TeamEntry:
    try:
        row = json.loads(text)
        sha256, author = str(row["sha256"]), str(row["author"])
    except (ValueError, KeyError, TypeError, RecursionError):
        sha256, author = "", ""
    return tombstone(sha256 if re.fullmatch(r"[0-9a-f]{64}", sha256) else "", author)


def _read_trust(path: str, text: str) -> str:
    try:
        return str(parse_topic(path, text).trust or "")
    except Damaged:
        return ""


def _describe(changes: Mapping[str, TeamEntry]) -> str:
    """The message of a commit: how many, and which where they are few."""
    saved = [path for path, entry in changes.items() if not entry.is_deleted]
    deleted = [path for path, entry in changes.items() if entry.is_deleted]
    parts = [f"{verb} {', '.join(paths[:3])}{'…' if len(paths) > 3 else ''}" for verb, paths in
             (("save", saved), ("delete", deleted)) if paths]  # fmt: skip
    return "; ".join(parts) + "\n"
