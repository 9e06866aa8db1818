"""`#text`: a memory in the user's own words, kept at once."""

from __future__ import annotations

from reverie.apps.tui.pieces import Note
from reverie.memory.drafts import draft_from_text
from reverie.memory.memory import Memory


def remember(memory: Memory, text: str, *, session: str) -> Note:
    """Keep a text as what the user said, and say what became of it."""
    kept = memory.keep(draft_from_text(memory.index, text), reason="said in the prompt", session=session)
    done = "remembered" if kept.is_new else "updated" if kept.commit else "already known"
    details = "\n".join((*kept.warnings, str(memory.directory / kept.path)))
    return Note(f"{done}: {kept.topic.name}  ({kept.path})", details=details)
