"""Exports a memory with its whole history to one file, and imports such a file.

The file is a ZIP of `manifest.json` and `history.bundle`, the latter an ordinary git bundle. What comes in is merged
file by file; where both sides changed the same place ours stays, and theirs is kept as a conflict copy. What was erased
at its source is dropped here too (`tombstones.py`).
"""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from reverie.errors import UserMistake
from reverie.files.durable import translate_os_errors
from reverie.memory.store.change import Change
from reverie.memory.store.erased_sentences import extract_topic_text, remember_erased
from reverie.memory.store.git.commits import read_blobs, read_tree, write_pending
from reverie.memory.store.git.repository import Git
from reverie.memory.store.history import History
from reverie.memory.store.tombstones import Tombstone, add_tombstones, parse_tombstones, tombstone_rows
from reverie.memory.store.worktree import INDEX_FILE, is_safe_path, is_topic_path
from reverie.memory.store.writer import Writer, conflict_path, merge_bytes
from reverie.values import value

FORMAT = "reverie-memory"
VERSION = 1
_MANIFEST = "manifest.json"
_BUNDLE = "history.bundle"
EXPORTS = "exports"
"""Where bundles of this history went, one path a line; `erase` names them."""


@value
class Imported:
    """What a bundle brought."""

    commit: str | None
    paths: tuple[str, ...]
    conflicts: tuple[str, ...]
    erased: tuple[str, ...] = ()
    """Topics that were here and had been erased there; they are gone from the directory, not from its history."""


