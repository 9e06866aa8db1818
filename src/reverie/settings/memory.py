"""Settings of what lasts: the memory directory, its index, recall and the background writers.

Numbers come from `spec 2`, `spec 5` and `spec 6 §5-7`; where the product page decides otherwise, it is named.
"""

from reverie.settings.area import area
from reverie.settings.bounds import Amount, Count, OnlyLower, Personal, Positive, Process, Share


@area
class MemorySettings:
    """Whether there is memory, where it lies and what the model is told about it."""

    enabled: bool = True
    """Memory of the project, all of it (spec 2 §2.2, `autoMemoryEnabled`)."""
    disabled: Process[bool] = False
    """Turn memory off for this process, whatever the files say (spec 3 §10, `DISABLE_AUTO_MEMORY`)."""
    directory: Personal[str | None] = None
    """A directory of your own, absolute or from `~/`; a file's that cannot be used is passed over (spec 2 §2.1)."""
    path_override: Process[str | None] = None
    """The directory for this process; goes before `directory` (spec 3 §10, `MEMORY_PATH_OVERRIDE`)."""
    extra_guidelines: Personal[str] = ""
    """Text added to the rules that the model gets (spec 3 §10, `MEMORY_EXTRA_GUIDELINES`)."""
    skip_index: bool = True
    """Leave the index step out of the rules, because the index is generated (product §6)."""
    search_past_context: bool = True
    """Tell the model how to search memory files and transcripts (spec 2 §14)."""
    daily_log: bool = False
    """Append to daily logs instead of topics, for sessions that live for days (spec 2 §13)."""
    history: Personal[bool] = True
    """Keep every change as a commit, so that it can be traced and undone (product §3)."""


@area
class IndexSettings:
    """`MEMORY.md`, the list of topics."""

    max_lines: Positive = 200
    """Lines that are loaded (spec 2 §5)."""
    max_bytes: Positive = 25_000
    """And bytes, after the lines are cut (spec 2 §5)."""


@area
class AgeSettings:
    """How old a memory may be before it is doubted."""

    fresh_max_days: Count = 1
    """Age up to which no warning is given (spec 2 §8)."""
    half_life_user_days: Positive = 365
    """Days after which a user memory is called old, and expected to have changed."""
    half_life_feedback_days: Positive = 365
    """The same for feedback (product §6)."""
    half_life_project_days: Positive = 45
    """The same for project: deadlines and ongoing work age fast (product §6; spec 2 §4)."""
    half_life_reference_days: Positive = 180
    """The same for reference (product §6)."""


@area
class RecallSettings:
    """Memories that are brought back for the present request."""

    enabled: bool = True
    """Recall at each user message (product §6; spec 3 §9 has it off)."""
    max_files: Count = 5
    """Most memories per turn (spec 2 §7.4)."""
    min_words: Count = 2
    """A shorter message recalls nothing (spec 2 §7.1)."""
    min_unspaced_chars: Count = 4
    """The same in characters, for scripts that write no spaces (product §6)."""
    words_timeout_seconds: Amount = 10.0
    """How long a request waits for the answer by words; a safety limit, for it takes milliseconds."""
    vectors_timeout_seconds: Amount = 1.0
    """How long it then waits for the answer by vectors, where they are installed; loading them takes longest."""
    rerank: bool = True
    """Let a model choose among the best candidates, when one is set (product §6)."""
    rerank_candidates: Positive = 50
    """Candidates shown to that model (product §6)."""
    timeout_seconds: Amount = 2.5
    """How long a request then waits for its choice; a later one joins the next request."""
    selector_tokens: Positive = 256
    """Longest reply of that model (spec 2 §7.4)."""
    file_lines: Positive = 200
    """Most lines shown of one memory (spec 2 §7.5)."""
    file_bytes: Positive = 4_096
    """Most bytes shown of one memory (spec 2 §7.5)."""
    turn_bytes: Count = 20_480
    """Most bytes shown in one turn (spec 2 §7.5)."""
    session_bytes: Count = 60_000
    """Bytes in view after which recall pauses (spec 2 §7.5)."""
    show_again_tokens: Count = 50_000
    """Tokens after which a memory already shown may return (product §6)."""


@area
class ExtractionSettings:
    """After a turn, what it taught is written down."""

    enabled: bool = True
    """Extract memories (product §6; spec 3 §9 has it off)."""
    noninteractive: bool = False
    """Also when one prompt is answered and the process ends (spec 3 §9)."""
    every_n_turns: Positive = 1
    """Turns between two runs (spec 2 §10.3)."""
    prefilter: bool = True
    """Skip turns in which a cheap local look finds nothing to keep (product §6)."""
    max_rounds: Positive = 5
    """Rounds a run may take (spec 2 §10.3)."""
    max_retries: Count = 2
    """Further tries on messages that failed; then they are skipped and reported (product §6)."""
    drain_seconds: Amount = 60.0
    """How long the end of the process waits for a run (spec 2 §10.9)."""


@area
class DreamSettings:
    """Now and then the memory directory is put in order."""

    enabled: bool = True
    """Dream (product §6)."""
    min_hours: Amount = 24.0
    """Hours since the last one (spec 2 §11.1)."""
    min_sessions: Count = 5
    """Other sessions since the last one (spec 2 §11.1)."""
    scan_interval_minutes: Amount = 10.0
    """Pause before the sessions are counted again (spec 2 §11.1)."""
    lock_stale_minutes: Amount = 60.0
    """Age at which a dream's lock no longer binds (spec 2 §11.2)."""
    max_rounds: Positive = 30
    """Rounds it may take (product §6)."""
    view_messages: Positive = 30
    """Messages that its live view keeps (spec 2 §11.4)."""
    search_hits: Positive = 50
    """Hits shown per search of transcripts (spec 2 §11.3)."""


@area
class BudgetSettings:
    """What work may cost; whichever limit is reached first stops it, visibly."""

    background_fraction: OnlyLower[Share] = 0.10
    """Share of the session's spend that background work may have (product §6)."""
    background_usd_per_hour: OnlyLower[Amount] = 0.50
    """US dollars per hour that background work may cost (product §6)."""
    session_usd: OnlyLower[Amount | None] = None
    """US dollars that a whole session may cost; none means no limit (product §2, promise 5)."""
    turn_tokens: OnlyLower[Positive | None] = None
    """Tokens that the answers of one turn may have together; the model is told, and then it stops (spec 3 §4)."""
    turn_rounds: OnlyLower[Positive] = 200
    """Model calls that one turn may take where nothing else limits it; then it stops, and the next words go on."""


@area
class RemoteSettings:
    """Operation on a machine that keeps nothing."""

    mode: Personal[bool] = False
    """Remote: no extraction, no dream, and no memory unless `memory_dir` or `memory.path_override` is set."""
    memory_dir: Personal[str | None] = None
    """Base of the memory directories there (spec 3 §10)."""


@area
class RetentionSettings:
    """How long working files are kept; memories are never swept."""

    transcript_days: Personal[Positive | None] = None
    """Days after which an unused session is removed, unless a memory cites it; none keeps them (spec 8 §1.7)."""
    spill_days: Personal[Positive | None] = 30
    """Days after which its spilled results and copies of files are removed; none keeps them (spec 8 §1.1)."""
    spill_bytes: Personal[Positive | None] = 1_000_000_000
    """All of these of a project together; the oldest go first."""
