"""Settings of memory: the directory, its index, recall, extraction, dreams and budgets."""

from reverie.settings.area import area
from reverie.settings.bounds import Amount, Count, OnlyLower, Personal, Positive, Process, Share


@area
class MemorySettings:
    """Whether there is memory, where it lies and what the model is told about it."""

    enabled: bool = True
    """Memory of the project, all of it."""
    disabled: Process[bool] = False
    """Turn memory off for this process, whatever the files say."""
    directory: Personal[str | None] = None
    """A directory of your own, absolute or from `~/`; a file's that cannot be used is passed over."""
    path_override: Process[str | None] = None
    """The directory for this process; goes before `directory`."""
    extra_guidelines: Personal[str] = ""
    """Text added to the rules that the model gets."""
    skip_index: bool = True
    """Leave the index step out of the rules, because the index is generated."""
    search_past_context: bool = True
    """Tell the model how to search memory files and transcripts."""
    daily_log: bool = False
    """Append to daily logs instead of topics, for sessions that live for days."""
    history: Personal[bool] = True
    """Keep every change as a commit, so that it can be traced and undone."""


@area
class IndexSettings:
    """`MEMORY.md`, the list of topics."""

    max_lines: Positive = 200
    """Lines that are loaded."""
    max_bytes: Positive = 25_000
    """And bytes, after the lines are cut."""


@area
class AgeSettings:
    """How old a memory may be before it is doubted."""

    fresh_max_days: Count = 1
    """Age up to which no warning is given."""
    half_life_user_days: Positive = 365
    """Days after which a user memory is called old, and expected to have changed."""
    half_life_feedback_days: Positive = 365
    """The same for feedback."""
    half_life_project_days: Positive = 45
    """The same for project: deadlines and ongoing work age fast."""
    half_life_reference_days: Positive = 180
    """The same for reference."""


@area
class RecallSettings:
    """Memories that are brought back for the present request."""

    enabled: bool = True
    """Recall at each user message."""
    max_files: Count = 5
    """Most memories per turn."""
    min_words: Count = 2
    """A shorter message recalls nothing."""
    min_unspaced_chars: Count = 4
    """The same in characters, for scripts that write no spaces."""
    words_timeout_seconds: Amount = 10.0
    """How long a request waits for the answer by words; a safety limit, for it takes milliseconds."""
    vectors_timeout_seconds: Amount = 1.0
    """How long it then waits for the answer by vectors, where they are installed; loading them takes longest."""
    rerank: bool = True
    """Let a model choose among the best candidates, when one is set."""
    rerank_candidates: Positive = 50
    """Candidates shown to that model."""
    timeout_seconds: Amount = 2.5
    """How long a request then waits for its choice; a later one joins the next request."""
    selector_tokens: Positive = 256
    """Longest reply of that model."""
    file_lines: Positive = 200
    """Most lines shown of one memory."""
    file_bytes: Positive = 4_096
    """Most bytes shown of one memory."""
    turn_bytes: Count = 20_480
    """Most bytes shown in one turn."""
    session_bytes: Count = 60_000
    """Bytes in view after which recall pauses."""
    show_again_tokens: Count = 50_000
    """Tokens after which a memory already shown may return."""


@area
class ExtractionSettings:
    """After a turn, what it taught is written down."""

    enabled: bool = True
    """Extract memories."""
    noninteractive: bool = False
    """Also when one prompt is answered and the process ends."""
    every_n_turns: Positive = 1
    """Turns between two runs."""
    prefilter: bool = True
    """Skip turns in which a cheap local look finds nothing to keep."""
    max_rounds: Positive = 5
    """Rounds a run may take."""
    max_retries: Count = 2
    """Further tries on messages that failed; then they are skipped and reported."""
    drain_seconds: Amount = 60.0
    """How long the end of the process waits for a run."""


@area
class DreamSettings:
    """Now and then the memory directory is put in order."""

    enabled: bool = True
    """Dream."""
    min_hours: Amount = 24.0
    """Hours since the last one."""
    min_sessions: Count = 5
    """Other sessions since the last one."""
    scan_interval_minutes: Amount = 10.0
    """Pause before the sessions are counted again."""
    lock_stale_minutes: Amount = 60.0
    """Age at which a dream's lock no longer binds."""
    max_rounds: Positive = 30
    """Rounds it may take."""
    view_messages: Positive = 30
    """Messages that its live view keeps."""
    search_hits: Positive = 50
    """Hits shown per search of transcripts."""


@area
class BudgetSettings:
    """What work may cost; whichever limit is reached first stops it, visibly."""

    background_fraction: OnlyLower[Share] = 0.10
    """Share of the session's spend that background work may have."""
    background_usd_per_hour: OnlyLower[Amount] = 0.50
    """US dollars per hour that background work may cost."""
    session_usd: OnlyLower[Amount | None] = None
    """US dollars that a whole session may cost; none means no limit."""
    turn_tokens: OnlyLower[Positive | None] = None
    """Tokens that the answers of one turn may have together; the model is told, and then it stops."""
    turn_rounds: OnlyLower[Positive] = 200
    """Model calls that one turn may take where nothing else limits it; then it stops, and the next words go on."""


@area
class RemoteSettings:
    """Operation on a machine that keeps nothing."""

    mode: Personal[bool] = False
    """Remote: no extraction, no dream, and no memory unless `memory_dir` or `memory.path_override` is set."""
    memory_dir: Personal[str | None] = None
    """Base of the memory directories there."""


@area
class RetentionSettings:
    """How long working files are kept; memories are never swept."""

    transcript_days: Personal[Positive | None] = None
    """Days after which an unused session is removed, unless a memory cites it; none keeps them."""
    spill_days: Personal[Positive | None] = 30
    """Days after which its spilled results and copies of files are removed; none keeps them."""
    spill_bytes: Personal[Positive | None] = 1_000_000_000
    """All of these of a project together; the oldest go first."""
