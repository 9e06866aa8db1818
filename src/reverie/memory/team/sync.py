"""Pull and push between the files of a `SyncScope`, mostly the `team/` directory, and a remote; knows no transport.

A pull merges everything the remote holds into the directory, as one commit by `sync`, and then notes what both sides
agree on. A push is a pull, after which what differs from that agreement is sent. The files and the agreement are all
there is: killed at any point, the next pull or push compares again and does the rest.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from reverie.errors import Conflict, Damaged, Refused
from reverie.files import locked, write_folder
from reverie.memory.store.change import Change
from reverie.memory.store.erased_sentences import read_erased
from reverie.memory.store.topic_store import Store
from reverie.memory.store.worktree import TEAM, is_topic_path, list_tracked, read_tracked
from reverie.memory.store.writer import conflict_path
from reverie.memory.team.entry import (
    RefusedEntry,
    TeamEntry,
    TeamRemote,
    TeamSnapshot,
    live_entry,
    tombstone,
)
from reverie.memory.team.merge import merge_file
from reverie.memory.team.rules import find_refusals, name_paths
from reverie.memory.team.state import (
    AgreedState,
    TeamFolder,
    read_agreed,
    read_sending,
    write_agreed,
    write_sending,
)
from reverie.memory.topics.topic import parse_topic
from reverie.settings.tree import TeamSettings
from reverie.values import value

_PUSH_TRIES = 8
"""How often a push starts again because somebody else was faster."""
_PAUSE_SECONDS = 0.1
"""Before the second try; grows with each, by a random share so that two do not meet again."""
_SENT_KEPT = 4
_MANY_DELETIONS = 10
"""From so many on, deletions of more than half of all entries are taken for an accident unless a person agrees."""


@value
class SyncScope:
    """Which files of a memory directory travel, and what is said about them."""

    prefix: str
    """The folder of the files; empty: the whole directory but for `team/`."""
    noun: str
    reason: str
    """Of the commit that takes what others have."""
    delete_command: str
    """What agrees to many deletions."""
    is_personal: bool = False
    """Whether personal memories may travel too: between machines of one person."""

    def find_path(self, tracked: str) -> str | None:
        """The path at the remote of a file of the directory; None where it does not travel."""
        if not is_topic_path(tracked) or not tracked.startswith(self.prefix):
            return None
        return None if self.is_personal and tracked.startswith((TEAM, ".")) else tracked.removeprefix(self.prefix)


TEAM_SCOPE = SyncScope(TEAM, "team memories", "take what the team shares", "reverie team push --yes")
PERSONAL_SCOPE = SyncScope("", "memories", "take what your other machines have", "reverie sync --yes", is_personal=True)


@value
class SyncReport:
    """What a pull or a push did; paths are those at the remote."""

    pulled: tuple[str, ...] = ()
    """New or changed here."""
    pushed: tuple[str, ...] = ()
    """New or changed there."""
    deleted: tuple[str, ...] = ()
    """Removed here or there."""
    conflicts: tuple[str, ...] = ()
    """Conflict copies that were made, inside the memory directory."""
    refused: tuple[RefusedEntry, ...] = ()
    commit: str | None = None
    """The commit of what changed here."""


@value
class OutgoingChange:
    """One change that a push would send."""

    path: str
    change: str
    """`new`, `changed` or `deleted`."""
    author: str
    trust: str
    name: str
    entry: TeamEntry
    refused: tuple[RefusedEntry, ...] = ()


@dataclass(slots=True)
class TeamSync:
    """Brings one memory directory and one remote together."""

    store: Store
    folder: TeamFolder
    remote: TeamRemote
    me: str
    settings: TeamSettings
    now: Callable[[], datetime]
    scope: SyncScope = TEAM_SCOPE

    def pull(self) -> SyncReport:
        """Take what the remote has.

        Raises:
            Unavailable: it cannot be reached; nothing changed.
        """
        with self._locked():
            return self._pull()[0]

    def push(self, *, may_delete_many: bool = False) -> SyncReport:
        """Take what the remote has and send what is new here.

        Raises:
            Unavailable: it cannot be reached; what is new here stays and is sent next time.
            Conflict: others were faster each time.
            Refused: most entries are gone here, which nobody has agreed to.
        """
        with self._locked():
            report, snapshot, agreed = self._pull()
            for attempt in range(_PUSH_TRIES):
                outgoing = find_outgoing(self.store, agreed, self.me, self.settings, self.scope)
                held = {each.path for each in (*snapshot.refused, *report.refused) if each.direction == "in"}
                ready = {each.path: each.entry for each in outgoing if not each.refused and each.path not in held}
                report = replace(report, refused=_unique((*report.refused, *(r for o in outgoing for r in o.refused))))
                if not ready:
                    return report
                if not may_delete_many:
                    _refuse_many_deletions(ready, agreed, self.scope)
                write_sending(self.folder, _add_hashes(read_sending(self.folder), ready))
                try:
                    sent = self.remote.send(snapshot, ready)
                except Conflict:
                    if attempt + 1 == _PUSH_TRIES:
                        raise
                    time.sleep(_PAUSE_SECONDS * (attempt + 1) * (0.5 + random.random()))
                    more, snapshot, agreed = self._pull()
                    report = join_reports(report, more)
                    continue
                refused = {each.path for each in sent.refused}
                stored = {path: entry for path, entry in ready.items() if path not in refused}
                entries, mine = {**agreed.entries, **stored}, agreed.mine.union(stored)
                write_agreed(self.folder, replace(agreed, version=sent.version, entries=entries, mine=mine))
                write_sending(self.folder, {})
                return replace(
                    report,
                    pushed=tuple(path for path, entry in stored.items() if not entry.is_deleted),
                    deleted=(*report.deleted, *(path for path, entry in stored.items() if entry.is_deleted)),
                    refused=_unique((*report.refused, *sent.refused)),
                )
            raise AssertionError("unreachable")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        write_folder(self.folder.directory)
        wait = self.settings.timeout_seconds
        with locked(self.folder.lock, label=f"syncing {self.scope.noun}", now=self.now(), timeout_seconds=wait):
            yield

    def _pull(self) -> tuple[SyncReport, TeamSnapshot, AgreedState]:
        agreed = read_agreed(self.folder)
        snapshot = self.remote.fetch(agreed.entries, agreed.version if agreed.is_complete else "")
        if snapshot is None:
            unchanged = TeamSnapshot(agreed.version, agreed.entries, agreed.refused)
            return SyncReport(refused=agreed.refused), unchanged, agreed
        report, accepted, mine = self._take(agreed, snapshot)
        self._drop_settled(agreed, snapshot)
        is_complete = not snapshot.refused and accepted == snapshot.entries
        agreed = AgreedState(snapshot.version, accepted, report.refused, self.now(), frozenset(mine), is_complete)
        write_agreed(self.folder, agreed)
        return report, snapshot, agreed

    def _drop_settled(self, agreed: AgreedState, snapshot: TeamSnapshot) -> None:
        """Forget what was sent where the remote shows what became of it; the rest may still be on its way."""
        sending = read_sending(self.folder)
        if not sending:
            return

        def is_open(path: str) -> bool:
            before, now = agreed.entries.get(path), snapshot.entries.get(path)
            return now is None or (now == before and _hash_sent(now) not in sending[path])

        write_sending(self.folder, {path: hashes for path, hashes in sending.items() if is_open(path)})

    def _take(
        self, agreed: AgreedState, snapshot: TeamSnapshot
    ) -> tuple[SyncReport, Mapping[str, TeamEntry], set[str]]:
        """Merge a snapshot into the directory; returns what is agreed on from then on, and what of it is ours."""
        change = Change("sync", self.scope.reason)
        sending = read_sending(self.folder)
        accepted: dict[str, TeamEntry] = {}
        mine: set[str] = set()
        refused = list(snapshot.refused)
        pulled: list[str] = []
        deleted: list[str] = []
        copies: list[str] = []
        scope = self.scope

        def merge_all() -> dict[str, bytes | None]:
            ours, unreadable = read_files(self.store, scope)
            erased = read_erased(self.store.history.private)
            held = {path for tracked in self.store.held if (path := scope.find_path(tracked)) is not None}
            unread = {each.path for each in snapshot.refused} | unreadable | held
            files: dict[str, bytes | None] = {}
            for path in sorted({*agreed.entries, *snapshot.entries}):
                base, theirs = agreed.entries.get(path), snapshot.entries.get(path)
                # A push whose answer was lost: what is there is ours, and what was edited here since continues it.
                is_sent = theirs is not None and _hash_sent(theirs) in sending.get(path, ())
                base = theirs if is_sent else base
                faults: tuple[RefusedEntry, ...] = ()
                if theirs is not None and theirs.text is not None and (base is None or base.sha256 != theirs.sha256):
                    faults = find_refusals(
                        path, theirs.text, self.settings, direction="in", erased=erased, is_personal=scope.is_personal
                    )
                if faults or path in unread:
                    refused.extend(faults)
                    if base is not None:
                        accepted[path] = base
                        mine.update({path} & agreed.mine)
                    continue
                if theirs is not None:
                    accepted[path] = theirs
                    is_same = base is not None and base.sha256 == theirs.sha256
                    if is_sent or (is_same and path in agreed.mine):
                        mine.add(path)
                merged = merge_file(path, base, ours.get(path), theirs)
                if merged.text != ours.get(path):
                    files[f"{scope.prefix}{path}"] = None if merged.text is None else merged.text.encode()
                    (deleted if merged.text is None else pulled).append(path)
                if merged.losing is not None:
                    losing = merged.losing.encode()
                    copy = conflict_path(f"{scope.prefix}{path}", losing)
                    files[copy] = losing
                    copies.append(copy)
            return files

        commit = self.store.update(merge_all, change)
        report = SyncReport(
            tuple(pulled), (), tuple(deleted), tuple(copies), refused=_unique(tuple(refused)), commit=commit
        )
        return report, accepted, mine


def find_outgoing(
    store: Store, agreed: AgreedState, me: str, settings: TeamSettings, scope: SyncScope = TEAM_SCOPE
) -> tuple[OutgoingChange, ...]:
    """What a push would send, each with author and trust; compares with the agreement only, asks no remote."""
    ours, unreadable = read_files(store, scope)
    rows: list[OutgoingChange] = []
    live = {path for path, entry in agreed.entries.items() if not entry.is_deleted}
    free = settings.max_entries - len(live)
    for path in sorted({*ours, *live} - unreadable):
        text, base = ours.get(path), agreed.entries.get(path)
        if text is None:
            assert base is not None
            rows.append(OutgoingChange(path, "deleted", me, "", path, tombstone(base.sha256, me)))
            continue
        entry = live_entry(text, me, _read_trust(path, text))
        if base is not None and not base.is_deleted and base.sha256 == entry.sha256:
            continue
        is_new = path not in live
        faults = find_refusals(path, text, settings, direction="out", is_personal=scope.is_personal)
        if is_new and not faults:
            free -= 1
            if free < 0:
                faults = (RefusedEntry(path, f"more than {settings.max_entries:,} entries", 0, "out"),)
        name = _read_name(path, text) if not faults else path
        rows.append(OutgoingChange(path, "new" if is_new else "changed", me, entry.trust, name, entry, faults))
    rows += [
        OutgoingChange(
            path, "changed", me, "", path, tombstone("", me), (RefusedEntry(path, "not UTF-8 text", 0, "out"),)
        )
        for path in sorted(unreadable)
    ]
    return tuple(rows)


def read_files(store: Store, scope: SyncScope) -> tuple[dict[str, str], set[str]]:
    """The texts that travel by path, and the paths of files that are not UTF-8 text."""
    texts: dict[str, str] = {}
    unreadable: set[str] = set()
    for tracked in list_tracked(store.folder):
        path = scope.find_path(tracked)
        if path is None:
            continue
        content = read_tracked(store.folder, tracked)
        try:
            if content is not None:
                texts[path] = content.decode()
        except UnicodeDecodeError:
            unreadable.add(path)
    return texts, unreadable


def _hash_sent(entry: TeamEntry) -> str:
    return "" if entry.is_deleted else entry.sha256


def _add_hashes(sending: Mapping[str, tuple[str, ...]], changes: Mapping[str, TeamEntry]) -> dict[str, tuple[str, ...]]:
    """What may be on its way, the new changes included; a few hashes per path are enough."""
    new = {path: (*sending.get(path, ()), _hash_sent(entry)) for path, entry in changes.items()}
    return {path: tuple(dict.fromkeys(hashes))[-_SENT_KEPT:] for path, hashes in {**sending, **new}.items()}


def _refuse_many_deletions(ready: Mapping[str, TeamEntry], agreed: AgreedState, scope: SyncScope) -> None:
    gone = [path for path, entry in ready.items() if entry.is_deleted]
    live = sum(not entry.is_deleted for entry in agreed.entries.values())
    if len(gone) >= _MANY_DELETIONS and 2 * len(gone) > live:
        raise Refused(
            f"nothing was sent: {len(gone)} of {live} {scope.noun} are missing here ({name_paths(gone)}); "
            f"run `{scope.delete_command}` to delete them everywhere, or `reverie undo` to bring them back",
            by="team",
        )


def _read_trust(path: str, text: str) -> str:
    try:
        return str(parse_topic(path, text).trust or "")
    except Damaged:
        return ""


def _read_name(path: str, text: str) -> str:
    try:
        return parse_topic(path, text).name
    except Damaged:
        return path


def _unique(refused: tuple[RefusedEntry, ...]) -> tuple[RefusedEntry, ...]:
    return tuple(dict.fromkeys(refused))


def join_reports(first: SyncReport, second: SyncReport) -> SyncReport:
    """Two exchanges as one."""
    return SyncReport(
        tuple(dict.fromkeys((*first.pulled, *second.pulled))),
        tuple(dict.fromkeys((*first.pushed, *second.pushed))),
        tuple(dict.fromkeys((*first.deleted, *second.deleted))),
        tuple(dict.fromkeys((*first.conflicts, *second.conflicts))),
        _unique((*first.refused, *second.refused)),
        second.commit or first.commit,
    )
