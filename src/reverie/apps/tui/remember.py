"""`#text`: a memory in the user's own words, kept at once."""

from __future__ import annotations

from reverie.api.memory import Memory
from reverie.api.memory_parts.saving import drafted
from reverie.apps.tui.pieces import Note

NAME_CHARS = 60
KIND = "feedback"
"""What a user tells an agent in passing is how they want things done."""


def remember(memory: Memory, text: str, *, session: str) -> Note:
    """Keep a text as what the user said, and say what became of it."""
    kept = memory.keep(
        drafted(name_of(text), " ".join(text.split()), KIND, text.strip(), trust="said"),
        reason="said in the prompt",
        session=session,
    )
    done = "remembered" if kept.is_new else "brought up to date" if kept.commit else "known already"
    details = "\n".join((*kept.warnings, str(memory.directory / kept.path)))
    return Note(f"{done}: {kept.topic.name}  ({kept.path})", details=details)


def name_of(text: str) -> str:
    """The first sentence or its first words."""
    line = " ".join(text.split())
    for stop in (". ", "; ", "。", ": "):
        line = line.partition(stop)[0]
    line = line.rstrip(".。!")
    if len(line) <= NAME_CHARS:
        return line
    cut = line[:NAME_CHARS]
    return (cut.rpartition(" ")[0] or cut).rstrip() + "…"
