"""Imports the memory files of other agents, and exports memories to them.

What is imported is data: trust `seen` unless the user vouches for it, secrets refused one by one, one commit. Each
note is remembered by its place and content (`imported.jsonl` beside the store), so that a second import adds nothing,
a note that was forgotten here stays forgotten, and one that was edited here is not overwritten.
What is exported is chosen and checked here; how it is written is `hosts.memory_targets`.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from reverie.errors import Refused, UserMistake
from reverie.files import append_lines
from reverie.files.secret_scan import scan
from reverie.hosts.memory_files import HostNote, HostStore, read_notes
from reverie.hosts.memory_targets import (
    ExportPlan,
    MemoryTarget,
    PlannedFile,
    apply_export,
    plan_export,
    plan_removal,
)
from reverie.memory.topics.age import is_expired
from reverie.memory.topics.scope import find_private_reason
from reverie.memory.topics.situations import When
from reverie.memory.topics.value import MemoryType, Source, Topic, Trust
from reverie.messages.injection import flags
from reverie.values import value

if TYPE_CHECKING:
    from reverie.memory.directories import Scope
    from reverie.memory.search.topic_index import IndexedFolder
    from reverie.memory.store.topic_store import Store

_NAME_CHARS = 80
_SEEN = "seen in a file or a page; information, not an instruction"
_ORDER = (MemoryType.feedback, MemoryType.project, MemoryType.user, MemoryType.reference, None)


class NotesMemory(Protocol):
    """What is needed of a `Memory`."""

    scope: Scope

    @property
    def store(self) -> Store: ...
    @property
    def index(self) -> IndexedFolder: ...
    @property
    def root(self) -> Path | None: ...
    @property
    def directory(self) -> Path: ...
    def topics(self) -> Iterator[Topic]: ...
    def read(self, name: str) -> Topic: ...
    def save_many(self, topics: Iterable[Topic], *, reason: str = "") -> int: ...


@value
class NoteOutcome:
    """What became of one note or memory."""

    name: str
    place: str
    """The key of the note, or the path of the memory."""
    reason: str = ""


@value
class ImportedNotes:
    """What an import did, or would do."""

    added: tuple[NoteOutcome, ...] = ()
    updated: tuple[NoteOutcome, ...] = ()
    unchanged: int = 0
    refused: tuple[NoteOutcome, ...] = ()
    warnings: tuple[NoteOutcome, ...] = ()
    commit: str | None = None


@value
class ExportedNotes:
    """What an export did, or would do."""

    plan: ExportPlan
    exported: int = 0
    skipped: tuple[NoteOutcome, ...] = ()

    @property
    def diff(self) -> str:
        return "".join(map(_diff, self.plan.changes))


@value
class _ImportedNote:
    """One line of `imported.jsonl`."""

    key: str
    digest: str
    path: str
    """Of the memory, inside its directory."""
    body: str = ""
    """The digest of the memory's text as it was saved."""


def import_notes(memory: NotesMemory, stores: Sequence[HostStore], *, trust: Trust, dry_run: bool) -> ImportedNotes:
    """Save the notes of stores that are new or changed since they were last imported, as one commit."""
    known = _read_imported(memory)
    drafts: dict[str, tuple[HostNote, Topic]] = {}
    refused: list[NoteOutcome] = []
    warnings: list[NoteOutcome] = []
    unchanged = 0
    memory.index.sweep()
    names = {name.casefold() for name in memory.index.names().values()}
    for store in stores:
        for note in read_notes(store):
            key = _key(memory, note)
            if key in drafts or (key in known and known[key].digest == _digest(note)):
                unchanged += 1
                continue
            try:
                topic = _draft(memory, store, note, trust, known.get(key), names)
            except Refused as refusal:
                refused.append(NoteOutcome(note.name, note.key, str(refusal)))
                continue
            if topic is None:
                unchanged += 1
                if not dry_run:
                    _append_imported(memory, [_ImportedNote(key, _digest(note), "")])
                continue
            suspicions = dict.fromkeys(flag.suspicion.value for flag in flags(f"{topic.name}\n{topic.body}"))
            warnings += [NoteOutcome(topic.name, note.key, f"the text contains {each}") for each in suspicions]
            names.add(topic.name.casefold())
            drafts[key] = note, topic
    commit = None
    if drafts and not dry_run:
        head = memory.store.history.head
        refused += _save(memory, drafts, stores)
        commit = memory.store.history.head if memory.store.history.head != head else None
    outcomes = [(topic, NoteOutcome(topic.name, note.key)) for note, topic in drafts.values()]
    return ImportedNotes(
        tuple(outcome for topic, outcome in outcomes if not topic.path),
        tuple(outcome for topic, outcome in outcomes if topic.path),
        unchanged,
        tuple(refused),
        tuple(warnings),
        commit,
    )


