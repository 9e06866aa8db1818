"""Every change of a memory directory as one git commit: what the last commit holds, how the next one is made.

It keeps, beside git's own files, a note which commit the index file belongs to, and a record of a commit under way,
from which a killed writer's work is finished. Reading the past is `past.py`; the files on disk are `worktree.py`;
whoever calls `load` or writes holds the writer's lock (`writer.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from reverie.errors import Unavailable
from reverie.files import write_atomic, write_folder
from reverie.memory.change import Change, render_message
from reverie.memory.git.entries import Entries, Seen, entry_oid, pack_entry, read_entries, write_entries
from reverie.memory.git.objects import Objects, add_tree, object_id
from reverie.memory.git.program import Git, find_git
from reverie.memory.git.reading import read_tree
from reverie.memory.git.refs import head_reference, read_head, write_reference
from reverie.memory.git.repository import PRIVATE, git_directory_of, is_ours, make_repository
from reverie.places.paths import MemoryFolder

UNSEEN: Seen = (0, 0, 0, 0, 0)
"""Stands for a file that must be read to know what is in it."""
_EMAIL = "reverie@localhost"


@dataclass(frozen=True, slots=True)
class Pending:
    """A commit whose objects are on disk and whose files may be."""

    commit: str
    base: str | None


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
        self._checksum = b""
        self._loaded = False

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
        head = read_head(self._git_directory) if self.exists else None
        if self._loaded and head == self.head and (self.is_on or self.entries):
            return
        self.touched = set()
        self.entries, self._checksum = read_entries(self._index_file)
        self.entries_ns = _modified_ns(self._index_file)
        self.is_index_stale = self.exists and self._read_note("state") != f"{head} {self._checksum.hex()}"
        if self.is_index_stale:
            self.entries = self._entries_of(head)
        self.head = head
        self._loaded = True

    def prepare(self, files: Mapping[str, bytes | None], change: Change, when: datetime) -> str | None:
        """Write the objects of a commit that changes these files (None removes); nothing points at it yet."""
        if not self.is_on:
            return None
        objects = Objects()
        blobs = {path: entry[40:60] for path, entry in self.entries.items() if path not in files}
        blobs |= {path: objects.add("blob", content) for path, content in files.items() if content is not None}
        commit = objects.add("commit", self._commit_content(add_tree(objects, blobs), change, when))
        self._count_loose(objects.write(self.git))
        return commit.hex()

    def move(self, commit: str | None, seen: Mapping[str, tuple[Seen, bytes] | None]) -> None:
        """Make a prepared commit the last one; `seen` gives what is now on disk for each path that it changed."""
        if commit is not None:
            write_reference(self._git_directory, head_reference(self._git_directory), commit, old=self.head)
        self.head = commit
        self.note_seen(seen)
        self.write_entries()

    def note_seen(self, seen: Mapping[str, tuple[Seen, bytes] | None]) -> None:
        """Remember how files look on disk, for the next comparison."""
        self.touched.update(seen)
        for path, found in seen.items():
            if found is None:
                self.entries.pop(path, None)
            else:
                self.entries[path] = pack_entry(path, *found)

    def write_entries(self) -> None:
        """Write the index file and note which commit it belongs to; losing either costs one full reading."""
        checksum = write_entries(self._index_file, self.entries)
        self.entries_ns = _modified_ns(self._index_file)
        if checksum and self.is_on:
            self._checksum = checksum
            self.is_index_stale = False
            self._write_private("state", f"{self.head} {checksum.hex()}")

    def adopt(self, commit: str) -> None:
        """Make a commit the last one without knowing how its files look; they are read at the next comparison."""
        write_reference(self._git_directory, head_reference(self._git_directory), commit, old=self.head)
        self.reload()

    def read_pending(self) -> Pending | None:
        """The commit that a killed writer left under way."""
        if not self.exists:
            return None
        try:
            words = (self.private / "pending").read_text(encoding="ascii").split()
        except (FileNotFoundError, UnicodeDecodeError):
            return None
        if len(words) != 2 or len(words[0]) != 40:
            return None
        return Pending(words[0], None if words[1] == "None" else words[1])

    def write_pending(self, pending: Pending) -> None:
        """Record a commit under way, before the first file is touched."""
        self._write_private("pending", f"{pending.commit} {pending.base}")

    def remove_pending(self) -> None:
        (self.private / "pending").unlink(missing_ok=True)

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
        self._write_private("loose", str(self.loose_bytes + size_bytes))

    def reset_loose(self) -> None:
        """Start counting anew, since a packing has begun."""
        self._write_private("loose", "0")

    def _read_note(self, name: str) -> str:
        try:
            return (self.private / name).read_text(encoding="ascii")
        except (FileNotFoundError, UnicodeDecodeError):
            return ""

    def _write_private(self, name: str, text: str) -> None:
        """Replace a small note; a kill leaves the old one or the new one."""
        write_atomic(self.private / name, text, durable=False)


def blob_id(content: bytes) -> bytes:
    """The content id of a file."""
    return object_id("blob", content)


def _modified_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0
