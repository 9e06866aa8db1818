"""Daily logs: the agent of a long session appends what it learns; once a day is over a dream makes topics of it.

One file a day below `logs/`, whole lines only. A prompt names the pattern of the path and never the date.
"""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

from reverie.files.places.paths import MemoryFolder

_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})\.md\Z")
_TIME = re.compile(r"^[-*] (?:\d{2}:\d{2} )?")


def list_daily_logs(folder: MemoryFolder) -> tuple[tuple[date, Path], ...]:
    """Every log with its day, in order."""
    logs = []
    for path in (folder.directory / "logs").glob("*/*/*.md"):
        match = _DAY.match(path.name)
        if match and path.is_file() and not path.is_symlink():
            try:
                logs.append((date(int(match[1]), int(match[2]), int(match[3])), path))
            except ValueError:
                continue
    return tuple(sorted(logs))


def read_log_lines(path: Path, after_bytes: int = 0) -> tuple[tuple[str, ...], int]:
    """What a log says after so many bytes, item by item without its time; and how many bytes have been read in all.

    A last line that is not complete is left for the next time.
    """
    content = path.read_bytes()
    start = after_bytes if after_bytes <= len(content) else 0
    end = content.rfind(b"\n") + 1
    rows = content[start:end].decode("utf-8", "replace").splitlines() if end > start else []
    return tuple(line for row in rows if (line := _TIME.sub("", row).strip())), max(start, end)
