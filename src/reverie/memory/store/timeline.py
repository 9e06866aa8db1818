"""Operations on the history of a store: log and why of a topic, state at a date, undo, erase, export.

Each function takes the store; those that write hold its lock for as long as they work.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path

from reverie.errors import Damaged, Refused, UserMistake
from reverie.files import read_small
from reverie.memory.store import bundle, past
from reverie.memory.store import erase as erasing
from reverie.memory.store.change import Author, Change, Commit
from reverie.memory.store.erased_sentences import extract_topic_text, read_erased
from reverie.memory.store.index.edits import merge_prose
from reverie.memory.store.topic_store import REFUSALS, Store, describe_findings
from reverie.memory.store.usage_log import Use, read_uses
from reverie.memory.store.worktree import is_topic_path
from reverie.memory.store.writer import find_secrets, merge_bytes
from reverie.memory.topics.filenames import find_topic
from reverie.memory.topics.topic import Source, Topic, Trust, parse_topic
from reverie.values import value


@value
class UndoResult:
    """What taking back a change did; with conflicts, nothing was written."""

    commit: str | None
    paths: tuple[str, ...]
    conflicts: tuple[str, ...] = ()
    changes: tuple[Commit, ...] = ()
    """What was taken back, the newest first."""


@value
class Reverted:
    """What undoing would make of the files."""

    files: Mapping[str, bytes | None]
    """New contents; None removes. Files that already are as they were before the change are left out."""
    conflicts: tuple[str, ...]
    """Files that were changed since, at the same place; while there is one, nothing may be written."""


@value
class Provenance:
    """What a memory rests on, and when it was brought back."""

    path: str
    sources: tuple[Source, ...]
    trust: Trust | None
    changes: tuple[Commit, ...]
    recalled: tuple[Use, ...]


@value
class SaveRefusal:
    """Something that was not saved."""

    when: datetime
    author: Author
    name: str
    rules: tuple[str, ...]
    quote: str = ""
    """The words that were refused, where they may be shown."""
    session: str = ""


def log(store: Store, name: str | None = None, *, limit: int | None = None) -> tuple[Commit, ...]:
    """The changes, newest first; of one topic through its renames, also one that is gone."""
    return past.log(store.history, None if name is None else _path_ever(store, name), limit=limit)


def diff(store: Store, commit: str | None = None) -> str:
    """What a change did to the topics."""
    return past.diff(store.history, commit)


def why(store: Store, name: str) -> Provenance:
    """Where a topic comes from: its own sources and those of its changes; and when it was recalled."""
    path = _path_ever(store, name)
    changes = past.log(store.history, path)
    topic = _try_parse(path, (store.writer.tree.read(path) or _last_content(store, path, changes)))
    sources = [*(topic.sources if topic else ()), *(source for commit in changes for source in commit.change.sources)]
    trust = topic.trust if topic else None
    return Provenance(path, tuple(dict.fromkeys(sources)), trust, changes, tuple(read_uses(store.folder, path)))


def topics_at(store: Store, when: datetime) -> tuple[Topic, ...]:
    """The topics as they were at a moment, in the order of paths."""
    commit = past.commit_at(store.history, when)
    if commit is None:
        return ()
    contents = past.read_all(store.history, commit)
    topics = (_try_parse(path, contents[path]) for path in sorted(contents) if is_topic_path(path))
    return tuple(topic for topic in topics if topic is not None)


def undo(store: Store, *commits: str, author: Author = "user", session: str | None = None) -> UndoResult:
    """Take back changes, whenever they were made, as one change; what came after them stays.

    Raises:
        UserMistake: there is no such commit, or it changed no topic.
    """
    with store.writer.writing():
        targets = [past.find_commit(store.history, one) for one in dict.fromkeys(commits)]
        if len(targets) > 1:
            order = {commit.commit: number for number, commit in enumerate(past.log(store.history))}
            targets.sort(key=lambda target: order.get(target.commit, 0))
        files: dict[str, bytes | None] = {}
        for target in targets:
            before, after = _sides(store, target)
            now = {path: files[path] if path in files else store.writer.tree.read(path) for path in target.paths}
            reverted = revert(before, after, now)
            if reverted.conflicts:
                return UndoResult(None, (), reverted.conflicts)
            files |= reverted.files
        newest = targets[0].change.reason
        reason = f"undo: {newest}" if len(targets) == 1 else f"undo {len(targets)} changes, the newest: {newest}"
        undoes = " ".join(target.commit for target in targets)
        done = store.writer.commit(files, Change(author, reason, session, undoes=undoes))
        return UndoResult(done, tuple(files), changes=tuple(targets))


def revert(
    before: Mapping[str, bytes | None], after: Mapping[str, bytes | None], now: Mapping[str, bytes | None]
) -> Reverted:
    """Bring the way back from `after` to `before` into the files as they are now, by a three-way merge of each.

    MEMORY.md is not merged: it is generated.
    """
    files: dict[str, bytes | None] = {}
    conflicts: list[str] = []
    for path in after:
        old, new, present = before.get(path), after[path], now.get(path)
        if present == old:
            continue
        if present == new:
            files[path] = old
        elif old is None or new is None or present is None:
            conflicts.append(path)
        else:
            merged = merge_bytes(path, new, present, old)
            if merged is None:
                conflicts.append(path)
            else:
                files[path] = merged
    return Reverted(files, tuple(conflicts))


def newest_change(store: Store) -> Commit:
    """The newest change that can be taken back and has not been; one that took something back is none itself.

    Raises:
        UserMistake: there is none.
    """
    undone: set[str] = set()
    for commit in past.log(store.history):
        if commit.commit in undone:
            continue
        if commit.change.undoes:
            undone |= set(commit.change.undoes.split())
        elif commit.paths and not _is_takeover(commit):
            return commit
    raise UserMistake(f"nothing to undo in {store.folder.directory}; run `reverie log` for a list of changes")


def _sides(store: Store, target: Commit) -> tuple[Mapping[str, bytes | None], Mapping[str, bytes | None]]:
    """The topics that a change touched, before and after it."""
    if _is_takeover(target):
        raise UserMistake(f"{target.commit[:12]} is the initial import of the directory and cannot be undone")
    if not target.paths:
        raise UserMistake(f"{target.commit[:12]} changed no topic; MEMORY.md is generated and cannot be undone")
    before: Mapping[str, bytes | None] = dict.fromkeys(target.paths)
    if target.parents:
        before = past.read_at(store.history, target.parents[0], target.paths)
    return before, past.read_at(store.history, target.commit, target.paths)


def _is_takeover(commit: Commit) -> bool:
    return not commit.parents and commit.change.author == "import"


def erase(store: Store, name: str, *, redact: Iterable[Path] = ()) -> erasing.ErasureResult:
    """Erase a topic from the directory, its history and the derived index; `redact` names files that may quote it."""
    with store.writer.writing():
        return erasing.erase(store.writer, _path_ever(store, name), redact=redact)


def write_bundle(store: Store, target: Path) -> Path:
    """Export the directory with its history into one file.

    Raises:
        Refused: a commit that another program made holds a secret.
    """
    with store.writer.writing():
        for path, content in past.read_all_versions(store.history):
            if findings := find_secrets(path, content):
                place = f"{path or 'the history'} ({describe_findings(findings)})"
                raise Refused(
                    f"not exported: possible secret in {place}; run `reverie erase {path}` first",
                    by="secret scan",
                )
        return bundle.write_bundle(store.history, target, now=store.now())


def import_bundle(store: Store, source: Path) -> bundle.Imported:
    """Bring in such a file: merged with what is here, history and all."""
    with store.writer.writing():
        return bundle.import_bundle(store.writer, source, allow=partial(_allow, store), merge_index=merge_prose)


def refusals(store: Store) -> tuple[SaveRefusal, ...]:
    """What was refused here, the latest last; by rule, never by content."""
    content = read_small(store.history.private / REFUSALS, limit_bytes=1 << 26) or b""
    return tuple(_refusal(row) for row in content.decode("utf-8", "replace").splitlines() if row.startswith("{"))


def _refusal(row: str) -> SaveRefusal:
    record = json.loads(row)
    return SaveRefusal(datetime.fromisoformat(record["when"]), record["author"], record["name"], tuple(record["rules"]))


def _allow(store: Store, files: Mapping[str, bytes], everything: Mapping[str, bytes]) -> None:
    """Refuse a history in which there is a secret, also in a version that is long gone, or what was erased here."""
    problems = [
        f"{path} ({describe_findings(findings)})"
        for path, content in files.items()
        if (findings := find_secrets(path, content))
    ]
    current = set(files.values())
    problems += [
        f"an earlier version ({describe_findings(findings)})"
        for content in everything.values()
        if content not in current and (findings := find_secrets("", content))
    ]
    if problems:
        raise Refused(f"not imported: possible secret in {'; '.join(problems)}", by="secret scan")
    erased = read_erased(store.history.private)
    if erased.hashes and any(erased.covers(extract_topic_text(content)) for content in everything.values()):
        raise Refused(
            "not imported: this copy contains a memory that was erased here; erase it there first", by="erase"
        )


def _path_ever(store: Store, name: str) -> str:
    try:
        return store.find(name)
    except UserMistake:
        gone = past.read_gone(store.history) if store.history.is_on else {}
        topics = {path: _try_parse(path, content) for path, content in gone.items() if is_topic_path(path)}
        topic_path = find_topic(name, gone, lambda: {path: topic.name for path, topic in topics.items() if topic})
        if topic_path is None:
            raise
        return topic_path


def _last_content(store: Store, path: str, changes: Iterable[Commit]) -> bytes | None:
    for commit in changes:
        content = past.read_at(store.history, commit.commit, (path,))[path]
        if content is not None:
            return content
    return None


def _try_parse(path: str, content: bytes | None) -> Topic | None:
    try:
        return parse_topic(path, content.decode()) if content is not None else None
    except (Damaged, UnicodeDecodeError):
        return None
