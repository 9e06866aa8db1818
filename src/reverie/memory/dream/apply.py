"""Applies a proposal: one commit under the writer's lock, merged with changes made since.

Each step stands or falls as a whole. A file that changed meanwhile is merged three-way; where that fails, or a topic to
be archived was touched, the step is left out and theirs stays. `MEMORY.md` follows by itself where topics change;
what else stands in it is the user's, and a dream leaves it alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from reverie.errors import Damaged
from reverie.memory.dream.proposal import DreamStep, reason_of
from reverie.memory.store.change import Change
from reverie.memory.store.index.catalogue import is_indexed
from reverie.memory.store.topic_store import Store
from reverie.memory.store.worktree import ARCHIVE, ARCHIVED_SUFFIX, INDEX_FILE, is_safe_path, is_topic_path
from reverie.memory.store.writer import merge_bytes
from reverie.memory.topics.polarity import MismatchKind, PolarityMismatch, find_distortion, find_mismatch
from reverie.memory.topics.topic import Trust, parse_topic
from reverie.values import value


@value
class Applied:
    """What was written."""

    commit: str | None
    steps: tuple[DreamStep, ...]
    left: tuple[tuple[DreamStep, str], ...] = ()
    """Steps that were left out, each with the reason."""


def apply_steps(
    store: Store, steps: Iterable[DreamStep], *, session: str | None = None, check: Callable[[], None] = lambda: None
) -> Applied:
    """Make these steps as one commit of the dream; `check` may stop it at the last moment by raising."""
    with store.writer.writing():
        check()
        done: list[DreamStep] = []
        refused: list[tuple[DreamStep, str]] = []
        files: dict[str, bytes | None] = {}
        for step in steps:
            changes = _files(store, step, files)
            if isinstance(changes, str):
                refused.append((step, changes))
                continue
            files |= changes
            done.append(step)
        is_first = store.writer.tree.read(INDEX_FILE) is None and any(map(is_indexed, store.history.entries))
        files |= {INDEX_FILE: b""} if is_first else {}
        commit = store.writer.commit(files, Change("dream", reason_of(done), session)) if files else None
    return Applied(commit, tuple(done), tuple(refused))


def _files(store: Store, step: DreamStep, taken: Mapping[str, bytes | None]) -> dict[str, bytes | None] | str:
    """What a step writes; a sentence when it cannot be made any more."""
    files: dict[str, bytes | None] = {}
    for path, after in step.after.items():
        if not is_safe_path(path) or not is_topic_path(path) or path in taken:
            return f"{path} cannot be written"
        text = step.before.get(path)
        before = None if text is None else text.encode()
        present = store.writer.tree.read(path)
        if after is None:
            if present != before or present is None:
                return f"{path} was changed concurrently"
            files |= {path: None, _archive_path(store, path, present, {**taken, **files}): present}
            continue
        content: bytes | None = after.encode()
        if present != before and present != content:
            if present is None or before is None or content is None:
                return f"{path} was changed concurrently"
            content = merge_bytes(path, before, content, present)
            if content is None:
                return f"{path} was changed concurrently in the same place"
        if content is not None and (distortion := _find_distortion(step, path, content)):
            return f"{path} has {distortion}"
        files[path] = content
    return files


def _find_distortion(step: DreamStep, path: str, content: bytes) -> PolarityMismatch | None:
    """In what a topic would say otherwise than the words it quotes, or than the user's own words that it changes."""
    try:
        topic = parse_topic(path, content.decode())
        before = [parse_topic(each, text) for each, text in step.before.items() if text is not None]
    except (Damaged, UnicodeDecodeError):
        return None
    old = next((each for each in before if each.path == path), None)
    if any(source.quote for source in topic.sources):
        return find_distortion(topic, old)
    if old is None or old.trust is not Trust.said or topic.description == old.description:
        return None
    earlier_text = "\n".join(f"{each.description}\n{each.body}" for each in before)
    mismatch = find_mismatch(earlier_text, topic.description, is_title=True)
    return mismatch if mismatch is not None and mismatch.kind is not MismatchKind.wording else None


def _archive_path(store: Store, path: str, content: bytes, taken: Mapping[str, bytes | None]) -> str:
    """A place in the archive that holds nothing else."""
    stem = path.removesuffix(".md")
    number = 1
    while True:
        name = f"{ARCHIVE}/{stem if number == 1 else f'{stem}.{number}'}.md{ARCHIVED_SUFFIX}"
        there = taken.get(name) or store.writer.tree.read(name)
        if there is None or (there == content and name not in taken):
            return name
        number += 1
