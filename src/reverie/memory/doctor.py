"""Finds problems of a memory directory, says what to do about them, and makes the repairs that need no question.

Each check reads and reports; only `repair` changes anything.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from reverie.amounts import format_count
from reverie.errors import Damaged, Unavailable
from reverie.files import front_matter, read_holder
from reverie.files.places.paths import MemoryFolder
from reverie.files.secret_scan import scan
from reverie.memory.project_repository import has_commit, has_word
from reverie.memory.search.topic_index import IndexedFolder, is_indexed
from reverie.memory.search.topic_table import LEFT_OUT, Indexed
from reverie.memory.store.history import History
from reverie.memory.store.index.memory_md import IndexEntry, index_for_model, parse_index
from reverie.memory.store.topic_store import Store
from reverie.memory.store.worktree import (
    CONFLICTS,
    DRAFT_PREFIX,
    INDEX_FILE,
    TEAM,
    is_topic_path,
    list_tracked,
    place_of,
)
from reverie.memory.topics.age import is_expired
from reverie.memory.topics.anchors import AnchorState, Ask, describe_anchor, read_anchor_state
from reverie.memory.topics.fields import FIELDS
from reverie.memory.topics.filenames import path_key
from reverie.memory.topics.topic import parse_topic
from reverie.messages.injection import flags
from reverie.values import value

_LARGE_CHARS = 1_000_000
"""A topic larger than this is a log or a data file that came here by mistake; it slows every search that meets it."""


@value
class Problem:
    """One thing that is wrong."""

    kind: str
    path: str
    """The whole path of the file it is about."""
    detail: str
    fix: str
    """What to do."""
    is_fixable: bool = False
    """Whether `--fix` does it."""


@value
class Remark:
    """One thing to put right by hand in a topic file that could be read only by guessing."""

    line: int | None
    text: str


@value
class DoctorContext:
    """What the checks need beside the directory."""

    now: datetime
    root: Path | None = None
    """The project that anchors are checked in."""
    has_commit: Ask | None = None
    has_word: Ask | None = None


def find_problems(store: Store, indexed: IndexedFolder, root: Path | None, now: datetime) -> tuple[Problem, ...]:
    """Everything that is wrong with a directory, in the order of kinds and paths; `root` is the project of anchors."""
    indexed.sweep()
    folder = indexed.folder
    if not folder.directory.is_dir():
        return ()
    world = DoctorContext(now)
    if root is not None:
        world = DoctorContext(now, root, lambda commit: has_commit(root, commit), lambda word: has_word(root, word))
    entries = list(indexed.topics())
    checks: Iterable[Iterator[Problem]] = (
        _find_damaged(indexed),
        _topics(folder, entries, world),
        _doubles(folder, entries),
        _index_file(folder, {entry.topic.path for entry in entries} | {each.path for each in indexed.unreadable()}),
        _links(folder),
        _leftovers(folder),
        _history(store.history),
    )
    return tuple(problem for check in checks for problem in check)


def repair(store: Store, indexed: IndexedFolder) -> tuple[str, ...]:
    """Commit what others edited, remove what killed processes left, build the derived index anew; say what was done."""
    done: list[str] = []
    folder = store.folder
    if not folder.directory.is_dir():
        return ()
    with store.writer.writing() as commits:
        if store.history.recovered:
            done.append(f"repaired the history: {store.history.recovered}")
        done += [f"committed edits made outside as {commit[:8]}" for commit in commits]
        for path in list_leftovers(folder):
            path.unlink(missing_ok=True)
            done.append(f"removed the draft {path.name}")
    indexed.remove()
    indexed.sweep()
    done.append(f"rebuilt the search index over {format_count(len(indexed), 'memory', 'memories')}")
    return tuple(done)


def list_leftovers(folder: MemoryFolder, *, old_enough: Callable[[Path], bool] = lambda _: True) -> Iterator[Path]:
    """Drafts that a killed writer left in the directory."""
    for path in sorted(folder.directory.rglob(f"{DRAFT_PREFIX}*")):
        if path.is_file() and old_enough(path):
            yield path


def _find_damaged(indexed: IndexedFolder) -> Iterator[Problem]:
    for path in sorted(path for path in list_tracked(indexed.folder) if is_topic_path(path) and not is_indexed(path)):
        detail = "the file name is not valid UTF-8; the topic is not recalled"
        yield Problem("damaged", str(place_of(indexed.folder, path)), detail, "rename the file")
    for problem in indexed.unreadable():
        place = str(place_of(indexed.folder, problem.path))
        if problem.is_secret:
            fix = f"`reverie erase {problem.path}`, then replace the secret where it is used"
            yield Problem("secret", place, f"{problem.detail}; the topic is not recalled", fix)
            continue
        yield Problem("damaged", place, problem.detail, "fix the file manually; reverie never overwrites it")


def _topics(folder: MemoryFolder, entries: Iterable[Indexed], world: DoctorContext) -> Iterator[Problem]:
    for entry in entries:
        topic = entry.topic
        place = str(place_of(folder, topic.path))
        text = entry.head + topic.body
        for suspicion in dict.fromkeys(flag.suspicion.value for flag in flags(text)):
            fix = "review the file; remove it with `reverie forget` if you did not write it"
            yield Problem("injection", place, f"the text contains {suspicion}", fix)
        if len(text) > _LARGE_CHARS:
            detail = f"the topic has {len(text):,} characters; recall shows only a part of them"
            yield Problem("oversized", place, detail, "split it into one file per subject")
        if is_expired(topic, world.now):
            yield Problem(
                "expired", place, f"expired on {topic.expires}", "set a new `expires:` date, or forget the topic"
            )
        if world.root is not None:
            yield from _anchors(entry, place, world.root, world)
        with suppress(Damaged):
            for remark in topic_remarks(topic.path, text):
                line = f"line {remark.line}: " if remark.line else ""
                fix = "edit the line" if remark.line else "add it to the file, or ignore this"
                yield Problem("front-matter", place, f"{line}{remark.text}", fix)


def topic_remarks(path: str, text: str) -> tuple[Remark, ...]:
    """Everything in a topic file that was guessed, ignored or is missing.

    Raises: `Damaged` when it cannot be read at all.
    """
    matter = front_matter.split(path, text)
    if matter is None:
        return (Remark(None, "it has no front matter: name and description are taken from its text"),)
    topic = parse_topic(path, text)
    remarks = [
        Remark(line, "this is not YAML and was read as text: put the value in quotes") for line in matter.repaired
    ]
    seen: set[str] = set()
    for entry in matter.entries:
        line = entry.first + 2
        if entry.key in seen:
            remarks.append(Remark(line, f"{entry.key!r} stands here a second time; the last one counts"))
        seen.add(entry.key)
    known_keys = {field.key for field in FIELDS}
    for key, written in topic.extra:
        if key in known_keys:
            where = matter.find(key)
            place = None if where is None else where.first + 2
            remarks.append(Remark(place, f"{key!r} cannot mean {written}; it is kept and not used"))
    if "description" not in seen:
        remarks.append(Remark(None, "it has no description: the first line of its text stands in"))
    return tuple(remarks)


def _anchors(entry: Indexed, place: str, root: Path, world: DoctorContext) -> Iterator[Problem]:
    for anchor in entry.topic.anchors:
        state = read_anchor_state(anchor, root, has_commit=world.has_commit, has_word=world.has_word)
        if state is AnchorState.broken:
            yield Problem(
                "broken-anchor", place, f"{describe_anchor(anchor)} no longer exists", "update or forget the memory"
            )
        elif state is AnchorState.changed:
            detail = f"{describe_anchor(anchor)} changed since the memory was verified"
            yield Problem(
                "changed-anchor", place, detail, "review the file; set `verified:` if the memory is still true"
            )


def _doubles(folder: MemoryFolder, entries: Iterable[Indexed]) -> Iterator[Problem]:
    by_name: dict[str, list[str]] = {}
    by_text: dict[str, list[str]] = {}
    for entry in entries:
        by_name.setdefault(path_key(entry.topic.name), []).append(entry.topic.path)
        if entry.topic.body:
            by_text.setdefault(entry.topic.body, []).append(entry.topic.path)
    for kind, groups, says in (
        ("duplicate-name", by_name, "has the same name"),
        ("duplicate-text", by_text, "has the same text"),
    ):
        for paths in groups.values():
            for path in paths[1:]:
                fix = "rename or forget one of them"
                yield Problem(kind, str(place_of(folder, path)), f"{paths[0]} {says}", fix)


def _index_file(folder: MemoryFolder, topics: set[str]) -> Iterator[Problem]:
    try:
        text = folder.index.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        if any(not path.startswith(TEAM) for path in topics):
            yield Problem("index", str(folder.index), f"{INDEX_FILE} is missing", "the next save writes it")
        return
    if rules := sorted({finding.rule for finding in scan(text)}):
        fix = "remove it from your own text in this file"
        yield Problem("secret", str(folder.index), f"{LEFT_OUT} ({', '.join(rules)})", fix)
    keys = {path_key(path) for path in topics}
    for line in parse_index(text):
        if isinstance(line, IndexEntry) and path_key(line.path) not in keys:
            detail = f"the link to {line.path} is broken"
            yield Problem("dangling-link", str(folder.index), detail, "remove the line, or restore the topic")
    if index_for_model(text)[1]:
        lines = text.count("\n")
        detail = f"{lines} lines and {len(text.encode()):,} bytes; a session loads only the beginning"
        yield Problem("oversized-index", str(folder.index), detail, "shorten your own text in it")


def _links(folder: MemoryFolder) -> Iterator[Problem]:
    """Links are not followed, since one could lead anywhere; who put one there should know."""
    for root, folders, files in os.walk(folder.directory):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for path in (Path(root, name) for name in (*folders, *sorted(files))):
            if path.is_symlink() and (path.suffix == ".md" or path.is_dir()):
                detail = f"symbolic link to {path.readlink()}; links are not followed"
                yield Problem("link", str(path), detail, "replace the link with the file itself")


def _leftovers(folder: MemoryFolder) -> Iterator[Problem]:
    for path in list_leftovers(folder):
        yield Problem("leftover", str(path), "temporary file of an interrupted process", "`reverie doctor --fix`", True)
    for copy in sorted(path for path in list_tracked(folder) if path.startswith(f"{CONFLICTS}/")):
        place = str(place_of(folder, copy))
        yield Problem(
            "conflict",
            place,
            "copy of a conflicting edit",
            "copy what is missing into the topic, then remove this file",
        )
    for lock in (folder.dream_lock,):
        holder = read_holder(lock)
        if holder is not None and not _lives(holder.pid):
            yield Problem(
                "stale-lock", str(lock), f"held by {holder}, which is no longer running", "`reverie doctor --fix`", True
            )


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _history(history: History) -> Iterator[Problem]:
    place = str(history.directory)
    if not history.is_on:
        yield Problem("no-history", place, "changes are not recorded: git is not installed or disabled", "install git")
        return
    if not history.exists:
        return
    if damage := history.find_damage():
        detail = f"{damage}, so the last commit is unknown"
        yield Problem("history", str(history.git.directory), detail, "`reverie doctor --fix`", True)
        return
    try:
        output = history.git.run("fsck", "--no-progress", "--no-dangling", "--connectivity-only", accept=range(256))
    except Unavailable as error:
        output = str(error).encode()
    for row in output.decode("utf-8", "replace").splitlines():
        if row and not row.startswith(("notice", "Checking", "dangling", "unreachable")):
            yield Problem("history", str(history.git.directory), row, "restore the history from a backup or a bundle")
