"""Erases a topic from the directory, the whole history, the search index, spills and, if asked, transcripts.

The history is rewritten under the writer's lock; old commit ids are mapped to new ones. Copies elsewhere cannot be
reached and are named. An erased topic that is imported again is refused by the hashes of `erased_sentences.py`; a copy
that imports from here drops it because of a tombstone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import quote

from reverie.files import append_lines, flush
from reverie.memory.store.bundle import EXPORTS
from reverie.memory.store.change import Change, without_quotes
from reverie.memory.store.erased_sentences import extract_topic_text, recognisable_sentences, remember_erased
from reverie.memory.store.git.commits import read_blobs
from reverie.memory.store.git.rewrite import RewriteRules, list_remotes, move_references, object_names, write_rewritten
from reverie.memory.store.history import UNFINISHED, History, finish_erasing, packing_stopped
from reverie.memory.store.past import log, names_of, read_at
from reverie.memory.store.redact import write_redacted
from reverie.memory.store.tombstones import write_tombstone
from reverie.memory.store.worktree import ARCHIVE, ARCHIVED_SUFFIX, CONFLICTS, INDEX_FILE, blob_id
from reverie.memory.store.writer import Writer
from reverie.values import value


@value
class ErasureResult:
    """What was done, and what could not be."""

    commit: str | None
    paths: tuple[str, ...]
    """The names the topic had."""
    redacted: tuple[Path, ...]
    """Spills and transcripts that held its text."""
    elsewhere: tuple[str, ...]
    """Copies beyond our reach: remotes and exported bundles."""
    kept_by: tuple[str, ...] = ()
    """Other files that hold, or once held, exactly the same bytes; they were not asked for."""


def erase(writer: Writer, path: str, *, redact: Iterable[Path] = ()) -> ErasureResult:
    """Erase the topic that has or had this path; `redact` names the files outside that may quote it.

    Only inside `writing`. Its text, in all its versions, is taken out of the files; machines may not learn it again.
    """
    history = writer.history
    if not history.is_on:
        return _erase_without_history(writer, path, redact)
    names = _all_names(history, path)
    versions = _versions(history, names)
    texts = tuple(dict.fromkeys(extract_topic_text(content) for content in versions.values()))
    quoted = [source.quote for commit in log(history, path) for source in commit.change.sources if source.quote]
    needles = tuple(dict.fromkeys(piece for text in [*texts, *quoted] for piece in recognisable_sentences(text)))
    commit = writer.commit(dict.fromkeys(names), Change("user", "erase a topic"))
    remember_erased(history.private, texts)
    write_tombstone(history.private, texts)
    with packing_stopped(history):
        replaced = write_rewritten(history.git, _rules(frozenset(names), _titles(versions), needles))
        append_lines(history.private / "rewritten", [f"{old} {new}" for old, new in replaced.items() if old != new])
        (history.private / UNFINISHED).write_text("", encoding="ascii")
        move_references(history.git)
        finish_erasing(history)
    history.reload()
    _write_index_files(writer)
    remaining = {oid.hex() for oid in versions} & object_names(history.git)
    kept_by = tuple(path for path, entry in history.entries.items() if entry.oid.hex() in remaining)
    redacted = write_redacted(redact, needles)
    return ErasureResult(
        replaced.get(commit or "", commit), names, redacted, _elsewhere(history), kept_by or tuple(remaining)
    )


def _titles(versions: Mapping[bytes, bytes]) -> set[str]:
    """The names the topic had."""
    return {extract_topic_text(content).partition("\n")[0].strip() for content in versions.values()} - {""}


def _write_index_files(writer: Writer) -> None:
    """Bring index files to what the rewritten history holds: a person may have quoted the topic in one."""
    committed = {path: entry.oid for path, entry in writer.history.entries.items() if path.endswith(INDEX_FILE)}
    contents = read_blobs(writer.history.git, committed.values())
    files = {path: contents[oid] for path, oid in committed.items() if writer.tree.read(path) != contents[oid]}
    flush(writer.tree.write_drafts(files))
    writer.tree.write_in_place(files)
    flush(writer.tree.folders(files))
    for path in files:
        writer.tree.draft(path).unlink(missing_ok=True)


def _erase_without_history(writer: Writer, path: str, redact: Iterable[Path]) -> ErasureResult:
    text = extract_topic_text(writer.tree.read(path) or b"")
    writer.commit({path: None}, Change("user", "erase a topic"))
    remember_erased(writer.history.private, (text,))
    return ErasureResult(None, (path,), write_redacted(redact, recognisable_sentences(text)), ())


def _all_names(history: History, path: str) -> tuple[str, ...]:
    """The paths the topic ever had, in the archive too, and those of its conflict copies."""
    names = names_of(history, path)
    copies = tuple(f"{CONFLICTS}/{name.replace('/', '__')}." for name in names)
    archived = {f"{ARCHIVE}/{name}{ARCHIVED_SUFFIX}" for name in names}
    ever = dict.fromkeys(each for commit in log(history) for each in commit.paths)
    beside = [each for each in ever if each in archived or each.startswith(copies)]
    return tuple(dict.fromkeys((*names, *beside)))


def _versions(history: History, names: Iterable[str]) -> dict[bytes, bytes]:
    """Every content these paths ever had."""
    contents: dict[bytes, bytes] = {}
    for commit in log(history):
        touched = [name for name in names if name in commit.paths]
        for content in read_at(history, commit.commit, touched).values() if touched else ():
            if content is not None:
                contents[blob_id(content)] = content
    return contents


def _rules(names: frozenset[str], titles: Iterable[str], needles: tuple[str, ...]) -> RewriteRules:
    telling = [text.casefold() for text in (*names, *titles, *needles)]
    links = {f"({spelling})" for name in names for spelling in (name, f"<{name}>", quote(os.fsencode(name)))}
    folded = [needle.casefold() for needle in needles]

    def keeps(row: str) -> bool:
        return not any(link in row for link in links) and not any(needle in row.casefold() for needle in folded)

    def says_too_much(row: str) -> bool:
        return any(text in row.casefold() for text in telling)

    def index_without(content: bytes) -> bytes:
        rows = content.decode("utf-8", "surrogateescape").splitlines(keepends=True)
        return "".join(row for row in rows if keeps(row)).encode("utf-8", "surrogateescape")

    return RewriteRules(
        is_erased=names.__contains__,
        is_rewritten=lambda path: path.rpartition("/")[2] == INDEX_FILE,
        content=index_without,
        message=lambda message: without_quotes(message, says_too_much=says_too_much),
    )


def _elsewhere(history: History) -> tuple[str, ...]:
    try:
        exported = (history.private / EXPORTS).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        exported = []
    return tuple(dict.fromkeys((*list_remotes(history.git.directory), *exported)))
