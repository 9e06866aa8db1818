"""The only way anything is written into a memory directory.

Under one lock: finish what a killed writer began, commit what others edited on disk, then make the wanted change as one
commit. Every new content is shown to `admit` first, which refuses secrets; a file into which somebody else wrote a
secret stays on disk as it is and is held back: neither committed nor in the index. A change is written as a pending
commit, then as drafts beside its files, flushed, and moved into place: files first, the branch last. After a kill at
any point the next writer finds the pending commit and completes it; where there is none, nothing was touched. What a
topic is, and what MEMORY.md must say, is decided by `topic_store.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import TypeAlias

from reverie.files import flush, locked, write_atomic
from reverie.files.durable import translate_os_errors
from reverie.files.places.paths import MemoryFolder
from reverie.files.secret_scan import Finding, scan
from reverie.memory.store.change import Change
from reverie.memory.store.git.commits import read_blob, read_blobs, read_tree
from reverie.memory.store.history import UNFINISHED, History, finish_erasing, pack_when_due, packing_stopped
from reverie.memory.store.worktree import CONFLICT_SUFFIX, CONFLICTS, INDEX_FILE, Displaced, Edits, TopicFiles, blob_id
from reverie.values import value

Files: TypeAlias = Mapping[str, bytes | None]
"""Path → new content; None removes the file."""
Follow: TypeAlias = Callable[[Files], Files]
"""What else must change when these files change: the index, and topics whose line in the index was edited."""


@value
class FoundEdit:
    """An edit that somebody made outside."""

    path: str
    content: bytes | None
    """What stands there now; None when the file is gone."""
    read_before: Callable[[], bytes | None]
    """What the last commit holds."""


Attribute: TypeAlias = Callable[[FoundEdit], Change | None]
"""Who made an edit that was found on disk; None when nobody knows."""
Noticed: TypeAlias = Callable[[Files], None]
"""Told after every commit what changed, to bring derived indexes up to date."""
Admit: TypeAlias = Callable[[Files, Change], None]
"""Asked before anything is written; raises `Refused` for what must not be kept."""

FOREIGN_EDIT = Change("unknown", "edited outside Reverie")
_WORTH_NOTING = 64
"""Reading fewer files once more costs less than writing the stat cache."""
TAKE_OVER = Change("import", "take over the existing directory")
AT_ONCE = Change("unknown", "keep an edit made at the same moment")
COMPLETED_INDEX = Change("import", "list topics that another program committed")
LEFT_OUT = Change("unknown", "leave out a file that holds what looks like a secret")


@value
class WithheldFile:
    """A file that is not committed, because somebody wrote a secret into it."""

    oid: bytes
    """The content id of what stands there."""
    findings: tuple[Finding, ...]


def find_secrets(path: str, content: bytes) -> tuple[Finding, ...]:
    """The secrets in a file or its name; line 0 stands for the name."""
    in_name = tuple(Finding(each.rule, 0, 0, 0) for each in scan(path))
    return (*in_name, *scan(content.decode("utf-8", "replace")))


class Writer:
    """Writes one memory directory; any number of them may work on the same one, in any number of processes."""

    def __init__(
        self,
        folder: MemoryFolder,
        history: History,
        *,
        now: Callable[[], datetime],
        follow: Follow = lambda _: {},
        noticed: Noticed = lambda _: None,
        attribute: Attribute = lambda _: None,
        admit: Admit = lambda _files, _change: None,
        timeout_seconds: float = 30.0,
    ) -> None:
        self.folder = folder
        self.history = history
        self.tree = TopicFiles(folder)
        self.held: dict[str, WithheldFile] = {}
        """Files into which somebody wrote a secret, as of the last look."""
        self._admit = admit
        self._now = now
        self._follow = follow
        self._noticed = noticed
        self._attribute = attribute
        self._timeout_seconds = timeout_seconds

    @contextmanager
    def writing(self, *, attribute: Attribute | None = None) -> Iterator[tuple[str, ...]]:
        """Hold the lock on a directory that is up to date; gives the commits made of what was found.

        `attribute` is asked first who made an edit that is found.

        Raises:
            Conflict: another writer holds the lock for too long.
            Unavailable: the directory cannot be written (full, read-only); it is as it was.
        """
        lock = self.folder.writer_lock
        lock_held = locked(lock, label="writing memory", now=self._now(), timeout_seconds=self._timeout_seconds)
        with lock_held, translate_os_errors("write", self.folder.directory):
            # Whoever takes the lock writes into its file, so its time is the disk's own idea of now.
            disk_now = lock.stat().st_mtime_ns
            if not self.history.exists:
                self.history.make()
            self.history.load()
            self.recover()
            yield tuple(self.commit_external_edits(disk_now, attribute=attribute))

    def commit(self, files: Files, change: Change) -> str | None:
        """Make one change; None when it changes nothing (or without history). Only inside `writing`.

        Raises:
            Refused: a file holds a secret, or another reason of `admit`; nothing was written.
        """
        if INDEX_FILE in self.held:
            files = {path: content for path, content in files.items() if path != INDEX_FILE}
        self._admit(files, change)
        commit = self._commit(files, change)
        for path in [path for path, content in files.items() if content is None and path in self.held]:
            self.tree.remove(path)
            del self.held[path]
        return commit

    def _commit(self, files: Files, change: Change, *, is_nested: bool = False) -> str | None:
        files = self._differing(files)
        if not files and change.merges is None:
            return None
        follows = self._following(files)
        return self._record({}, {**files, **self._differing(follows)}, change, is_nested=is_nested)

    def _following(self, files: Files) -> Files:
        """What follows from a change, to be committed with it.

        An index in which a person wrote a secret is kept up to date on disk only.
        """
        follows = dict(self._follow(files))
        content = follows.get(INDEX_FILE)
        if content is None:
            return follows
        if INDEX_FILE in self.held:
            del follows[INDEX_FILE]
            self._write_held(INDEX_FILE, content)
        return follows

    def _write_held(self, path: str, content: bytes) -> None:
        withheld = self.held[path]
        if _id(self.tree.read(path)) == withheld.oid != blob_id(content):
            write_atomic(self.folder.directory / path, content, durable=False)
            self.held[path] = WithheldFile(blob_id(content), withheld.findings)

    def find_committed_id(self, path: str) -> bytes | None:
        """The content id that the last commit holds for a path."""
        entry = self.history.entries.get(path)
        return entry.oid if entry is not None else None

    def _read_committed(self, path: str) -> bytes | None:
        oid = self.find_committed_id(path)
        return read_blob(self.history.git, oid) if oid is not None and self.history.is_on else None

    def _differing(self, files: Files) -> Files:
        """Those that are not already so in the last commit."""
        return {path: content for path, content in files.items() if self.find_committed_id(path) != _id(content)}

    def commit_external_edits(self, disk_now_ns: int, *, attribute: Attribute | None = None) -> Iterator[str]:
        """Commit what others did to the files since the last commit. Only inside `writing`."""
        edits = self.tree.look(self.history.entries, self.history.entries_ns, disk_now_ns)
        is_moved = self.history.is_moved and self.history.head is not None
        self.history.note_seen(edits.same)
        files: dict[str, bytes | None] = {**self._without_secrets(edits), **dict.fromkeys(edits.removed)}
        if not files:
            if self.history.is_moved or len(edits.same) > _WORTH_NOTING:
                self.history.write_entries()
        else:
            yield from self._commit_edits(files, edits, attribute or (lambda _: None))
        lines = {path: None for path in self.held if path in self.history.entries and path != INDEX_FILE}
        if lines and (rest := self._differing(self._following(lines))):
            yield self._record({}, rest, LEFT_OUT) or ""
        if is_moved and INDEX_FILE not in self.held:
            # Commits that `git pull` made bring topics without their lines; a directory taken over stays as it is.
            rest = self._differing(self._following({INDEX_FILE: self.tree.read(INDEX_FILE)}))
            if rest:
                yield self._record({}, rest, COMPLETED_INDEX) or ""

    def _without_secrets(self, edits: Edits) -> Files:
        """What was edited, without the files into which somebody wrote a secret; those are held back."""
        for path in (*edits.removed, *edits.same):
            self.held.pop(path, None)
        clean: dict[str, bytes] = {}
        for path, content in edits.changed.items():
            withheld = self.held.pop(path, None)
            if withheld is None or withheld.oid != blob_id(content):
                findings = find_secrets(path, content)
                withheld = WithheldFile(blob_id(content), findings) if findings else None
            if withheld is None:
                clean[path] = content
            else:
                self.held[path] = withheld
        return clean

    def _commit_edits(self, files: Files, edits: Edits, attribute: Attribute) -> Iterator[str]:
        is_first = self.history.is_on and self.history.head is None
        groups: dict[Change, dict[str, bytes | None]] = {}
        for path, content in files.items():
            edit = FoundEdit(path, content, partial(self._read_committed, path))
            change = attribute(edit) or (TAKE_OVER if is_first else self._attribute(edit) or FOREIGN_EDIT)
            groups.setdefault(change, {})[path] = content
        if TAKE_OVER in groups:
            yield self._record(groups.pop(TAKE_OVER), {}, TAKE_OVER, edits) or ""
        for change, group in groups.items():
            follows = self._following(group)
            if INDEX_FILE not in group:
                yield self._record(group, self._differing(follows), change, edits) or ""
                continue
            # What a person wrote into the index is first kept as it was written.
            yield self._record(group, {}, change, edits) or ""
            if rest := self._differing(follows):
                yield self._record({}, rest, change) or ""

    def _record(
        self,
        found_files: Files,
        to_write: Files,
        change: Change,
        edits: Edits | None = None,
        is_nested: bool = False,
    ) -> str | None:
        """One commit of files that were found on disk and of files that are to be written.

        `is_nested` says that it ends another change, whose drafts may hold somebody's edit.
        """
        history = self.history
        expected = {
            path: withheld.oid if (withheld := self.held.get(path)) else self.find_committed_id(path)
            for path in to_write
        }
        commit = history.write_commit({**found_files, **to_write}, change, self._now())
        try:
            flush((*history.folders, *self.tree.write_drafts(to_write)))
        except BaseException:
            # The pending commit of a nested change holds that edit too, and is left for the next writer.
            if not is_nested:
                self.tree.remove_drafts(to_write)
                history.remove_pending()
            raise
        seen = self.tree.write_in_place(to_write)
        if edits is not None:
            seen |= {path: edits.seen.get(path) for path in found_files}
        settled = [self.tree.settle(path, expected[path], content) for path, content in to_write.items()]
        displaced = [each for each in settled if each is not None]
        history.move(commit, seen, is_done=not displaced)
        flush((*self.tree.folders(to_write), *history.folders))
        history.write_entries()
        self._noticed({**found_files, **to_write})
        if displaced:
            self._keep(displaced)
        pack_when_due(history)
        return commit

    def _keep(self, displaced: list[Displaced]) -> None:
        """Bring back edits that were made while we wrote, merged or beside ours, and end the change.

        Only then is the record of the pending commit removed: killed before, the next writer finds them again.
        """
        files: dict[str, bytes | None] = {}
        for each in displaced:
            findings = find_secrets(each.path, each.found)
            if findings:
                self.tree.put_back(each.path)
                self.held[each.path] = WithheldFile(blob_id(each.found), findings)
            elif each.path == INDEX_FILE:
                files |= self._follow({INDEX_FILE: each.found})
            elif each.written is None:
                files[each.path] = each.found
            else:
                path, content = self._merge_or_copy(each.path, each.expected, each.written, each.found)
                files[path] = content
        self._commit(files, AT_ONCE, is_nested=True)
        for each in displaced:
            self.tree.draft(each.path).unlink(missing_ok=True)
        self.history.remove_pending()

    def _merge_or_copy(self, path: str, base: bytes | None, mine: bytes, theirs: bytes) -> tuple[str, bytes]:
        before = read_blob(self.history.git, base) if base is not None and self.history.is_on else b""
        text = merge_bytes(path, before, mine, theirs)
        return (path, text) if text is not None else (conflict_path(path, theirs), theirs)

    def recover(self) -> None:
        """Finish what a killed writer left under way. Only inside `writing`."""
        if self.history.exists and (self.history.private / UNFINISHED).exists():
            with packing_stopped(self.history):
                finish_erasing(self.history)
        pending = self.history.read_pending()
        if pending is None:
            return
        head = self.history.head
        if head not in (pending.base, pending.commit) or not self.history.has(pending.commit):
            self.history.remove_pending()
            return
        old, new = read_tree(self.history.git, pending.base), read_tree(self.history.git, pending.commit)
        paths = [path for path in {**old, **new} if old.get(path) != new.get(path)]
        blobs = read_blobs(self.history.git, (new[path] for path in paths if path in new))
        files = {path: blobs[new[path]] if path in new else None for path in paths}
        settled = [self.tree.settle(path, old.get(path), files[path]) for path in paths]
        contested: dict[str, bytes] = {}
        if head == pending.base:
            on_disk = {path: self.tree.read(path) for path in paths}
            waiting = {path: files[path] for path in paths if _id(on_disk[path]) == old.get(path)}
            contested = {
                path: content
                for path, content in files.items()
                if content is not None and path not in waiting and on_disk[path] not in (None, content)
            }
            flush(self.tree.write_drafts(waiting))
            self.tree.write_in_place(waiting)
            flush(self.tree.folders(waiting))
            settled += [self.tree.settle(path, old.get(path), content) for path, content in waiting.items()]
            self.history.adopt(pending.commit)
        self._noticed(files)
        self._keep([each for each in settled if each is not None])
        self._keep_contested(contested, old)

    def _keep_contested(self, contested: Mapping[str, bytes], old: Mapping[str, bytes]) -> None:
        """Merge what a killed writer wanted with what somebody wrote into the same files since, which stays."""
        if not contested:
            return
        list(self.commit_external_edits(0))
        files: dict[str, bytes | None] = {}
        for path, intended in contested.items():
            there = None if path in self.held else self.tree.read(path)
            before = read_blob(self.history.git, old[path]) if path in old else b""
            merged = merge_bytes(path, before, intended, there) if there is not None else None
            files[conflict_path(path, intended) if merged is None else path] = intended if merged is None else merged
        self._commit(files, AT_ONCE)


def _id(content: bytes | None) -> bytes | None:
    return None if content is None else blob_id(content)


def conflict_path(path: str, content: bytes) -> str:
    """Where the losing side of a conflict is kept: out of a host's sight, once per content."""
    return f"{CONFLICTS}/{path.replace('/', '__')}.{blob_id(content).hex()[:8]}{CONFLICT_SUFFIX}"


def merge_bytes(path: str, base: bytes, mine: bytes, theirs: bytes) -> bytes | None:
    """The three-way merge of one topic's contents, or None when they overlap or are not text."""
    from reverie.files.merge import MergedText
    from reverie.memory.topics.merge import merge_topics

    try:
        result = merge_topics(path, base.decode(), mine.decode(), theirs.decode())
    except UnicodeDecodeError:
        return None
    return result.text.encode() if isinstance(result, MergedText) else None
