"""Scores the memory files of any agent without changing them: `reverie audit`.

Every kind of finding has a weight; together they are 100. A kind costs the share of the notes that it concerns, and at
least a quarter of its weight once there is one. Items of a list count as notes of their own, since an instruction file
is one list of rules after another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from reverie.errors import Damaged, UserMistake
from reverie.files.places import MemoryFolder, find_checkout
from reverie.files.secret_scan import scan
from reverie.hosts.memory_files import HostNote, HostStore, MemoryFormat, list_store_files, read_notes
from reverie.memory.dream.contradictions import contradictions
from reverie.memory.dream.likeness import near_pairs, statement_of
from reverie.memory.dream.tidy import FEWEST_WORDS, NEAR
from reverie.memory.store.erased_sentences import normal
from reverie.memory.store.index.memory_md import IndexEntry, index_for_model, parse_index
from reverie.memory.store.usage_log import read_counts, usage_file
from reverie.memory.topics.age import is_expired
from reverie.memory.topics.anchors import AnchorState, describe_anchor, find_missing_files, read_anchor_state
from reverie.memory.topics.topic import parse_topic
from reverie.memory.topics.value import MemoryType, Topic
from reverie.messages.injection import flags
from reverie.values import value

WEIGHTS: Mapping[str, int] = {
    "secret": 30,
    "contradiction": 20,
    "duplicate": 15,
    "stale": 15,
    "injection": 10,
    "never-used": 5,
    "index": 5,
}
"""What each kind of finding costs at most."""
_AT_LEAST = 0.25
_INSTRUCTION_BYTES = 32_768
"""Codex loads no more than this of all instruction files together."""
_SUMMARY_CHARS = 10_000
"""About 2,500 tokens, which is what Codex loads of its summary."""
_ITEM = re.compile(r"(?m)^[-*+][ \t]+(.+(?:\n[ \t]+\S.*)*)")


@value
class AuditFinding:
    """One thing that is wrong with a store."""

    kind: str
    """A key of `WEIGHTS`, or `damaged`."""
    place: str
    """The file, with its line where one is known."""
    detail: str
    notes: tuple[int, ...] = ()
    """Which notes it concerns, by their number."""


@value
class AuditReport:
    """What an audit came to."""

    stores: tuple[HostStore, ...]
    notes: int
    findings: tuple[AuditFinding, ...]
    unknown: tuple[str, ...] = ()
    """Kinds that could not be judged: nobody records what was used, or the project is not known."""

    @property
    def score(self) -> int:
        """100 for a store without findings."""
        return max(0, round(100 - sum(map(self.cost, WEIGHTS))))

    def cost(self, kind: str) -> float:
        """What a kind of finding takes from the score."""
        findings = [each for each in self.findings if each.kind == kind]
        concerned = {number for each in findings for number in each.notes}
        share = len(concerned) / self.notes if self.notes else 0.0
        return WEIGHTS[kind] * min(1.0, max(_AT_LEAST, share)) if findings else 0.0


@value
class _AuditedNote:
    """A statement to judge, as a topic whose path is the place of the note."""

    topic: Topic
    store: HostStore
    file: Path
    line: int


def audit(stores: Sequence[HostStore], root: Path | None, now: datetime) -> AuditReport:
    """Judge the notes of stores; `root` is the project that they may be about. Nothing is written."""
    notes: list[_AuditedNote] = []
    findings: list[AuditFinding] = []
    for store in stores:
        try:
            read = [note for host_note in read_notes(store, with_own=True) for note in _split(store, host_note)]
            notes += read
        except (UserMistake, Damaged) as problem:
            findings.append(AuditFinding("damaged", str(store.path), str(problem)))
        findings += _find_in_index(store)
        findings += _find_secrets(store, notes)
    uses = [_read_uses(store) for store in stores]
    checks: tuple[Callable[[], Iterable[AuditFinding]], ...] = (
        lambda: _find_contradictions(notes),
        lambda: _find_duplicates(notes),
        lambda: _find_stale(notes, root, now),
        lambda: _find_injections(notes),
        lambda: _find_unused(notes, uses),
    )
    for check in checks:
        findings += check()
    unknown = [] if any(each is not None for each in uses) else ["never-used"]
    if root is None and not any(each.kind == "stale" for each in findings):
        unknown.append("stale")
    return AuditReport(tuple(stores), len(notes), tuple(findings), tuple(unknown))


def find_project_of(stores: Sequence[HostStore], place: Path) -> Path | None:
    """The project that notes are about, by where they lie; None for a store in somebody's home."""
    checkout = find_checkout(place if place.is_dir() else place.parent)
    if checkout is not None and not any(store.format is MemoryFormat.letta for store in stores):
        return checkout.top
    is_project = any(store.format in (MemoryFormat.instructions, MemoryFormat.cursor) for store in stores)
    return (place if place.is_dir() else place.parent) if is_project else None


def _split(store: HostStore, note: HostNote) -> Iterator[_AuditedNote]:
    """A note, or the items of a list that stands in an instruction file."""
    where = note.path.name if store.path.is_file() else note.path.relative_to(store.path).as_posix()
    is_list = store.format in (MemoryFormat.instructions, MemoryFormat.codex)
    items = list(_ITEM.finditer(note.body)) if is_list else []
    if len(items) < 2:
        topic = _parse_own(store, note) or Topic(
            f"{where}:{note.line}", note.name, note.description, _type(note), note.body
        )
        yield _AuditedNote(topic, store, note.path, note.line)
        return
    for item in items:
        line = note.line + note.body[: item.start()].count("\n")
        text = " ".join(item[1].split())
        yield _AuditedNote(Topic(f"{where}:{line}", text[:80], text, _type(note), ""), store, note.path, line)


