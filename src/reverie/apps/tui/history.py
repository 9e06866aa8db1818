"""Input history of earlier sessions, and moving through it. The file is private and append-only."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from reverie.errors import Error
from reverie.files import append_lines

INPUT_HISTORY = "input.jsonl"
"""Its name under our home."""
MOST_LINES = 1_000
_TAIL_BYTES = 512 * 1024


def read_input_history(path: Path) -> list[str]:
    """What was typed, the oldest first, each text once at its last place; nothing where there is no file."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
            lines = file.read().decode("utf-8", errors="replace").splitlines()
    except OSError:
        return []
    texts: dict[str, None] = {}
    for line in lines[-MOST_LINES:]:
        with suppress(ValueError, KeyError, TypeError):
            text = json.loads(line)["text"]
            if isinstance(text, str) and text.strip():
                texts.pop(text, None)
                texts[text] = None
    return list(texts)


def append_input_history(path: Path, text: str, *, project: Path, now: datetime) -> None:
    """Remember what was typed; a disk that is full forgets it."""
    record = {"text": text, "project": str(project), "when": now.isoformat(timespec="seconds")}
    with suppress(Error, OSError):
        append_lines(path, [json.dumps(record, ensure_ascii=False)], durable=False)


class Walk:
    """A place in the history. What was being typed waits at its end."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = list(texts)
        self._place = len(self._texts)
        self._draft = ""

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(self._texts)

    def add(self, text: str) -> None:
        """Something was sent; the walk starts again at the end."""
        if text in self._texts:
            self._texts.remove(text)
        self._texts.append(text)
        self._place, self._draft = len(self._texts), ""

    def older(self, typed: str) -> str | None:
        """The text before this one; None at the beginning."""
        if self._place == 0:
            return None
        if self._place == len(self._texts):
            self._draft = typed
        self._place -= 1
        return self._texts[self._place]

    def newer(self) -> str | None:
        """The text after this one, at last what was being typed; None at the end."""
        if self._place >= len(self._texts):
            return None
        self._place += 1
        return self._draft if self._place == len(self._texts) else self._texts[self._place]