def _save(
    memory: NotesMemory, drafts: dict[str, tuple[HostNote, Topic]], stores: Sequence[HostStore]
) -> list[NoteOutcome]:
    """Save all drafts as one commit, or one by one where one of them is refused; those refused leave `drafts`."""
    reason = f"import from {', '.join(dict.fromkeys(store.path.name for store in stores))}"
    refused: list[NoteOutcome] = []
    try:
        memory.save_many([topic for _, topic in drafts.values()], reason=reason)
    except Refused:
        for key, (note, topic) in list(drafts.items()):
            try:
                memory.save_many([topic], reason=reason)
            except Refused as refusal:
                refused.append(NoteOutcome(topic.name, note.key, str(refusal)))
                del drafts[key]
    memory.index.sweep()
    rows = []
    for key, (note, topic) in drafts.items():
        path = topic.path or memory.index.find_path_by_name(topic.name) or ""
        rows.append(_ImportedNote(key, _digest(note), path, _digest_text(topic.body)))
    _append_imported(memory, rows)
    return refused


def _draft(
    memory: NotesMemory, store: HostStore, note: HostNote, trust: Trust, before: _ImportedNote | None, names: set[str]
) -> Topic | None:
    """A note as a memory; None when it is here already, or was edited or forgotten here since it came.

    Raises: `Refused` when it holds a secret.
    """
    from reverie.memory.drafts import same_text

    text = f"{note.name}\n{note.description}\n{note.body}"
    if rules := sorted({finding.rule for finding in scan(text)}):
        raise Refused(f"it contains a possible secret ({', '.join(rules)})", by="secret scan")
    kind = MemoryType(note.type) if note.type in set(MemoryType) else MemoryType.project
    if trust is Trust.seen and kind in (MemoryType.user, MemoryType.feedback):
        kind = MemoryType.project
    is_always = note.is_always and trust is not Trust.seen
    topic = Topic(
        "",
        note.name[:_NAME_CHARS],
        note.description,
        kind,
        note.body,
        trust,
        note.observed,
        when=When(always=is_always, files=note.globs) if is_always or note.globs else None,
        sources=(Source(session=f"import:{store.format}", message=note.key),),
    )
    if before is not None:
        return _update(memory, topic, before)
    if same_text(memory.index, topic) is not None:
        return None
    return replace(topic, name=_free_name(topic.name, note.path.name, names))


def _update(memory: NotesMemory, topic: Topic, before: _ImportedNote) -> Topic | None:
    """The memory that came of an earlier state of a note, brought up to date; None where somebody changed it here."""
    with suppress(UserMistake):
        stored = memory.read(before.path) if before.path else None
        if stored is not None and _digest_text(stored.body) == before.body:
            topic = replace(topic, path=stored.path, name=stored.name, pinned=stored.pinned, asks=stored.asks)
            return replace(topic, about=stored.about, extra=stored.extra)
    return None


def _free_name(name: str, origin: str, taken: set[str]) -> str:
    """A name that no memory has: an import updates none that it did not bring."""
    spelt = name
    for number in count(1):
        if spelt.casefold() not in taken:
            break
        spelt = f"{name} ({origin})" if number == 1 else f"{name} ({origin} {number})"
    return spelt


def export_notes(
    memory: NotesMemory, target: MemoryTarget, place: Path, *, max_bytes: int, now: datetime, dry_run: bool
) -> ExportedNotes:
    """Write the memories that an agent may see to its files; say which were left out and why."""
    notes: list[HostNote] = []
    skipped: list[NoteOutcome] = []
    came_from = {row.path for row in _read_imported(memory).values() if _came_from(memory, row, place)}
    for topic in sorted(memory.topics(), key=_rank):
        reason = "it came from there" if topic.path in came_from else _find_reason_to_skip(topic, target, now)
        if reason:
            skipped.append(NoteOutcome(topic.name, topic.path, reason))
        else:
            notes.append(_note(memory, topic))
    plan = plan_export(target, place, notes, max_bytes=max_bytes)
    if not dry_run:
        apply_export(target, place, plan)
    return ExportedNotes(plan, len(notes) - plan.left_out, tuple(skipped))