def _parse_own(store: HostStore, note: HostNote) -> Topic | None:
    """A memory of our own kind with all that its front matter says."""
    if store.format is MemoryFormat.topics:
        with suppress(Damaged, OSError, ValueError):
            return parse_topic(note.key, note.path.read_text(encoding="utf-8"))
    return None


def _type(note: HostNote) -> MemoryType | None:
    return MemoryType(note.type) if note.type in set(MemoryType) else None


def _find_secrets(store: HostStore, notes: Sequence[_AuditedNote]) -> Iterator[AuditFinding]:
    for path in list_store_files(store):
        with suppress(OSError):
            for finding in scan(path.read_text(encoding="utf-8", errors="replace")):
                before = (
                    number for number, note in enumerate(notes) if note.file == path and note.line <= finding.line
                )
                concerned = tuple(before)[-1:]
                place = f"{_name(store, path)}:{finding.line}"
                yield AuditFinding("secret", place, f"possible secret ({finding.rule})", concerned)


def _find_contradictions(notes: Sequence[_AuditedNote]) -> Iterator[AuditFinding]:
    numbers = {note.topic.path: number for number, note in enumerate(notes)}
    for each in contradictions([note.topic for note in notes]):
        one, other = each.paths
        detail = f"{each.reason}: “{each.says[0]}” against “{each.says[1]}” ({other})"
        yield AuditFinding("contradiction", one, detail, (numbers[one], numbers[other]))


def _find_duplicates(notes: Sequence[_AuditedNote]) -> Iterator[AuditFinding]:
    statements = [statement_of(note.topic) for note in notes]
    pairs = {pair for pair in near_pairs(statements, NEAR) if len(statements[pair[0]].words) >= FEWEST_WORDS}
    first: dict[str, int] = {}
    for number, note in enumerate(notes):
        text = normal(note.topic.body or note.topic.description)
        if text and first.setdefault(text, number) != number:
            pairs.add((first[text], number))
    for one, other in sorted(pairs):
        detail = f"says nearly the same as {notes[one].topic.path}: “{notes[other].topic.name}”"
        yield AuditFinding("duplicate", notes[other].topic.path, detail, (other,))


def _find_stale(notes: Sequence[_AuditedNote], root: Path | None, now: datetime) -> Iterator[AuditFinding]:
    for number, note in enumerate(notes):
        topic = note.topic
        if is_expired(topic, now):
            yield AuditFinding("stale", topic.path, f"expired on {topic.expires}", (number,))
        if root is None:
            continue
        broken = [each for each in topic.anchors if read_anchor_state(each, root) is AnchorState.broken]
        missing = dict.fromkeys(
            (*map(describe_anchor, broken), *find_missing_files(f"{topic.description}\n{topic.body}", root))
        )
        if missing:
            yield AuditFinding("stale", topic.path, f"names what is not in {root}: {', '.join(missing)}", (number,))


def _find_injections(notes: Sequence[_AuditedNote]) -> Iterator[AuditFinding]:
    for number, note in enumerate(notes):
        text = f"{note.topic.name}\n{note.topic.description}\n{note.topic.body}"
        for suspicion in dict.fromkeys(flag.suspicion.value for flag in flags(text)):
            yield AuditFinding("injection", note.topic.path, f"the text contains {suspicion}", (number,))


def _find_unused(notes: Sequence[_AuditedNote], uses: Sequence[Mapping[str, float] | None]) -> Iterator[AuditFinding]:
    counts = {path: count for each in uses if each is not None for path, count in each.items()}
    if all(each is None for each in uses):
        return
    for number, note in enumerate(notes):
        if note.store.format is MemoryFormat.topics and not counts.get(note.topic.path):
            yield AuditFinding("never-used", note.topic.path, "never recalled", (number,))


def _read_uses(store: HostStore) -> Mapping[str, float] | None:
    """How often each memory of a directory of ours was recalled; None where nobody counts."""
    folder = MemoryFolder(store.path, aside=store.path)
    return read_counts(folder) if store.format is MemoryFormat.topics and usage_file(folder).is_file() else None


def _find_in_index(store: HostStore) -> Iterator[AuditFinding]:
    """An index that is longer than what is loaded of it, or that leads nowhere."""
    name = {MemoryFormat.codex: "memory_summary.md", MemoryFormat.topics: "MEMORY.md"}.get(store.format, "")
    path = store.path / name if name and store.path.is_dir() else store.path
    if not path.is_file():
        return
    text = path.read_text(encoding="utf-8", errors="replace")
    size = len(text.encode())
    if store.format is MemoryFormat.instructions and size > _INSTRUCTION_BYTES:
        yield AuditFinding("index", path.name, f"{size:,} bytes; agents load about {_INSTRUCTION_BYTES:,}")
    if store.format is MemoryFormat.codex and len(text) > _SUMMARY_CHARS:
        yield AuditFinding("index", path.name, f"{len(text):,} characters; about {_SUMMARY_CHARS:,} are loaded")
    if store.format is MemoryFormat.topics:
        if index_for_model(text)[1]:
            lines = text.count("\n")
            yield AuditFinding("index", path.name, f"{lines} lines and {size:,} bytes; only the beginning is loaded")
        for number, line in enumerate(parse_index(text), 1):
            if isinstance(line, IndexEntry) and not (store.path / line.path).is_file():
                yield AuditFinding("index", f"{path.name}:{number}", f"the link to {line.path} is broken")


def _name(store: HostStore, path: Path) -> str:
    return path.name if store.path.is_file() else path.relative_to(store.path).as_posix()
