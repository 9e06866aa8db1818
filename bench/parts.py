"""The parts of the report: what each is about, how it is run, and what of it the README shows.

Every part is a module that measures alone (`python -m MODULE`), prints its tables and writes them with `--json`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """One section of the report."""

    name: str
    title: str
    module: str
    is_timed: bool = True
    """Whether it measures times: such parts run alone, the others beside each other."""
    is_slow: bool = False
    """Whether a quick run leaves it out."""

    def command(self, *, is_quick: bool) -> str:
        """What a person types to run it alone."""
        return f"python -m {self.module}{' --quick' if is_quick and not self.is_slow else ''}"


@dataclass(frozen=True, slots=True)
class Shown:
    """A line of the README's table: the figures of one column, ours by the labels of their rows, and others beside."""

    what: str
    part: str
    table: str
    column: str
    ours: tuple[str, ...]
    beside: tuple[str, ...] = ()


PARTS = (
    Part("recall", "Recall at work", "bench.recall.work", is_timed=False),
    Part("extraction", "Extraction without a model", "bench.extraction", is_timed=False),
    Part("fidelity", "Compaction: what is still there, and what it costs", "bench.fidelity", is_timed=False),
    Part("forks", "Forks: how much of the conversation is read from the cache", "bench.fork", is_timed=False),
    Part("secrets", "Secrets", "bench.secrets", is_timed=False),
    Part("crash", "Kills, and many writers at once", "bench.crash"),
    Part("start", "Start-up and hooks", "bench.start"),
    Part("speed", "Recall and saves in an open memory", "bench.recall.speed"),
    Part("session", "Sessions", "bench.session"),
    Part("team", "Team server", "bench.team"),
    Part("conversations", "Recall in recorded conversations", "bench.recall", is_timed=False, is_slow=True),
)

_RECALL = ("reverie, words", "reverie, vectors", "reverie, vectors and asks")
_BESIDE_RECALL = (
    "FTS5/BM25, first five",
    "FTS5/BM25 and asks, first five",
    "MiniLM, first five",
    "MiniLM and asks, first five",
    "mem0, first five",
    "basic-memory, first five",
)
README = (
    Shown(
        "memories that a request at work needs and that are shown, whole or as a line; stores by other hands",
        "recall",
        "shared",
        "must",
        _RECALL,
        _BESIDE_RECALL,
    ),
    Shown("the same, stores of our own", "recall", "own", "must", _RECALL, _BESIDE_RECALL),
    Shown(
        "requests that no memory concerns, and that get a whole one nevertheless",
        "recall",
        "shared",
        "unrelated: a whole one",
        _RECALL,
        _BESIDE_RECALL[:1],
    ),
    Shown(
        "facts that a session uses later, still in view after compaction, window of 60,000 tokens",
        "fidelity",
        "60000",
        "visible",
        ("reverie",),
        ("truncation", "LangChain Summarization, untrimmed", "OpenHands LLMSummarizingCondenser"),
    ),
    Shown(
        "extraction without a model, messages by another author: precision, English",
        "extraction",
        "held out",
        "precision",
        ("reverie, English",),
        ("cue words, English",),
    ),
    Shown(
        "the same: recall",
        "extraction",
        "held out",
        "recall",
        ("reverie, English",),
        ("cue words, English",),
    ),
    Shown(
        "a fork's conversation that is read from its parent's cache",
        "forks",
        "forks",
        "read from the cache",
        ("reverie fork",),
        ("the same conversation under another system prompt",),
    ),
    Shown(
        "secrets of every kind that a scanner of code knows, found in sentences of ten languages",
        "secrets",
        "prose",
        "found",
        ("reverie",),
        ("betterleaks alone", "detect-secrets"),
    ),
    Shown(
        "acknowledged saves lost when a writer is killed",
        "crash",
        "kills",
        "lost",
        ("reverie",),
        ("one JSON file, rewritten", "one JSON file, renamed", "SQLite, a row for each"),
    ),
    Shown(
        "acknowledged saves lost with eight writers at once",
        "crash",
        "writers",
        "lost",
        ("reverie",),
        ("one JSON file, rewritten", "one JSON file, renamed", "SQLite, a row for each"),
    ),
    Shown(
        "`reverie hook UserPromptSubmit` in a new process, 10,000 memories",
        "start",
        "commands",
        "time",
        ("reverie hook UserPromptSubmit",),
        ("python -c pass",),
    ),
    Shown(
        "`reverie recall` by words in a new process, 10,000 memories",
        "start",
        "commands",
        "time",
        ("reverie recall",),
        ("python that looks at each file",),
    ),
    Shown(
        "recall by words in an open memory of 10,000, 99th percentile",
        "speed",
        "queries 10000",
        "99th percentile",
        ("reverie, words",),
        ("FTS5 alone",),
    ),
    Shown(
        "one save in an open memory of 10,000, git included",
        "speed",
        "saves",
        "time",
        ("reverie, 10,000 memories",),
        ("git add and commit, 10,000 files",),
    ),
    Shown(
        "Enter key to first request sent, session of 100,000 tokens",
        "session",
        "sessions",
        "time",
        ("100,000 tokens: Enter to request",),
    ),
    Shown("a session file of 50 MB resumed", "session", "sessions", "time", ("a week, 50 MB: resumed",)),
    Shown(
        "unchanged pulls a second from one team server on SQLite",
        "team",
        "SQLite",
        "rate",
        ("reverie, unchanged pull",),
        ("bare ASGI answer",),
    ),
)
"""The README's table, in its order."""
