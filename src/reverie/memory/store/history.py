"""Git history of a memory directory: reads the last commit and writes the next, one per change.

It keeps, beside git's own files, a note which commit the index file belongs to, and a record of a commit under way,
from which a killed writer's work is finished. Reading the past is `past.py`; the files on disk are `worktree.py`;
whoever calls `load` or writes holds the writer's lock (`writer.py`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from reverie.errors import Unavailable
from reverie.files import write_atomic, write_folder
from reverie.files.git import find_git
from reverie.files.places.paths import MemoryFolder
from reverie.memory.store.change import Change, render_message
from reverie.memory.store.git.entries import (
    Entries,
    Seen,
    entry_oid,
    pack_entry,
    put_entry,
    read_entries,
    sorted_entries,
    write_entries,
)
from reverie.memory.store.git.objects import Objects, UnpublishedObjects, object_id
from reverie.memory.store.git.program import Git
from reverie.memory.store.git.reading import read_tree
from reverie.memory.store.git.refs import (
    Move,
    find_damage,
    head_reference,
    hold_reference,
    is_commit_id,
    read_head,
    read_last_logged,
    write_head,
    write_reference,
)
from reverie.memory.store.git.repository import PRIVATE, follow_work_tree, git_directory_of, is_ours, make_repository
from reverie.memory.store.git.sorted_rows import SortedRows
from reverie.memory.store.git.trees import GitTree
from reverie.values import value

UNSEEN: Seen = (0, 0, 0, 0, 0)
"""Stands for a file that must be read to know what is in it."""
_EMAIL = "reverie@localhost"
_PENDING = "pending"
_NOTE_BYTES = 96
"""Every note has this length, so that a shorter one leaves nothing of a longer one."""
_MANY = 1_000
"""From so many changed paths on, rows are put in order anew."""


@value
class Pending:
    """A commit under way: if its objects are in place its files may be, else nothing is."""

    commit: str
    base: str | None
    paths: tuple[str, ...] = ()
    """The files it writes."""


@dataclass(slots=True)
class PendingCommit:
    """A commit on its way to the disk."""

    commit: str
    tree: GitTree
    objects: Objects
    drafts: UnpublishedObjects | None = None
    move: Move | None = None


class History:
    """The commits of one memory directory, and what the last of them holds."""

    head: str | None
    """The last commit, as of the last `load` or `move`."""
    entries: Entries
    """What it holds, and how each file looked when it was last known to be the same."""
    touched: set[str]
    """Paths whose entry changed since `entries` was loaded; whoever follows the entries takes them out."""
    is_index_stale: bool
    """Whether git's index file belongs to another commit than the last, so that `git status` would mislead."""
    recovered: str
    """What was wrong with the reference of the last commit, and how it was found again."""
    entries_ns: int
    """When the index file was written; a file modified at about that moment may hide a later edit."""

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
        self.is_index_stale = False
        self.recovered = ""
        self._checksum = b""
        self._loaded = False
        self._tree: GitTree | None = None
        self._rows: SortedRows | None = None

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
            raise Unavailable(f"no history of {self.directory}: git is not installed; install it and save again")
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
        self._tree = self._rows = None
        self.entries, self._checksum = read_entries(self._index_file)
        self.entries_ns = _modified_ns(self._index_file)
        self.is_index_stale = self.exists and self._read_note("state") != f"{head} {self._checksum.hex()}"
        if self.is_index_stale:
            self.entries = self._entries_of(head)
        self.head = head
        self._loaded = True

    def find_damage(self) -> str:
        """What is wrong with the reference of the last commit; nothing where it is as it should be."""
        if not self.exists:
            return ""
        noted, head = self._noted_head(), read_head(self._git_directory)
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
        found = f"the last commit {head[:8]} was found again by {place}" if head else "no commit was found"
        self.recovered = f"{damage}; {found}"
        return head or None

    def _find_lost_head(self) -> tuple[str, str]:
        """The last commit as far as anything still tells, and what told it."""
        for place, commit in (
            ("our own note", self._noted_head()),
            ("git's log of the branch", read_last_logged(self._git_directory)),
        ):
            if commit and self.has(commit):
                return commit, place
        listed = self.git.run("cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)").decode()
        commits = [row[7:] for row in listed.splitlines() if row.startswith("commit ")]
        if not commits:
            return "", ""
        asked = "".join(f"{commit}\n" for commit in commits).encode()
        rows = self.git.run("log", "--no-walk=sorted", "--format=%H %P", "--stdin", stdin=asked).decode().splitlines()
        parents = {parent for row in rows for parent in row.split()[1:]}
        return next(row[:40] for row in rows if row[:40] not in parents), "looking at all commits"

    def _noted_head(self) -> str:
        commit = self._read_note("state").partition(" ")[0]
        return commit if is_commit_id(commit) else ""

    def prepare(self, files: Mapping[str, bytes | None], change: Change, when: datetime) -> PendingCommit | None:
        """Make a commit that changes these files (None removes); nothing of it is on disk yet."""
        if not self.is_on:
            return None
        objects = Objects()
        blobs = {path: None if content is None else objects.add("blob", content) for path, content in files.items()}
        tree = self._tree_with(blobs)
        commit = objects.add("commit", self._commit_content(tree.add_to(objects), change, when)).hex()
        return PendingCommit(commit, tree, objects)

    def _tree_with(self, blobs: Mapping[str, bytes | None]) -> GitTree:
        """The tree of the last commit with some paths changed."""
        # Should the commit come to nothing, the trees are made anew.
        tree, self._tree = self._tree, None
        known = ((path, entry_oid(entry)) for path, entry in self.entries.items())
        if len(blobs) > _MANY:
            changed: dict[str, bytes | None] = {**dict(known), **blobs}
            return GitTree((path, oid) for path, oid in changed.items() if oid is not None)
        tree = tree or GitTree(known)
        for path, oid in blobs.items():
            tree.put(path, oid)
        return tree

    def write_drafts(self, prepared: PendingCommit) -> tuple[Path, ...]:
        """Write the objects of a commit beside their places and take the branch; return what is to be flushed."""
        prepared.drafts = prepared.objects.write_drafts(self.git)
        reference = head_reference(self._git_directory)
        prepared.move = hold_reference(self._git_directory, reference, prepared.commit, old=self.head)
        return (*prepared.drafts.places, prepared.move.lock)

    def place_objects(self, prepared: PendingCommit) -> None:
        """Let git see the objects; the commit comes last, so where it is, all of it is."""
        drafts, prepared.drafts = prepared.drafts, None
        if drafts is not None:
            drafts.place()
            self._count_loose(drafts.loose_bytes)

    def drop(self, prepared: PendingCommit) -> None:
        """Remove what was written of a commit that is not to be."""
        if prepared.move is not None:
            prepared.move.drop()
        if prepared.drafts is not None:
            prepared.drafts.drop()

    def move(self, prepared: PendingCommit | None, seen: Mapping[str, tuple[Seen, bytes] | None]) -> tuple[Path, ...]:
        """Make a prepared commit the last one; `seen` gives what is now on disk for each path that it changed.

        Returns the folders to be flushed.
        """
        folders: tuple[Path, ...] = ()
        if prepared is not None and prepared.move is not None:
            prepared.move.place()
            folders = (prepared.move.target.parent,)
            self.head, self._tree = prepared.commit, prepared.tree
        self.note_seen(seen)
        return folders

    def note_seen(self, seen: Mapping[str, tuple[Seen, bytes] | None]) -> None:
        """Remember how files look on disk, for the next comparison."""
        self.touched.update(seen)
        if len(seen) > _MANY:
            self._rows = None
        for path, found in seen.items():
            if found is None:
                self.entries.pop(path, None)
            else:
                self.entries[path] = pack_entry(path, *found)
            if self._rows is not None:
                put_entry(self._rows, path, self.entries.get(path))

    def read_entries(self) -> tuple[Entries, int]:
        """The index file as it is now, and when it was written; needs no lock."""
        written_ns = _modified_ns(self._index_file)
        return read_entries(self._index_file)[0], written_ns

    def write_entries(self) -> None:
        """Write the index file and note which commit it belongs to; losing either costs one full reading."""
        self._rows = self._rows or sorted_entries(self.entries)
        checksum = write_entries(self._index_file, self._rows)
        self.entries_ns = _modified_ns(self._index_file)
        if checksum and self.is_on:
            self._checksum = checksum
            self.is_index_stale = False
            self._write_note("state", f"{self.head} {checksum.hex()}")

    def adopt(self, commit: str) -> None:
        """Make a commit the last one without knowing how its files look; they are read at the next comparison."""
        write_reference(self._git_directory, head_reference(self._git_directory), commit, old=self.head)
        self.reload()

    def read_pending(self) -> Pending | None:
        """The commit that a killed writer left under way."""
        if not self.exists:
            return None
        try:
            first, _, rest = (self.private / _PENDING).read_text(encoding="ascii").partition("\n")
            paths = tuple(json.loads(rest)) if rest else ()
        except (FileNotFoundError, ValueError):
            return None
        words = first.split()
        if len(words) != 2 or len(words[0]) != 40:
            return None
        return Pending(words[0], None if words[1] == "None" else words[1], paths)

    def write_pending(self, pending: Pending) -> Path:
        """Record a commit under way, before anything of it is written; the record is still to be flushed."""
        path = self.private / _PENDING
        write_atomic(path, f"{pending.commit} {pending.base}\n{json.dumps(pending.paths)}", durable=False)
        return path

    def has(self, commit: str) -> bool:
        """Whether a commit is in the repository."""
        return self.git.run("cat-file", "--batch-check", stdin=f"{commit}\n".encode()).split()[1:2] == [b"commit"]

    def remove_pending(self) -> None:
        (self.private / _PENDING).unlink(missing_ok=True)

    def reload(self) -> None:
        """Read `head` and `entries` anew, since history itself was rewritten."""
        self._loaded = False
        self.load()

    @property
    def _index_file(self) -> Path:
        return self._git_directory / ("index" if self.is_on else "entries")

    def _entries_of(self, head: str | None) -> Entries:
        """The entries of a commit, with what the index file knows of the same contents."""
        known = self.entries
        result: Entries = {}
        for path, oid in read_tree(self.git, head).items():
            entry = known.get(path)
            result[path] = entry if entry and entry_oid(entry) == oid else pack_entry(path, UNSEEN, oid)
        return result

    def _commit_content(self, tree: bytes, change: Change, when: datetime) -> bytes:
        stamp = f"{int(when.timestamp())} {when.strftime('%z') or '+0000'}"
        parents = [self.head, change.merges] if change.merges else [self.head]
        rows = [
            f"tree {tree.hex()}",
            *(f"parent {parent}" for parent in parents if parent),
            f"author {change.author} <{_EMAIL}> {stamp}",
            f"committer Reverie <{_EMAIL}> {stamp}",
            "",
            render_message(change),
        ]
        return "\n".join(rows).encode()

    @property
    def loose_bytes(self) -> int:
        """About how much was written since the repository was last packed."""
        text = self._read_note("loose")
        return int(text) if text.isdigit() else 0

    def _count_loose(self, size_bytes: int) -> None:
        self._write_note("loose", str(self.loose_bytes + size_bytes))

    def reset_loose(self) -> None:
        """Start counting anew, since a packing has begun."""
        self._write_note("loose", "0")

    def _read_note(self, name: str) -> str:
        try:
            return (self.private / name).read_text(encoding="ascii").strip()
        except (FileNotFoundError, UnicodeDecodeError):
            return ""

    def _write_note(self, name: str, text: str) -> None:
        """Overwrite a small note where it stands; one that is lost or torn costs time and nothing else."""
        handle = os.open(self.private / name, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.pwrite(handle, text.ljust(_NOTE_BYTES).encode("ascii"), 0)
        finally:
            os.close(handle)


def blob_id(content: bytes) -> bytes:
    """The content id of a file."""
    return object_id("blob", content)


def _modified_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0
