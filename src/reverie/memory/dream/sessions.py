"""Lists sessions since a given time: changed transcripts in which the user said something."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

_HEAD_BYTES = 262_144
"""The first words of a session come after its instructions; further in nobody needs to look to know that it is one."""
_SPOKEN = re.compile(rb'"type"\s*:\s*"user"')


def list_sessions_since(
    folders: Iterable[Path], since: datetime | None, *, current: str | None = None
) -> tuple[str, ...]:
    """The ids of sessions that changed after a moment, the newest first; without the current one and empty ones."""
    found: dict[str, float] = {}
    after = since.timestamp() if since is not None else float("-inf")
    for folder in folders:
        for path in folder.glob("*.jsonl"):
            if path.stem == current or path.name.startswith("agent-"):
                continue
            with suppress(OSError):
                looks = path.stat()
                if looks.st_mtime > after and looks.st_size and _is_spoken(path):
                    found[path.stem] = max(looks.st_mtime, found.get(path.stem, 0.0))
    return tuple(sorted(found, key=lambda session: (-found[session], session)))


def _is_spoken(path: Path) -> bool:
    with path.open("rb") as file:
        return _SPOKEN.search(file.read(_HEAD_BYTES)) is not None
