"""Removes transcripts and spilled tool results that have expired.

The choice is pure and goes by when a session was last used. A session that a memory cites as its source is kept, so
that `why` still leads somewhere, and one that somebody writes is left alone.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Literal

from reverie.errors import Conflict
from reverie.files import locked, read_small, remove_temporaries, write_atomic
from reverie.messages.transcript import lock_path
from reverie.settings import Settings
from reverie.values import value

_SWEPT = ".swept"
_ONCE_A_DAY = timedelta(days=1)


@value
class SessionFile:
    """One file that a session left behind."""

    path: Path
    kind: Literal["transcript", "spill"]
    session: str
    modified: datetime
    size_bytes: int


@value
class RetentionRules:
    """The rules; None keeps for ever."""

    transcript_days: float | None = None
    spill_days: float | None = 30.0
    """The usual period after which hosts sweep their tool results."""
    spill_total_bytes: int | None = 1_000_000_000
    """All spills of a project together; the oldest go first."""

    @classmethod
    def of(cls, settings: Settings) -> RetentionRules:
        """The rules that the user's settings come to."""
        retention = settings.retention
        return cls(retention.transcript_days, retention.spill_days, retention.spill_bytes)


def find_expired(
    files: Iterable[SessionFile], rules: RetentionRules, *, now: datetime, keep: Collection[str] = ()
) -> tuple[SessionFile, ...]:
    """What the rules say is to go, oldest first; nothing of the sessions in `keep`."""
    candidates = sorted(
        (file for file in files if file.session not in keep), key=lambda file: (file.modified, file.path)
    )
    used = {file.session: file.modified for file in candidates}  # in the order of time: the last one stands
    days = {"transcript": rules.transcript_days, "spill": rules.spill_days}
    gone = [file for file in candidates if _is_older(used[file.session], days[file.kind], now)]
    if rules.spill_total_bytes is not None:
        spills = [file for file in candidates if file.kind == "spill" and file not in set(gone)]
        over = sum(file.size_bytes for file in spills) - rules.spill_total_bytes
        for file in spills:
            if over <= 0:
                break
            gone.append(file)
            over -= file.size_bytes
    return tuple(sorted(gone, key=lambda file: (file.modified, file.path)))


def list_session_files(project: Path) -> Iterator[SessionFile]:
    """Transcripts (`<session>.jsonl`, and those of its sub-agents) and spills: large results, and what files held."""
    for path in sorted(project.glob("*.jsonl")):
        yield from _session_file(path, "transcript", path.stem)
    for path in sorted(project.glob("*/subagents/**/*.jsonl")):
        yield from _session_file(path, "transcript", path.relative_to(project).parts[0])
    for path in sorted([*project.glob("*/tool-results/*"), *project.glob("*/file-history/*")]):
        yield from _session_file(path, "spill", path.relative_to(project).parts[0])


def sweep_sessions(
    project: Path, rules: RetentionRules, *, now: datetime, cited: Callable[[], Collection[str]]
) -> tuple[Path, ...]:
    """Remove what has expired of a project's sessions and what killed writers left there, at most once a day.

    `cited` is asked only if something has expired.
    """
    if not _is_due(project / _SWEPT, now):
        return ()
    write_atomic(project / _SWEPT, now.isoformat(), durable=False)
    remove_temporaries(project, now=now)
    files = tuple(list_session_files(project))
    if not find_expired(files, rules, now=now):
        return ()
    gone = sorted(find_expired(files, rules, now=now, keep=cited()), key=lambda file: file.session)
    removed: list[Path] = []
    for session, its_files in groupby(gone, key=lambda file: file.session):
        writer = lock_path(project / f"{session}.jsonl")
        with suppress(Conflict), locked(writer, label="retention", now=now, timeout_seconds=0):
            removed += remove_expired(its_files)
    return tuple(removed)


def remove_expired(files: Iterable[SessionFile]) -> tuple[Path, ...]:
    """Remove these files, the folders they leave empty, and the folder of a session whose transcript is among them."""
    removed: list[Path] = []
    for file in files:
        with suppress(FileNotFoundError):
            file.path.unlink()
            removed.append(file.path)
        if file.kind == "spill":
            with suppress(OSError):
                file.path.parent.rmdir()
                file.path.parent.parent.rmdir()
        elif file.path.stem == file.session:
            shutil.rmtree(file.path.with_suffix(""), ignore_errors=True)
    return tuple(removed)


def _is_due(mark: Path, now: datetime) -> bool:
    try:
        last = datetime.fromisoformat((read_small(mark) or b"").decode("ascii"))
    except ValueError:
        return True
    return abs(now - last) >= _ONCE_A_DAY


def _session_file(path: Path, kind: Literal["transcript", "spill"], session: str) -> Iterator[SessionFile]:
    try:
        looks = os.lstat(path)
    except FileNotFoundError:
        return
    # A pipe or a device would be read for ever.
    if path.is_file():
        yield SessionFile(path, kind, session, datetime.fromtimestamp(looks.st_mtime, tz=UTC), looks.st_size)


def _is_older(used: datetime, days: float | None, now: datetime) -> bool:
    return days is not None and now - used > timedelta(days=days)
