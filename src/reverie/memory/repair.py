"""Checks a memory, and makes the repairs that need no question."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reverie.memory.doctor import DoctorContext, Problem, find_problems, list_leftovers
from reverie.memory.project_repository import has_commit, has_word

if TYPE_CHECKING:
    from datetime import datetime

    from reverie.memory.search.topic_index import IndexedFolder
    from reverie.memory.store.topic_store import Store


def problems_of(store: Store, indexed: IndexedFolder, root: Path | None, now: datetime) -> tuple[Problem, ...]:
    """Everything that is wrong with a directory."""
    indexed.sweep()
    world = DoctorContext(now)
    if root is not None:
        world = DoctorContext(now, root, lambda commit: has_commit(root, commit), lambda word: has_word(root, word))
    return find_problems(indexed, store.history, world)


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
    done.append(f"rebuilt the search index over {len(indexed)} memories")
    return tuple(done)