def write_bundle(history: History, target: Path, *, now: datetime) -> Path:
    """Write the history into one file."""
    if history.head is None:
        raise UserMistake(f"nothing to export: {history.directory} has no history yet")
    with tempfile.TemporaryDirectory() as scratch:
        bundle = Path(scratch) / _BUNDLE
        history.git.run("bundle", "create", "--quiet", str(bundle), "HEAD", "--branches")
        topics = sum(map(is_topic_path, history.entries))
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "head": history.head,
            "made": now.isoformat(),
            "topics": topics,
            "tombstones": tombstone_rows(history.private),
        }
        draft = target.with_name(f".{target.name}.new")
        try:
            with translate_os_errors("write", target), zipfile.ZipFile(draft, "w") as archive:
                archive.writestr(_MANIFEST, json.dumps(manifest, indent=2))
                archive.write(bundle, _BUNDLE)
            draft.replace(target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
    with (history.private / EXPORTS).open("a", encoding="utf-8") as file:
        file.write(f"{target.resolve()}\n")
    return target


def import_bundle(
    writer: Writer,
    source: Path,
    *,
    allow: Callable[[Mapping[str, bytes], Mapping[str, bytes]], None],
    merge_index: Callable[[str, str, str], str],
) -> Imported:
    """Bring a bundle into the directory, with its history. Only inside `writing`.

    `allow` sees every file and every object of the history before anything is stored, and may raise to refuse;
    `merge_index` makes one index of the base's, mine and theirs.
    """
    history = writer.history
    with tempfile.TemporaryDirectory() as scratch:
        bundle, head, tombstones = _read_bundle(source, Path(scratch))
        git = _unbundle(history, bundle, Path(scratch))
        theirs = _read_checked_files(git, head, source)
        incoming = {path: content for path, content in theirs.items() if is_topic_path(path) or path == INDEX_FILE}
        allow(incoming, _all_contents(git))
        history.git.run("bundle", "unbundle", str(bundle))
    if not any(path != INDEX_FILE for path in history.entries) and history.head is None:
        write_pending(history.git, head)
        writer.recover()
        list(writer.commit_external_edits(0))
        imported = Imported(head, tuple(theirs), ())
    else:
        imported = _merge(writer, head, theirs, source.name, merge_index)
    return replace(imported, erased=_drop_erased(writer, add_tombstones(history.private, tombstones)))


def _drop_erased(writer: Writer, tombstones: Collection[Tombstone]) -> tuple[str, ...]:
    """Take out the topics that were erased elsewhere; machines may not learn them again."""
    texts: dict[str, str] = {}
    for path in filter(is_topic_path, writer.history.entries) if tombstones else ():
        text = extract_topic_text(writer.tree.read(path) or b"")
        if any(each.covers(text) for each in tombstones):
            texts[path] = text
    writer.commit(dict.fromkeys(texts), Change("import", "drop what was erased in another copy"))
    if texts:
        remember_erased(writer.history.private, tuple(texts.values()))
    return tuple(texts)


def _read_bundle(source: Path, scratch: Path) -> tuple[Path, str, tuple[Tombstone, ...]]:
    try:
        with zipfile.ZipFile(source) as archive:
            manifest = json.loads(archive.read(_MANIFEST))
            if manifest.get("format") != FORMAT or manifest.get("version") != VERSION:
                raise UserMistake(f"{source} is not a memory bundle of version {VERSION}")
            bundle = scratch / _BUNDLE
            bundle.write_bytes(archive.read(_BUNDLE))
    except (zipfile.BadZipFile, KeyError, ValueError, AttributeError, RecursionError) as error:
        raise UserMistake(f"{source} is not a memory bundle: {error}") from error
    except FileNotFoundError as error:
        raise UserMistake(f"{source} does not exist; name a file written by `reverie export`") from error
    except OSError as error:
        raise UserMistake(f"cannot read {source}: {error.strerror}; name a file written by `reverie export`") from error
    head = str(manifest.get("head", ""))
    if len(head) != 40 or set(head) - set("0123456789abcdef"):
        raise UserMistake(f"{source} does not name its last commit")
    rows = manifest.get("tombstones", [])
    return bundle, head, parse_tombstones(rows if isinstance(rows, list) else [])


def _unbundle(history: History, bundle: Path, scratch: Path) -> Git:
    """The bundle in a repository of its own, so that a refused one leaves nothing behind."""
    git = Git(history.git.program, scratch / "incoming.git", scratch)
    replace(git, trusts_settings=True).run("init", "--quiet", "--template=")
    git.run("bundle", "unbundle", str(bundle))
    return git


def _read_checked_files(git: Git, head: str, source: Path) -> dict[str, bytes]:
    tree = read_tree(git, head)
    unsafe = sorted(path for path in tree if not is_safe_path(path))
    if unsafe:
        raise UserMistake(f"{source} contains a path outside the memory directory: {unsafe[0]!r}; nothing was imported")
    blobs = read_blobs(git, tree.values())
    return {path: blobs[oid] for path, oid in tree.items()}


def _all_contents(git: Git) -> dict[str, bytes]:
    """Every object of the history that holds words: contents, commits, tags and the names of files."""
    listed = git.run("cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)").decode()
    contents = read_blobs(git, [bytes.fromhex(row.split(" ")[1]) for row in listed.splitlines()])
    return {oid.hex(): content for oid, content in contents.items()}


def _merge(
    writer: Writer,
    head: str,
    theirs: Mapping[str, bytes],
    name: str,
    merge_index: Callable[[str, str, str], str],
) -> Imported:
    history = writer.history
    common = history.git.run("merge-base", "HEAD", head, accept=(0, 1)).decode().strip()
    if common == head:
        return Imported(None, (), ())
    base = read_tree(history.git, common or None)
    base_contents = read_blobs(history.git, base.values())
    files: dict[str, bytes | None] = {}
    conflicts: list[str] = []
    for path in {**theirs, **base}:
        before = base_contents[base[path]] if path in base else None
        mine, other = writer.tree.read(path), theirs.get(path)
        if path == INDEX_FILE:
            texts = ((each or b"").decode("utf-8", "surrogateescape") for each in (before, mine, other))
            files[path] = merge_index(*texts).encode("utf-8", "surrogateescape")
            continue
        if other in (before, mine):
            continue
        if mine == before:
            files[path] = other
            continue
        merged = merge_bytes(path, before or b"", mine, other) if mine is not None and other is not None else None
        if merged is not None:
            files[path] = merged
        elif mine is None:
            files[path] = other
        elif other is not None:
            conflicts.append(path)
            files[conflict_path(path, other)] = other
    commit = writer.commit(files, Change("import", f"import {name}", merges=head))
    return Imported(commit, tuple(path for path in files if path != INDEX_FILE), tuple(conflicts))
