"""How far each transcript was read, kept with the store, so that a second run adds nothing.

One JSON line per run over a session, the last one counts. Written after the memories, so a crash in between reads the
range again, and the gate knows what came of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from reverie.files import append_lines, write_atomic
from reverie.files.places.paths import MemoryFolder
from reverie.values import value

_MOST_ROWS_PER_SESSION = 4
"""A file with more lines than this for each session is written anew."""


@value
class Learnt:
    """How far one session was read."""

    session: str
    """The name of its file."""
    last: str
    """The id of the last message that was handled."""
    messages: int
    """How many of the user's messages that were."""
    size_bytes: int = 0
    """The size of the file then: one that has not grown holds nothing new."""


def learnt_file(folder: MemoryFolder) -> Path:
    """Where the cursors of a directory lie."""
    return folder.state / "learnt.jsonl"


def read_learnt(folder: MemoryFolder) -> dict[str, Learnt]:
    """The cursor of every session; lines that cannot be read are passed over."""
    by_session: dict[str, Learnt] = {}
    for row in _rows(learnt_file(folder)):
        try:
            record = json.loads(row)
            learnt = Learnt(record["session"], record["last"], int(record["messages"]), int(record.get("size", 0)))
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
        by_session[learnt.session] = learnt
    return by_session


def append_learnt(folder: MemoryFolder, learnt: Learnt) -> None:
    """Move the cursor of a session."""
    append_lines(learnt_file(folder), [_row(learnt)])


def write_shortened(folder: MemoryFolder) -> None:
    """Leave one line for each session when there are many more; to be called before a run, not within one."""
    by_session = read_learnt(folder)
    if len(_rows(learnt_file(folder))) > _MOST_ROWS_PER_SESSION * max(len(by_session), 16):
        write_atomic(learnt_file(folder), "".join(f"{_row(each)}\n" for each in by_session.values()).encode())


def append_run(folder: MemoryFolder, run: str, commits: Sequence[str]) -> None:
    """Note which commits belong to one run of `learn`, so that all of it can be undone."""
    if commits:
        append_lines(_runs_file(folder), [json.dumps({"run": run, "commits": list(commits)})])


def read_runs(folder: MemoryFolder) -> list[tuple[str, ...]]:
    """The commits of each run of `learn` that changed something, the newest run last."""
    by_run: dict[str, list[str]] = {}
    for row in _rows(_runs_file(folder)):
        try:
            record = json.loads(row)
            by_run.setdefault(str(record["run"]), []).extend(map(str, record["commits"]))
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
    return [tuple(commits) for commits in by_run.values()]


def _runs_file(folder: MemoryFolder) -> Path:
    return folder.state / "learn-runs.jsonl"


def _rows(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []


def _row(learnt: Learnt) -> str:
    record = {"session": learnt.session, "last": learnt.last, "messages": learnt.messages, "size": learnt.size_bytes}
    return json.dumps(record, ensure_ascii=False)
