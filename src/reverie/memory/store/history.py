"""Git history of a memory directory: reads the last commit and writes the next, one per change.

Beside the repository it keeps the stat cache of the last commit (`StatCache`). A commit is written as pending
first, from which a killed writer's work is finished. Reading the past is `past.py`; the files on disk are
`worktree.py`; whoever calls `load` or writes holds the writer's lock (`writer.py`).

With thousands of files in one folder every commit writes a large tree; packed, such trees differ by a few bytes. So
many small packs are made into one in the background, one process at a time. An erasing ends by that too.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from reverie.errors import Unavailable
from reverie.files import write_folder
from reverie.files.git import find_git
from reverie.files.places.paths import MemoryFolder
from reverie.memory.store.change import Change, render_message
from reverie.memory.store.git.commits import (
    find_damage,
    head_reference,
    is_commit_id,
    read_head,
    read_last_logged,
    read_pending,
    read_tree,
    remove_pending,
    write_branch,
    write_git_index,
    write_head,
    write_pending_commit,
)
from reverie.memory.store.git.repository import (
    PRIVATE,
    Git,
    follow_work_tree,
    git_directory_of,
    is_ours,
    make_repository,
)
from reverie.memory.store.worktree import UNSEEN, Entries, Seen, StatCache, TrackedFile
from reverie.values import value

_EMAIL = "reverie@localhost"
PACKS_AT_MOST = 50
"""Every commit is a small pack of its own; more of them slow every reading, so they are made into one."""
UNFINISHED = "erasing"
"""The note that a rewritten history has taken its place and the old one is still to be removed."""
_REPACK = ("repack", "-d", "-q", "--geometric=2", "--window=4", "--depth=50", "--threads=1")
_DETACHED = '(nice "$@"; rm -rf "$GIT_DIR") </dev/null >/dev/null 2>&1 &'
"""The shell ends at once and git goes on alone; the lock passes to it as an open file."""


@value
class Pending:
    """A commit under way: its objects are in place, its files may be."""

    commit: str
    base: str | None
    """The last commit before it."""


class History:
    """The commits of one memory directory, and what the last of them holds."""

    head: str | None
    """The last commit, as of the last `load` or `move`."""
    entries: Entries
    """What it holds, and how each file looked when it was last known to be the same."""
    touched: set[str]
    """Paths whose entry changed since `entries` was loaded; whoever follows the entries takes them out."""
    is_moved: bool
    """Whether the stat cache belongs to another commit than the last: another program made one."""
    recovered: str
    """What was wrong with the reference of the last commit, and how it was found again."""
    entries_ns: int
    """When the stat cache was written; a file modified at about that moment may hide a later edit."""

    def __init__(self, folder: MemoryFolder, *, program: str | None) -> None:
        """No `program` means no history."""
        self.folder = folder
        self.directory = folder.directory
        self._program = program
        self._git_directory = git_directory_of(folder) if program else folder.state
        self.head = None
        self.entries = {}
        self.touched = set()
        self.entries_ns = 0
        self.is_moved = False
        self.recovered = ""
        self._loaded = False
        self._cache = StatCache(self.private / "state")
        self._unwritten: set[str] = set()
        """Paths whose entry is not yet in the stat cache."""

    @classmethod
    def open(cls, folder: MemoryFolder) -> History:
        """The history of a directory, by the git program of this machine if there is one."""
        return cls(folder, program=find_git())

    @property
    def is_on(self) -> bool:
        return self._program is not None

    @property
    def exists(self) -> bool:
        """Whether a first commit can be built on: the repository has been made."""
        return self.is_on and is_ours(self._git_directory)

    @property
    def git(self) -> Git:
        """The repository.

        Raises:
            Unavailable: git is not installed, so there is no history.
        """
        if self._program is None:
            raise Unavailable(f"no history for {self.directory}: git is not installed; install git and save again")
        return Git(self._program, self._git_directory, self.directory)

    @property
    def private(self) -> Path:
        """The folder for what is ours alone, readable by the user only."""
        return self._git_directory / PRIVATE if self.is_on else self._git_directory

    def make(self) -> None:
        """Make the repository if there is none."""
        if self._program is not None:
            make_repository(self._program, self._git_directory, self.directory)
        else:
            write_folder(self._git_directory)

    def load(self) -> None:
        """Bring `head` and `entries` up to what is on disk."""
        if not self._loaded and self.exists and self._git_directory.parent != self.directory:
            follow_work_tree(self._git_directory, self.directory)
        head = self._read_head() if self.exists else None
        if self._loaded and head == self.head and (self.is_on or self.entries):
            return
        self.touched = set()
        self._unwritten = set()
        entries = self._cache.read()
        self.entries = entries or {}
        self.entries_ns = self._cache.modified_ns()
        self.is_moved = self.exists and (entries is None or self._read_noted_head() != (head or ""))
        if self.is_moved:
            self.entries = self._entries_of(head)
            self._unwritten.update(self.entries, entries or ())
        self.head = head
        self._loaded = True

    def find_damage(self) -> str:
        """What is wrong with the reference of the last commit; nothing where it is as it should be."""
        if not self.exists:
            return ""
        noted, head = self._read_noted_head(), read_head(self._git_directory)
        damage = find_damage(self._git_directory, was_born=noted != "")
        # Our own note was written when the commit was there.
        if damage or not self.is_on or head in (None, noted) or self.has(str(head)):
            return damage
        return f"{head_reference(self._git_directory)} names {str(head)[:8]}, which is no commit here"

    def _read_head(self) -> str | None:
        """The last commit, found again where its reference was damaged."""
        damage = self.find_damage()
        if not damage:
            return read_head(self._git_directory)
        head, place = self._find_lost_head()
        write_head(self._git_directory, head)
        outcome = f"the last commit {head[:8]} was found again by {place}" if head else "no commit was found"
        self.recovered = f"{damage}; {outcome}"
        return head or None

    def _find_lost_head(self) -> tuple[str, str]:
        """The last commit as far as anything still tells, and what told it."""
        for place, commit in (
            ("our own note", self._read_noted_head()),
            ("git's log of the branch", read_last_logged(self._git_directory)),
        ):
            if commit and self.has(commit):
                return commit, place
        listed = self.git.run("cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)").decode()
        commits = [row[7:] for row in listed.splitlines() if row.startswith("commit ")]
        if not commits:
            return "", ""
        request = "".join(f"{commit}\n" for commit in commits).encode()
        rows = self.git.run("log", "--no-walk=sorted", "--format=%H %P", "--stdin", stdin=request).decode().splitlines()
        parents = {parent for row in rows for parent in row.split()[1:]}
        return next(row[:40] for row in rows if row[:40] not in parents), "looking at all commits"

    def _read_noted_head(self) -> str:
        commit = self._cache.read_noted_commit()
        return commit if is_commit_id(commit) else ""

    def write_commit(self, files: Mapping[str, bytes | None], change: Change, when: datetime) -> str | None:
        """Write a commit that changes these files (None removes) and is pending from then on."""
        if not self.is_on:
            return None
        stamp = f"{int(when.timestamp())} {when.strftime('%z') or '+0000'}"
        return write_pending_commit(
            self.git,
            files,
            author=f"{change.author} <{_EMAIL}> {stamp}",
            committer=f"Reverie <{_EMAIL}> {stamp}",
            message=render_message(change),
            parents=[parent for parent in (self.head, change.merges) if parent],
        )

    def move(self, commit: str | None, seen: Mapping[str, tuple[Seen, bytes] | None], *, is_done: bool) -> None:
        """Make the pending commit the last one; `seen` gives what is now on disk for each path that it changed.

        `is_done` says that nothing else is to be finished, should this writer be killed.
        """
        if commit is not None:
            write_branch(self.git, commit, old=self.head, is_done=is_done)
            self.head = commit
        self.note_seen(seen)

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders in which git puts a commit and the branch, to be flushed with the files."""
        if not self.is_on:
            return ()
        reference = self._git_directory / head_reference(self._git_directory)
        return self._git_directory / "objects" / "pack", reference.parent

    def note_seen(self, seen: Mapping[str, tuple[Seen, bytes] | None]) -> None:
        """Remember how files look on disk, for the next comparison."""
        self.touched.update(seen)
        self._unwritten.update(seen)
        for path, looks in seen.items():
            if looks is None:
                self.entries.pop(path, None)
            else:
                self.entries[path] = TrackedFile(looks[1], looks[0])

    def read_entries(self) -> tuple[Entries, int]:
        """The stat cache as it is now, and when it was written; needs no lock."""
        cache = StatCache(self.private / "state")
        written_ns = cache.modified_ns()
        return cache.read() or {}, written_ns

    def write_entries(self) -> None:
        """Write git's index and the stat cache; losing either costs one full reading."""
        if self.head is None or write_git_index(self.git, self.head):
            self._cache.write(self.head, self.entries, self._unwritten)
            self._unwritten = set()
            self.entries_ns = self._cache.modified_ns()
            self.is_moved = False

    def adopt(self, commit: str) -> None:
        """Make a commit the last one without knowing how its files look; they are read at the next comparison."""
        write_branch(self.git, commit, old=self.head, is_done=False)
        self.reload()

    def read_pending(self) -> Pending | None:
        """The commit that a killed writer left under way."""
        commit = read_pending(self.git) if self.exists else None
        if commit is None:
            return None
        parents = self.git.run("log", "-1", "--format=%P", commit, accept=(0, 128)).decode().split()
        return Pending(commit, parents[0] if parents and self.head is not None else None)

    def has(self, commit: str) -> bool:
        """Whether a commit is in the repository."""
        return self.git.run("cat-file", "--batch-check", stdin=f"{commit}\n".encode()).split()[1:2] == [b"commit"]

    def remove_pending(self) -> None:
        """End a change: nothing is under way any more."""
        if self.exists:
            remove_pending(self.git)

    def reload(self) -> None:
        """Read `head` and `entries` anew, since history itself was rewritten."""
        self._loaded = False
        self.load()

    def _entries_of(self, head: str | None) -> Entries:
        """The files of a commit, with what the stat cache knows of the same contents."""
        cached = self.entries
        return {
            path: cached[path] if path in cached and cached[path].oid == oid else TrackedFile(oid, UNSEEN)
            for path, oid in read_tree(self.git, head).items()
        }