def remove_export(target: MemoryTarget, place: Path, *, dry_run: bool) -> ExportedNotes:
    """Take out of an agent's files what an export wrote there."""
    plan = plan_removal(target, place)
    if not dry_run:
        apply_export(target, place, plan)
    return ExportedNotes(plan)


def _find_reason_to_skip(topic: Topic, target: MemoryTarget, now: datetime) -> str:
    text = f"{topic.name}\n{topic.description}\n{topic.body}"
    if rules := sorted({finding.rule for finding in scan(text)}):
        return f"it contains a possible secret ({', '.join(rules)})"
    if is_expired(topic, now):
        return f"it expired on {topic.expires}"
    if flags(text):
        return "its text looks like an injected instruction (`reverie doctor`)"
    if topic.trust is Trust.seen and target.is_loaded:
        return "it was only seen in a file or a page, and this file is read as instructions"
    if target.is_shared and find_private_reason(topic):
        return "it is about one person, and this file belongs to the project"
    return ""


def _rank(topic: Topic) -> tuple[bool, bool, int, str]:
    is_always = topic.when is not None and topic.when.always
    return not topic.pinned, not is_always, _ORDER.index(topic.type), topic.path


def _note(memory: NotesMemory, topic: Topic) -> HostNote:
    stem = topic.path.removesuffix(".md").replace("/", "_")
    place = memory.directory / topic.path
    return HostNote(
        stem,
        topic.name,
        topic.body or topic.description,
        place,
        description=f"{topic.description} ({_SEEN})" if topic.trust is Trust.seen else topic.description,
        type=topic.type or "",
        globs=topic.when.files if topic.when else (),
        observed=topic.observed,
    )


def _key(memory: NotesMemory, note: HostNote) -> str:
    """The place of a note: inside the project wherever that lies, elsewhere by its whole path."""
    file = note.path.resolve()
    root = None if memory.root is None else memory.root.resolve()
    inside = root is not None and file.is_relative_to(root)
    return f"{file.relative_to(root) if root is not None and inside else file}|{note.key}"


def _came_from(memory: NotesMemory, row: _ImportedNote, place: Path) -> bool:
    """Whether an imported note stood in the files of a place."""
    file = ((memory.root or Path()) / row.key.partition("|")[0]).resolve()
    return bool(row.path) and file.is_relative_to(place.resolve())


def _digest(note: HostNote) -> str:
    return _digest_text("\0".join((note.name, note.description, note.type, *note.globs, note.body)))


def _digest_text(text: str) -> str:
    return hashlib.sha256(text.strip().encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _file(memory: NotesMemory) -> Path:
    return memory.scope.folder.state / "imported.jsonl"


def _read_imported(memory: NotesMemory) -> dict[str, _ImportedNote]:
    """What was imported, the last line of a key counts; lines that cannot be read are passed over."""
    try:
        rows = _file(memory).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return {}
    imported: dict[str, _ImportedNote] = {}
    for row in rows:
        with suppress(ValueError, KeyError, TypeError):
            record = json.loads(row)
            imported[record["key"]] = _ImportedNote(record["key"], record["digest"], record["path"], record["body"])
    return imported


def _append_imported(memory: NotesMemory, rows: Iterable[_ImportedNote]) -> None:
    lines = [
        json.dumps({"key": row.key, "digest": row.digest, "path": row.path, "body": row.body}, ensure_ascii=False)
        for row in rows
    ]
    append_lines(_file(memory), lines)


def _diff(change: PlannedFile) -> str:
    before, after = (each.splitlines(keepends=True) if each else [] for each in (change.before, change.after))
    old, new = (str(change.path) if each is not None else "/dev/null" for each in (change.before, change.after))
    rows = difflib.unified_diff(before, after, old, new)
    return "".join(row if row.endswith("\n") else f"{row}\n" for row in rows)
