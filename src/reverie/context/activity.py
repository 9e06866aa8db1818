"""What a run of items did, in a few words: files, commands, searches. For whatever is left out with a trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from reverie.messages.blocks import ToolUse
from reverie.messages.view import Item

_VERBS = {
    "Read": "read",
    "Edit": "edited",
    "MultiEdit": "edited",
    "Write": "wrote",
    "NotebookEdit": "edited",
    "Bash": "ran",
    "PowerShell": "ran",
    "Grep": "searched for",
    "Glob": "listed",
    "WebFetch": "fetched",
    "WebSearch": "searched the web for",
}
_SUBJECTS = ("file_path", "notebook_path", "command", "pattern", "url", "query", "path", "description", "prompt")

MOST = 6
"""How many single actions are named before the rest is only counted."""


def in_short(items: Sequence[Item]) -> str:
    """The actions of these items, each named once, the most frequent first."""
    seen: Counter[str] = Counter()
    for item in items:
        for call in item.message.tool_uses:
            seen[action(call)] += 1
    if not seen:
        return "talk without tools"
    named = [name if times == 1 else f"{name} ({times} times)" for name, times in seen.most_common(MOST)]
    more = len(seen) - len(named)
    return "; ".join(named) + (f"; and {more} more" if more > 0 else "")


def action(call: ToolUse) -> str:
    """One call as a person would say it."""
    verb = _VERBS.get(call.name, f"used {call.name}")
    about = subject(call)
    return f"{verb} {about}" if about else verb


def subject(call: ToolUse, limit_chars: int = 80) -> str:
    """What a call is about: its file, command, pattern or address, on one line."""
    for key in _SUBJECTS:
        value = call.input.get(key)
        if isinstance(value, str) and value.strip():
            flat = " ".join(value.split())
            return flat if len(flat) <= limit_chars else flat[: limit_chars - 1] + "…"
    return ""
