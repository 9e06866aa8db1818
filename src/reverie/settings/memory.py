"""Settings of memory: the directory, its index, recall, extraction, dreams and budgets."""

from reverie.settings.bounds import Amount, Count, OnlyLower, Personal, Positive, Process, Share, area


@area
class MemorySettings:
    """Whether memory is enabled, where it is stored and what the model is told about it."""

    enabled: bool = True
    """Enable the project's memory."""
    disabled: Process[bool] = False
    """Disable memory for this process, overriding all settings files."""
    directory: Personal[str | None] = None
    """Custom memory directory, absolute or starting with `~/`; an unusable value from a file is ignored."""
    path_override: Process[str | None] = None
    """Memory directory for this process; overrides `directory`."""
    extra_guidelines: Personal[str] = ""
    """Text appended to the memory instructions of the model."""
    skip_index: bool = True
    """Omit the index step from the memory instructions, because the index is generated."""
    search_past_context: bool = True
    """Tell the model how to search memory files and transcripts."""
    daily_log: bool = False
    """Append to daily logs instead of topics, for sessions that run for days."""
    history: Personal[bool] = True
    """Record every change as a commit, so that it can be traced and undone."""


@area
class IndexSettings:
    """`MEMORY.md`, the list of topics."""

    max_lines: Positive = 200
    """Maximum lines loaded."""
    max_bytes: Positive = 25_000
    """Maximum bytes loaded, applied after `max_lines`."""


@area
class AgeSettings:
    """When a memory is considered old."""

    fresh_max_days: Count = 1
    """Days up to which a memory is shown without an age warning."""
    half_life_user_days: Positive = 365
    """Days after which a memory of type user is marked as old and possibly outdated."""
    half_life_feedback_days: Positive = 365
    """Days after which a memory of type feedback is marked as old."""
    half_life_project_days: Positive = 45
    """Days after which a memory of type project is marked as old; deadlines and ongoing work age fast."""
    half_life_reference_days: Positive = 180
    """Days after which a memory of type reference is marked as old."""


@area
class RecallSettings:
    """Memories added to the current request."""

    enabled: bool = True
    """Recall memories at each user message."""
    max_files: Count = 5
    """Maximum memories per turn."""
    min_words: Count = 2
    """Minimum words of a message; shorter messages recall nothing."""
    min_unspaced_chars: Count = 4
    """Minimum characters of a message in scripts without spaces."""
    words_timeout_seconds: Amount = 10.0
    """Maximum seconds a request waits for the word search; a safety limit, it normally takes milliseconds."""
    vectors_timeout_seconds: Amount = 1.0
    """Maximum additional seconds a request waits for the vector search, if installed; mostly model loading."""
    rerank: bool = True
    """Let a model choose among the best candidates, if `model.background` is set."""
    rerank_candidates: Positive = 50
    """Number of candidates shown to that model."""
    timeout_seconds: Amount = 2.5
    """Maximum seconds a request waits for that choice; a later choice is used for the next request."""
    selector_tokens: Positive = 256
    """Maximum tokens of that model's reply."""
    file_lines: Positive = 200
    """Maximum lines shown per memory."""
    file_bytes: Positive = 4_096
    """Maximum bytes shown per memory."""
    turn_bytes: Count = 20_480
    """Maximum bytes of memories shown per turn."""
    session_bytes: Count = 60_000
    """Bytes of memories in the context above which recall pauses."""
    show_again_tokens: Count = 50_000
    """Tokens after which a memory may be shown again."""


@area
class ExtractionSettings:
    """Saving memories from a finished turn."""

    enabled: bool = True
    """Extract memories after a turn."""
    noninteractive: bool = False
    """Also extract in non-interactive mode (`-p`)."""
    every_n_turns: Positive = 1
    """Number of turns between two runs."""
    prefilter: bool = True
    """Skip turns in which a cheap local check finds nothing to save."""
    max_rounds: Positive = 5
    """Maximum model calls per run."""
    max_retries: Count = 2
    """Maximum retries for messages that failed; after that they are skipped and reported."""
    drain_seconds: Amount = 60.0
    """Maximum seconds to wait for a running extraction at exit."""


@area
class DreamSettings:
    """Periodic consolidation of the memory directory."""

    enabled: bool = True
    """Run dreams automatically."""
    min_hours: Amount = 24.0
    """Minimum hours since the last dream."""
    min_sessions: Count = 5
    """Minimum number of other sessions since the last dream."""
    scan_interval_minutes: Amount = 10.0
    """Minimum minutes between two checks of the session count."""
    lock_stale_minutes: Amount = 60.0
    """Minutes after which the lock of a dream is considered stale."""
    max_rounds: Positive = 30
    """Maximum model calls per dream."""
    view_messages: Positive = 30
    """Number of messages kept in the live view."""
    search_hits: Positive = 50
    """Maximum results per transcript search."""


@area
class BudgetSettings:
    """Cost limits; work stops with a notice when the first limit is reached."""

    background_fraction: OnlyLower[Share] = 0.10
    """Maximum share of the session's cost spent on background work."""
    background_usd_per_hour: OnlyLower[Amount] = 0.50
    """Maximum cost of background work in US dollars per hour."""
    session_usd: OnlyLower[Amount | None] = None
    """Maximum cost of a session in US dollars; unset means no limit."""
    turn_tokens: OnlyLower[Positive | None] = None
    """Maximum output tokens per turn; the model is told, and the turn stops when they are used up."""
    turn_rounds: OnlyLower[Positive] = 200
    """Maximum model calls per turn if no other limit applies; the next message continues the work."""


@area
class RemoteSettings:
    """Running on a machine without persistent storage."""

    mode: Personal[bool] = False
    """Remote mode: no extraction, no dreams, and no memory unless `memory_dir` or `memory.path_override` is set."""
    memory_dir: Personal[str | None] = None
    """Base directory of memories in remote mode."""


@area
class RetentionSettings:
    """How long working files are kept; memories are never deleted automatically."""

    transcript_days: Personal[Positive | None] = None
    """Days after which an unused session is deleted, unless a memory cites it; unset keeps all."""
    spill_days: Personal[Positive | None] = 30
    """Days after which spilled results and file copies of a session are deleted; unset keeps all."""
    spill_bytes: Personal[Positive | None] = 1_000_000_000
    """Maximum bytes of spilled results and file copies per project; the oldest are deleted first."""
