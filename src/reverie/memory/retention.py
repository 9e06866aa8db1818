"""How long transcripts and spilled tool results stay on disk: what has expired, and its removal.

The choice is pure. Sessions that a memory cites as its source can be kept, so that `why` still leads somewhere.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class SessionFile:
    """One file that a session left behind."""

    path: Path
    kind: Literal["transcript", "spill"]
    session: str
    modified: datetime
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Retention:
    """The rules; None keeps for ever."""

    transcript_days: float | None = None
    spill_days: float | None = 30.0
    """The usual period after which hosts sweep their tool results (spec 8 §1.1)."""
    spill_total_bytes: int | None = 1_000_000_000
    """All spills of a project together; the oldest go first."""


def expired(
    files: Iterable[SessionFile], rules: Retention, *, now: datetime, keep: Collection[str] = ()
) -> tuple[SessionFile, ...]:
    """What the rules say is to go, oldest first; nothing of the sessions in `keep`."""
    candidates = sorted(
        (file for file in files if file.session not in keep), key=lambda file: (file.modified, file.path)
    )
    days = {"transcript": rules.transcript_days, "spill": rules.spill_days}
    gone = [file for file in candidates if _is_older(file, days[file.kind], now)]
    if rules.spill_total_bytes is not None:
        left = [file for file in candidates if file.kind == "spill" and file not in set(gone)]
        over = sum(file.size_bytes for file in left) - rules.spill_total_bytes
        for file in left:
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


def remove_expired(files: Iterable[SessionFile]) -> tuple[Path, ...]:
    """Remove these files and the folders they leave empty; a file that vanished meanwhile is fine."""
    removed: list[Path] = []
    for file in files:
        with suppress(FileNotFoundError):
            file.path.unlink()
            removed.append(file.path)
        if file.kind == "spill":
            with suppress(OSError):
                file.path.parent.rmdir()
                file.path.parent.parent.rmdir()
    return tuple(removed)


def _session_file(path: Path, kind: Literal["transcript", "spill"], session: str) -> Iterator[SessionFile]:
    try:
        looks = os.lstat(path)
    except FileNotFoundError:
        return
    yield SessionFile(path, kind, session, datetime.fromtimestamp(looks.st_mtime, tz=UTC), looks.st_size)


def _is_older(file: SessionFile, days: float | None, now: datetime) -> bool:
    return days is not None and now - file.modified > timedelta(days=days)
