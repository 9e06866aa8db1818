"""Which features are on, computed from all switches together."""

from __future__ import annotations

from reverie.settings.tree import Settings
from reverie.values import value


def find_off_reason(settings: Settings) -> str | None:
    """Why there is no memory at all, for people; None where there is."""
    if settings.memory.disabled:
        return "memory is disabled for this process (REVERIE_DISABLE_AUTO_MEMORY)"
    if settings.simple_mode:
        return "minimal mode (--bare, REVERIE_SIMPLE_MODE, CLAUDE_CODE_SIMPLE) has no memory"
    if settings.remote.mode and not (settings.remote.memory_dir or settings.memory.path_override):
        return "remote mode stores nothing on this machine; set REVERIE_REMOTE_MEMORY_DIR to a persistent directory"
    return None if settings.memory.enabled else "memory.enabled is false for this project"


@value
class Features:
    """Which parts run; each is the conjunction of everything that could forbid it."""

    rules: bool
    """The model is told how to use memory."""
    index: bool
    """`MEMORY.md` is loaded."""
    recall: bool
    """Memories are brought back at each user message."""
    extraction: bool
    """Turns are read for memories afterwards."""
    dream: bool
    """The directory is put in order now and then."""
    agent_memory: bool
    """Agents have memories of their own."""
    notes: bool
    """The session keeps notes."""
    notes_compaction: bool
    """The notes may become the summary."""
    instructions: bool
    """Instruction files are loaded."""
    hooks: bool
    """The user's scripts run."""


def features(settings: Settings, *, interactive: bool = True) -> Features:
    """Derive what runs from all switches.

    `interactive` is false where one prompt is answered and the process ends.
    Notes do not need memory, but automatic compaction; extraction and dreams never run remotely.
    """
    memory = find_off_reason(settings) is None
    full = not settings.simple_mode
    background = memory and not settings.remote.mode
    auto_compaction = settings.compaction.enabled and settings.compaction.auto
    notes = full and settings.notes.enabled and auto_compaction
    return Features(
        rules=memory,
        index=memory,
        recall=memory and settings.recall.enabled,
        extraction=background and settings.extraction.enabled and (interactive or settings.extraction.noninteractive),
        dream=background and settings.dream.enabled and not settings.memory.daily_log and interactive,
        agent_memory=memory,
        notes=notes,
        notes_compaction=notes and settings.compaction.from_notes,
        instructions=full and settings.instructions.enabled,
        hooks=full and settings.hook.enabled,
    )
