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
    Listed("save", "Save a memory.", "save", "Memory"),
    Listed("recall", "Find memories relevant to a query.", "recall", "Memory"),
    Listed("list", "List all memories.", "list", "Memory"),
    Listed("show", "Show one memory.", "show", "Memory"),
    Listed("forget", "Remove a memory; `undo` restores it.", "forget", "Memory"),
    Listed("pin", "Pin a memory to the top of the index.", "pin", "Memory"),
    Listed("learn", "Extract memories from existing transcripts.", "learn", "Memory"),
    Listed("dream", "Consolidate memories: merge duplicates, fix dates, archive outdated ones.", "dream", "Memory"),
    Listed("log", "List changes: who, what, when and why.", "log", "History"),
    Listed("diff", "Show what a change did.", "diff", "History"),
    Listed("why", "Show the sources of a memory.", "why", "History"),
    Listed("undo", "Undo a change.", "undo", "History"),
    Listed("at", "Show memories as of a date.", "at", "History"),
    Listed("erase", "Remove a memory and its history permanently.", "erase", "History"),
    Listed("export", "Export memories and their history to a file.", "export", "History"),
    Listed("import", "Import an exported file.", "import_", "History"),
    Listed("sessions", "List the sessions of this project.", "sessions", "Sessions"),
    Listed("search", "Search past sessions.", "search", "Sessions"),
    Listed("context", "Show what uses the context window of a session.", "context", "Sessions"),
    Listed("span", "Show messages that are no longer in the context window.", "span", "Sessions"),
    Listed("uncompact", "Undo a compaction.", "uncompact", "Sessions"),
    Listed("replay", "Replay recorded sessions with a context strategy.", "replay", "Sessions"),
    Listed("cost", "Show model costs by day, purpose or session.", "cost", "Sessions"),
    Listed("tasks", "List background tasks, running and finished.", "tasks", "Sessions"),
    Listed("doctor", "Check a memory for problems and fix them.", "doctor", "Setup"),
    Listed("models", "List or install models for semantic search.", "models", "Setup"),
    Listed("completion", "Print a shell completion script.", "completion", "Setup"),
    Listed("trust", "Review what a project asks you to trust.", "trust", "Setup"),
    Listed("settings", "Show settings and where their values come from.", "settings", "Setup"),
    Listed("simulate", "Run a local Messages API with a byte-exact prompt cache.", "simulate", "Setup"),
)

HIDDEN: tuple[Listed, ...] = (Listed("teammate", "Run one teammate of a team.", "teammate", ""),)
"""What the program itself runs; no help lists it."""
