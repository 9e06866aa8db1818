"""`#text`: a memory in the user's own words, kept at once."""

from __future__ import annotations

from reverie.api.memory import Memory
from reverie.api.memory_parts.saving import draft_from_text
from reverie.apps.tui.pieces import Note


def remember(memory: Memory, text: str, *, session: str) -> Note:
    """Keep a text as what the user said, and say what became of it."""
    kept = memory.keep(draft_from_text(memory.index, text), reason="said in the prompt", session=session)
    done = "remembered" if kept.is_new else "brought up to date" if kept.commit else "known already"
    details = "\n".join((*kept.warnings, str(memory.directory / kept.path)))
    return Note(f"{done}: {kept.topic.name}  ({kept.path})", details=details)
