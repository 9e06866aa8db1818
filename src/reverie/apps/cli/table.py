"""The commands: their names, a line of help each, and where they live. Importing this imports none of them."""

from __future__ import annotations

from reverie.values import value


@value
class Listed:
    """One command as `reverie --help` shows it."""

    name: str
    help: str
    module: str
    """The module below `reverie.apps.cli` whose `command` it is."""
    group: str


COMMANDS: tuple[Listed, ...] = (
    Listed("save", "Keep a memory.", "save", "Memory"),
    Listed("recall", "Find the memories that matter for a request.", "recall", "Memory"),
    Listed("list", "List all memories.", "list", "Memory"),
    Listed("show", "Show one memory.", "show", "Memory"),
    Listed("forget", "Remove a memory; undo brings it back.", "forget", "Memory"),
    Listed("pin", "Let a memory stand first.", "pin", "Memory"),
    Listed("learn", "Learn from transcripts that exist already.", "learn", "Memory"),
    Listed("dream", "Put the memories in order; propose what goes far.", "dream", "Memory"),
    Listed("log", "Who changed what, when and why.", "log", "History"),
    Listed("diff", "What a change did.", "diff", "History"),
    Listed("why", "What a memory rests on.", "why", "History"),
    Listed("undo", "Take one change back.", "undo", "History"),
    Listed("at", "Memory as it was on a day.", "at", "History"),
    Listed("erase", "Remove a memory for good.", "erase", "History"),
    Listed("export", "Write a memory with its history into a file.", "export", "History"),
    Listed("import", "Bring such a file in.", "import_", "History"),
    Listed("sessions", "List the sessions of this project.", "sessions", "Sessions"),
    Listed("search", "Find passages of past sessions.", "search", "Sessions"),
    Listed("context", "Show what fills the window of a session.", "context", "Sessions"),
    Listed("span", "Read messages again that were left out of the window.", "span", "Sessions"),
    Listed("uncompact", "Take a compaction back.", "uncompact", "Sessions"),
    Listed("replay", "Run recorded sessions again through a strategy of the window.", "replay", "Sessions"),
    Listed("cost", "What model calls cost, by day, purpose or session.", "cost", "Sessions"),
    Listed("tasks", "Background work, running and finished.", "tasks", "Sessions"),
    Listed("doctor", "What is wrong with a memory, and what to do.", "doctor", "Setup"),
    Listed("models", "The weights for search by meaning.", "models", "Setup"),
    Listed("completion", "Let your shell complete commands.", "completion", "Setup"),
    Listed("trust", "What came with the project and waits for your word.", "trust", "Setup"),
    Listed("settings", "Show every setting and where its value comes from.", "settings", "Setup"),
    Listed("simulate", "Run a local Messages API with a byte-exact prompt cache.", "simulate", "Setup"),
)

HIDDEN: tuple[Listed, ...] = (Listed("teammate", "Play a member of a team.", "teammate", ""),)
"""What the program itself runs; no help lists it."""