def pack_when_due(history: History) -> None:
    """Start a packing in the background if enough has gathered and none is running."""
    if not history.is_on or _count_packs(history) <= PACKS_AT_MOST:
        return
    handle = _take(history, wait=False)
    if handle is None:
        return
    import subprocess
    import tempfile

    try:
        git = history.git
        subprocess.run(
            ["/bin/sh", "-c", _DETACHED, "sh", *git.command(*_REPACK)],
            env=git.detached_environment(Path(tempfile.mkdtemp(prefix="reverie-git-"))),
            pass_fds=(handle,),
            check=False,
        )
    finally:
        os.close(handle)


def pack(history: History) -> None:
    """Pack everything now, and wait for it."""
    with packing_stopped(history):
        history.git.run(*_REPACK)


@contextmanager
def packing_stopped(history: History) -> Iterator[None]:
    """Wait for a packing under way and let no other begin."""
    handle = _take(history, wait=True)
    if handle is None:
        raise Unavailable(f"cannot lock {history.git.directory} for repacking")
    try:
        yield
    finally:
        os.close(handle)


def finish_erasing(history: History) -> None:
    """Remove what an erasing, also an interrupted one, left of the old history and of the derived index.

    Only under the writer's lock and with packing stopped.
    """
    from reverie.memory.store.git.rewrite import purge

    purge(history.git)
    shutil.rmtree(history.folder.search_index, ignore_errors=True)
    (history.private / UNFINISHED).unlink(missing_ok=True)


def _count_packs(history: History) -> int:
    return sum(1 for _ in (history.git.directory / "objects" / "pack").glob("*.pack"))


def _take(history: History, *, wait: bool) -> int | None:
    handle = os.open(history.private / "packing", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        os.close(handle)
        return None
    return handle
