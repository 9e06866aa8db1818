"""Folds long pasted text in the prompt (it is sent in full) and attaches a pasted picture path."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

LONG_LINES = 6
LONG_CHARS = 800
_TOKEN = re.compile(r"\[pasted text (\d+): \d+ (?:lines?|characters)\]")

_PICTURES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp"})


def picture_mention(text: str) -> str | None:
    """A mention of the picture whose path was pasted or dropped, as terminals write it; None for any other text."""
    words = text.strip()
    if not words or "\n" in words or len(words) > 1_000:
        return None
    try:
        (name,) = shlex.split(words.removeprefix("file://"))
        path = Path(name).expanduser()
        is_picture = path.is_absolute() and path.suffix.lower() in _PICTURES and path.is_file()
    except (ValueError, OSError, RuntimeError):
        return None
    return f'@"{path}" ' if is_picture else None


class Pastes:
    """The long texts that were pasted into the present message."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def folded(self, text: str) -> str:
        """What to show for a pasted text: itself when it is short."""
        clean = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = clean.count("\n") + 1
        if lines < LONG_LINES and len(clean) < LONG_CHARS:
            return clean
        self._texts.append(clean)
        size = f"{lines} lines" if lines > 1 else f"{len(clean)} characters"
        return f"[pasted text {len(self._texts)}: {size}]"

    def whole(self, text: str) -> str:
        """A message with its pastes in full."""

        def pasted(found: re.Match[str]) -> str:
            number = int(found[1])
            return self._texts[number - 1] if 0 < number <= len(self._texts) else found[0]

        return _TOKEN.sub(pasted, text)

    def clear(self) -> None:
        """The message was sent."""
        self._texts.clear()
