"""`Settings`: every number and switch with its default, area by area, and the whole tree at the end.

A field says `Share` or `Personal[str | None]`: the marks name allowed values and who may set it. `schema` reads them;
for callers the types stay plain. Annotations are not postponed here, so that `schema` need not evaluate any.
"""

from enum import Enum
from typing import Annotated, Literal, NamedTuple, TypeVar

from reverie.values import value

# Marks on a setting's type: allowed values, and who may set it.

Value = TypeVar("Value")


class Range(NamedTuple):
    """The smallest and the largest number allowed; None leaves that side open."""

    low: float | None = None
    high: float | None = None


@value
class Pattern:
    """A regular expression that a text must match as a whole, and what to call such a text."""

    expression: str
    meaning: str


class Guard(Enum):
    """Which sources may set a field, beyond the ordinary precedence."""

    ANY = "any source"
    ONLY_LOWER = "a file committed with the project may only lower it"
    AFTER_TRUST = "a file committed with the project is used only if the project is trusted"
    PERSONAL = "a file committed with the project may not set it"
    PROCESS = "only the environment or a flag may set it"
    MANAGED = "only a managed file may set it"


class ListJoin(Enum):
    """How the lists of several sources become one; without this mark they are joined, lowest source first."""

    HIGHEST = "only the list of the highest source is used"


Count = Annotated[int, Range(0)]
Positive = Annotated[int, Range(1)]
Share = Annotated[float, Range(0, 1)]
Amount = Annotated[float, Range(0)]
Language = Annotated[str, Pattern(r"[^\W\d_][\w (),.\-]{0,39}", "the name of a language, at most 40 characters")]
Variable = Annotated[str, Pattern(r"[A-Za-z_][A-Za-z0-9_]*", "the name of an environment variable, never a key itself")]

Table = tuple[tuple[str, Value], ...]
"""Values by a name that the user chooses; written as a table of the file."""

OnlyLower = Annotated[Value, Guard.ONLY_LOWER]
AfterTrust = Annotated[Value, Guard.AFTER_TRUST]
Personal = Annotated[Value, Guard.PERSONAL]
Process = Annotated[Value, Guard.PROCESS]
Managed = Annotated[Value, Guard.MANAGED]
Replaced = Annotated[Value, ListJoin.HIGHEST]


# Settings of memory: the directory, its index, recall, extraction, dreams and budgets.


@value
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


@value
class IndexSettings:
    """`MEMORY.md`, the list of topics."""

    max_lines: Positive = 200
    """Maximum lines loaded."""
    max_bytes: Positive = 25_000
    """Maximum bytes loaded, applied after `max_lines`."""


@value
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


@value
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
    turn_bytes: Count = 3_000
    """Maximum bytes of memories shown per turn; what does not fit is named in a line."""
    caution: Amount = 1.0
    """Required certainty of recall, a factor of the odds: 0 always shows the best, 2 asks for twice as much."""
    session_bytes: Count = 60_000
    """Bytes of memories in the context above which recall pauses."""
    show_again_tokens: Count = 50_000
    """Tokens after which a memory may be shown again."""


@value
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


@value
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
    asks_batch: Count = 20
    """Maximum memories without `asks` that a model is asked to write them for, per dream."""


@value
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


@value
class RemoteSettings:
    """Running on a machine without persistent storage."""

    mode: Personal[bool] = False
    """Remote mode: no extraction, no dreams, and no memory unless `memory_dir` or `memory.path_override` is set."""
    memory_dir: Personal[str | None] = None
    """Base directory of memories in remote mode."""


@value
class TeamSettings:
    """Memory that is shared with the team, once a remote was joined (`reverie team join`)."""

    first_pull_seconds: Amount = 1.0
    """How long the first request of a session waits for a pull; a later answer counts from the next request on."""
    pull_minutes: Amount = 5.0
    """Time between two pulls of a session or of `reverie team watch`."""
    debounce_seconds: Amount = 2.0
    """How long files must rest before `reverie team watch` sends them."""
    timeout_seconds: Amount = 30.0
    """Time limit of one exchange with the remote."""
    max_file_bytes: Positive = 128_000
    """Largest memory that is sent or taken."""
    max_entries: Positive = 1_000
    """Maximum number of shared memories."""
    token_env: Personal[Variable] = "REVERIE_TEAM_TOKEN"  # noqa: S105 - the name of a variable
    """Environment variable that holds the token for a team server (default: the one kept when it was joined)."""


@value
class RetentionSettings:
    """How long working files are kept; memories are never deleted automatically."""

    transcript_days: Personal[Positive | None] = None
    """Days after which an unused session is deleted, unless a memory cites it; unset keeps all."""
    spill_days: Personal[Positive | None] = 30
    """Days after which spilled results and file copies of a session are deleted; unset keeps all."""
    spill_bytes: Personal[Positive | None] = 1_000_000_000
    """Maximum bytes of spilled results and file copies per project; the oldest are deleted first."""


@value
class ServerSettings:
    """The team server, `reverie serve`."""

    host: Personal[str] = "127.0.0.1"
    """Address to listen on."""
    port: Personal[Annotated[int, Range(0, 65_535)]] = 8377
    """Port to listen on; 0 takes a free one."""
    database_env: Personal[Variable] = "REVERIE_DATABASE_URL"
    """Environment variable that holds the URL of a PostgreSQL database (default: SQLite in `<home>/server`)."""
    max_body_bytes: Personal[Positive] = 204_800
    """Maximum bytes of a request body."""
    max_entries: Personal[Positive] = 1_000
    """Maximum entries of a repository, unless set for a tenant by `reverie serve limits`; the same holds below."""
    max_file_bytes: Personal[Positive] = 128_000
    """Maximum bytes of an entry."""
    max_repository_bytes: Personal[Positive] = 33_554_432
    """Maximum bytes of all entries of a repository."""
    max_repositories: Personal[Positive] = 20_000
    """Maximum repositories of a tenant."""
    versions_kept: Personal[Positive] = 50
    """Texts of an entry that are kept, the present one included."""
    requests_per_minute: Personal[Count] = 1_200
    """Maximum requests per minute of a token, at each server process; 0 disables the limit."""
    jobs_at_once: Personal[Count] = 8
    """Maximum jobs of a tenant that all workers together run at the same time; 0 disables the limit."""
    job_usd_per_day: Personal[Count] = 10
    """Maximum cost in US dollars of models in the jobs of a tenant within 24 hours; 0 disables the limit."""
    versions_days: Personal[Positive | None] = 400
    """Days after which `reverie serve prune` removes earlier texts of entries; unset keeps them."""
    audit_days: Personal[Positive | None] = 400
    """Days after which `reverie serve prune` removes rows of the audit log and ended jobs; unset keeps them."""
    tombstone_days: Personal[Positive | None] = 400
    """Days after which `reverie serve prune` removes the marks of deleted entries; unset keeps them."""
    oidc_issuer: Personal[str | None] = None
    """Issuer of OpenID Connect tokens that are accepted; the three settings go together."""
    oidc_audience: Personal[str | None] = None
    """Audience that such a token must name."""
    oidc_jwks: Personal[str | None] = None
    """Keys that sign such tokens: an https URL or a file."""


# Settings of the window: thresholds, and every stage that reduces what is sent.


@value
class WindowSettings:
    """Size of the context window and the levels of warnings."""

    default_tokens: Positive = 200_000
    """W of an unknown Claude model; if changed, of any other (else `gpt-…`, `gemini-…`: 128,000, others: 32,000)."""
    extended_tokens: Positive = 1_000_000
    """W of a model name ending in `[1m]`, or with the extended window."""
    extended: bool = False
    """Request the extended window from the provider."""
    override_tokens: Positive | None = None
    """W of a model without a built-in or configured profile."""
    output_reserve_tokens: Count = 20_000
    """Tokens reserved for writing a summary: E = W − min(the model's output limit, this)."""
    warning_fraction: Share = 0.80
    """Share of T above which a warning is shown."""
    error_fraction: Share = 0.90
    """Share of T above which the warning becomes urgent."""
    blocking_buffer_tokens: Count = 3_000
    """Tokens kept free for manual compaction: no request is sent above E − this."""


@value
class SpillSettings:
    """Large tool results are written to a file; the context keeps a preview."""

    enabled: bool = True
    """Enable spilling."""
    result_chars: Positive = 50_000
    """Characters above which a result is spilled."""
    search_result_chars: Positive = 20_000
    """Characters above which a result of `search_tools` is spilled."""
    search_tools: tuple[str, ...] = ("Grep", "Glob", "WebSearch")
    """Tools whose results are search results."""
    never: tuple[str, ...] = ("Read",)
    """Tools whose results are never spilled, because they page themselves."""
    tool_chars: Table[Positive] = ()
    """Limits per tool name; they override the limits above."""
    round_chars: Positive = 200_000
    """Maximum characters of all results of one model call; the largest are spilled first."""
    preview_bytes: Positive = 2_000
    """Maximum bytes of the preview; it ends at a line break."""

    def limit_chars(self, tool: str) -> int | None:
        """The longest result of this tool that stays in the context; None when it is never spilled."""
        own = dict(self.tool_chars).get(tool)
        if own is not None:
            return own
        if tool in self.never:
            return None
        return self.search_result_chars if tool in self.search_tools else self.result_chars


@value
class SnipSettings:
    """The oldest messages are removed from the context without a summary; user messages stay."""

    enabled: bool = False
    """Snip before a request."""
    trigger_fraction: Share = 0.85
    """Share of E at which snipping starts."""
    target_fraction: Share = 0.70
    """Share of E that is left after snipping."""


@value
class TimeClearing:
    """Old tool results are cleared after a long pause, when the provider's cache has expired."""

    enabled: bool = True
    """Clear old tool results after a pause."""
    gap_minutes: Positive | None = None
    """Minutes since the last reply that trigger clearing (default: the lifetime of the provider's cache)."""
    min_fill_fraction: Share = 0.50
    """Share of E below which nothing is cleared."""
    keep_results: Count = 5
    """Number of newest results that are kept."""
    keep_floor: Count = 1
    """Lower limit of `keep_results`."""


@value
class CachedClearing:
    """Old tool results are deleted inside the provider's cache, where supported."""

    enabled: bool = False
    """Send cache edits."""
    trigger_results: Positive = 20
    """Number of clearable results that triggers an edit."""
    keep_results: Count = 8
    """Number of newest results that are kept."""


@value
class ApiClearing:
    """The provider clears tool results and thinking by rules sent with the request."""

    enabled: bool = False
    """Send the rules; each clearing causes an expected cache miss."""
    trigger_tokens: Positive = 180_000
    """Input tokens at which the provider starts clearing, for a window of 200,000 tokens."""
    clear_at_least_tokens: Count = 140_000
    """Minimum tokens to clear at once, for a window of 200,000 tokens."""
    scale_to_window: bool = True
    """Scale both numbers with the window size."""
    keep_thinking_turns: Positive = 1
    """Number of turns whose thinking is kept."""
    keep_all_thinking: bool = False
    """Keep the thinking of every turn."""


@value
class ClearingSettings:
    """Clearing of old tool results; the messages keep their structure."""

    tools: tuple[str, ...] = (
        "Read", "Bash", "PowerShell", "Grep", "Glob", "WebSearch", "WebFetch", "Edit", "Write",
    )  # fmt: skip
    """Tools whose results may be cleared; add MCP tools here to include them."""
    time: TimeClearing = TimeClearing()
    cached: CachedClearing = CachedClearing()
    api: ApiClearing = ApiClearing()


@value
class CollapseSettings:
    """Old spans are replaced by short summaries in the context; the transcript keeps them."""

    enabled: bool = False
    """Collapse old spans instead of compacting early."""
    stage_fraction: Share = 0.90
    """Share of E at which spans are selected."""
    run_fraction: Share = 0.95
    """Share of E at which selected spans are collapsed."""
    min_span_fraction: Share = 0.05
    """Minimum size of a span, as a share of E."""
    summary_tokens: Positive = 1_000
    """Maximum tokens of the summary of one span."""


@value
class NotesSettings:
    """Session notes: a summary that is kept up to date in the background."""

    enabled: bool = True
    """Keep session notes; requires automatic compaction."""
    init_tokens: Count = 10_000
    """Tokens of conversation at which the first notes are written."""
    growth_tokens: Count = 5_000
    """Tokens of new conversation between two updates."""
    tool_calls: Count = 3
    """Minimum tool calls between two updates, unless a reply has none."""
    section_tokens: Positive = 2_000
    """Maximum tokens per section."""
    total_tokens: Positive = 12_000
    """Maximum tokens of the notes."""
    compact_section_chars: Positive = 8_000
    """Maximum characters per section when the notes are used as the summary."""
    max_rounds: Positive = 3
    """Maximum model calls per update of the notes."""


@value
class CompactionSettings:
    """A summary replaces the history in the context."""

    enabled: bool = True
    """Allow compaction, automatic and manual."""
    auto: bool = True
    """Compact automatically when the window fills."""
    auto_window_tokens: Positive | None = None
    """Window in tokens used for automatic compaction instead of W."""
    auto_percent: Annotated[int, Range(1, 100)] | None = None
    """Percentage of that window to which T is lowered; never raises T."""
    auto_buffer_tokens: Count = 13_000
    """Tokens kept free below E: T = E − this."""
    server: bool = False
    """Let the provider compact, slightly before our own compaction would, where the model supports it."""
    from_notes: bool = True
    """Use the session notes as the summary when they are sufficient."""
    keep_min_tokens: Count = 10_000
    """Minimum tokens of recent messages kept with the notes."""
    keep_min_text_messages: Count = 5
    """Minimum number of recent messages with text kept with the notes."""
    keep_max_tokens: Count = 40_000
    """Maximum tokens of recent messages kept with the notes."""
    summary_max_tokens: Positive = 20_000
    """Maximum tokens of a summary written by a model."""
    user_text_fraction: Share = 0.25
    """Share of E within which user messages are kept verbatim."""
    receipt_fraction: Share = 0.01
    """Maximum share of E used by the receipt."""
    restore_files: Count = 5
    """Number of recently read files restored after compaction."""
    restore_file_tokens: Count = 5_000
    """Maximum tokens per restored file."""
    restore_files_total_tokens: Count = 50_000
    """Maximum tokens of all restored files."""
    restore_skill_tokens: Count = 5_000
    """Maximum tokens per restored skill."""
    restore_skills_total_tokens: Count = 25_000
    """Maximum tokens of all restored skills."""
    too_long_retries: Count = 3
    """Maximum retries when the summary request itself is too long."""
    too_long_drop_fraction: Share = 0.20
    """Share of the oldest messages dropped per retry when the error does not state the excess."""
    max_failures: Positive = 3
    """Consecutive failures after which automatic compaction calls no model until the user runs `/compact`."""
    max_refills: Positive = 3
    """Maximum consecutive times that the window may fill right after a compaction."""
    reactive: bool = True
    """Compact and retry when the provider rejects a request as too long."""
    reactive_only: bool = False
    """Compact only when the provider rejects a request as too long."""
    reactive_attempts: Count = 1
    """Maximum such compactions per request with a model; one more follows without a model."""

    @property
    def rescues(self) -> bool:
        """Whether a conversation that no longer fits is compacted without being asked."""
        return self.enabled and self.reactive and (self.auto or self.reactive_only)


@value
class CacheSettings:
    """The provider's prompt cache."""

    enabled: bool = True
    """Set cache markers in requests."""
    system_ttl: Literal["5m", "1h"] = "1h"
    """Cache lifetime of tools and system prompt; at least that of the conversation."""
    ttl: Literal["auto", "5m", "1h"] = "auto"
    """Cache lifetime of the conversation; `auto` switches to `1h`, which costs more, after a long pause of the user."""
    break_fraction: Share = 0.05
    """Share by which cache reads must fall short of the expected amount to count as a cache break."""
    break_tokens: Count = 2_000
    """Tokens by which cache reads must also fall short to count as a cache break."""


# Settings of a session: models, agents, tools, hooks, permissions, instruction files, and how people see it.


@value
class Declaration:
    """A block that a later reader understands, as it stood in one source: the hooks or the agents of one file."""

    source: str
    """The name of the source: `user`, `project`, `local`, `flag`, `managed`; later `plugin` and `session`."""
    place: str
    """The file and line, or the flag."""
    committed: bool
    """It came with the project; it is here because the user trusts the project."""
    text: str
    """The block as JSON, keys in the order of the file."""


@value
class ModelProfile:
    """A custom model: `[models.NAME]`, selected with `model.default = "NAME"`."""

    name: str
    """The name after `models.`."""
    provider: Literal["anthropic", "openai", "offline"] = "openai"
    """Protocol of the server; `openai` covers every compatible server."""
    model: str | None = None
    """Model name at the provider (default: the profile name)."""
    base_url: str | None = None
    """Base URL of the server (default: the provider's public address)."""
    key_env: Variable | None = None
    """Environment variable that holds the API key; unset if the server needs none."""
    window_tokens: Positive | None = None
    """Context window in tokens."""
    max_output_tokens: Positive | None = None
    """Maximum output tokens."""
    cache_minimum_tokens: Positive | None = None
    """Minimum number of tokens of a cacheable prefix."""
    tokenizer: Literal["old", "new", "other"] | None = None
    """Tokenizer used for counting: the vendor's old or new one, or another."""
    abilities: (
        tuple[
            Literal[
                "prompt_caching",
                "context_edits",
                "cache_edits",
                "server_compaction",
                "thinking",
                "adaptive_thinking",
                "effort",
                "system_messages",
                "images",
                "overflow_stops",
            ],
            ...,
        ]
        | None
    ) = None
    """Capabilities of the server beyond text and tools."""
    input_usd_per_million: Amount | None = None
    """US dollars per million input tokens."""
    output_usd_per_million: Amount | None = None
    """US dollars per million output tokens."""
    cache_read_usd_per_million: Amount | None = None
    """US dollars per million tokens read from the cache."""
    cache_write_5m_usd_per_million: Amount | None = None
    """US dollars per million tokens written to the cache for five minutes."""
    cache_write_1h_usd_per_million: Amount | None = None
    """US dollars per million tokens written to the cache for one hour."""


@value
class ModelSettings:
    """Which model is used, and its limits."""

    default: str | None = None
    """Model or profile of the conversation (default: chosen by the API keys available, else `offline`)."""
    fallback: Replaced[tuple[str, ...]] = ()
    """Fallback models, tried in this order when the first has no capacity."""
    background: str | None = None
    """Model for memory selection and progress lines (default: the conversation's model)."""
    memory: Personal[str | None] = None
    """Model for `learn`, `dream`, hooks and sessions without a model, such as `command:claude` (default: by rules)."""
    thinking: Literal["auto", "on", "off"] = "auto"
    """Enable extended thinking; `auto` leaves the choice to the provider."""
    thinking_tokens: Annotated[int, Range(1_024)] = 8_000
    """Thinking budget in tokens, for models that do not choose it themselves."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    """Effort level, for models that support it; roles and skills may override it."""
    max_output_tokens: Positive = 16_384
    """Maximum output tokens per request."""
    timeout_seconds: Amount = 600.0
    """Timeout of a request in seconds."""
    max_retries: Count = 4
    """Maximum retries after a temporary failure."""
    anthropic_base_url: Personal[str | None] = None
    """Base URL of the Messages API (default: the public one)."""
    anthropic_key_env: Personal[Variable] = "ANTHROPIC_API_KEY"
    """Environment variable that holds the API key."""
    openai_base_url: Personal[str | None] = None
    """Base URL of an OpenAI-compatible API (default: the public one)."""
    openai_key_env: Personal[Variable] = "OPENAI_API_KEY"
    """Environment variable that holds the API key."""


@value
class AgentSettings:
    """Subagents of the main agent."""

    list_attachment: bool = True
    """List agents in an attachment, so that the tool description never changes."""
    summary_interval_seconds: Amount = 30.0
    """Seconds between two progress lines of an agent."""
    summary_words_min: Positive = 3
    """Minimum words of a progress line."""
    summary_words_max: Positive = 5
    """Maximum words of a progress line."""


@value
class ToolsSettings:
    """Tools available to the model."""

    concurrency: Positive = 10
    """Maximum number of read-only tools running in parallel."""
    read_cache_files: Positive = 100
    """Maximum number of files remembered as read."""
    web_fetch: Personal[bool] = False
    """Let the model fetch web pages."""
    web_search: Personal[bool] = True
    """Let the model search the web with the provider's search tool, if it has one."""
    deferred_above: Count = 20
    """Number of MCP tools above which only names are sent and the model loads what it needs."""
    server_wait_seconds: Amount = 2.0
    """Maximum seconds the first request waits for MCP servers; five times as long in non-interactive mode."""
    server_connect_seconds: Amount = 30.0
    """Maximum seconds to connect to an MCP server."""
    server_call_seconds: Amount = 600.0
    """Timeout of an MCP call in seconds, unless the server's entry sets one."""
    keep_keys: Personal[bool] = False
    """Pass API keys of model providers and the team token to commands, hooks and MCP servers."""
    provider_memory: bool = False
    """Also offer the provider's memory tool, `memory_20250818`, backed by the project's memory."""


@value
class HookSettings:
    """Hooks: user scripts that run at events."""

    enabled: Personal[bool] = True
    """Run hooks."""
    managed_only: Personal[bool] = False
    """Run only hooks from managed settings files."""
    timeout_seconds: Personal[Amount] = 600.0
    """Timeout of a command hook in seconds, unless its entry sets one."""
    prompt_timeout_seconds: Personal[Amount] = 30.0
    """Timeout in seconds of a hook that calls a model."""
    agent_timeout_seconds: Personal[Amount] = 60.0
    """Timeout in seconds of a hook that runs an agent."""
    user_prompt_timeout_seconds: Personal[Amount] = 30.0
    """Timeout in seconds of `UserPromptSubmit` hooks, while the user waits."""
    session_end_timeout_seconds: Personal[Amount] = 1.5
    """Timeout in seconds of all `SessionEnd` hooks together."""
    output_chars: Positive = 10_000
    """Maximum characters of hook output in the context; the rest is written to a file."""
    max_continues: Personal[Count] = 8
    """Maximum consecutive times that `Stop` hooks may keep the agent working."""
    allowed_http_urls: Personal[tuple[str, ...]] = ()
    """URLs that `http` hooks may call; empty allows all."""
    http_env_vars: Personal[tuple[str, ...]] = ()
    """Environment variables that headers of `http` hooks may use."""


@value
class CompanionSettings:
    """Hooks that other agents call (`reverie install`)."""

    enabled: bool = True
    """Answer hooks of other agents in this project; `REVERIE_HOOKS=off` turns them off for one session."""
    max_chars: Annotated[int, Range(1_000)] = 9_000
    """Maximum characters that a hook adds to the conversation; agents cut or store longer texts elsewhere."""


@value
class PermissionsSettings:
    """What tools may do without asking."""

    mode: Personal[Literal["default", "plan", "acceptEdits", "auto", "dontAsk", "bypassPermissions"]] = "default"
    """Permission mode."""
    allow: AfterTrust[tuple[str, ...]] = ()
    """Tool calls allowed without asking."""
    ask: tuple[str, ...] = ()
    """Tool calls that always ask."""
    deny: tuple[str, ...] = ()
    """Tool calls that are refused; overrides `allow` and `ask`."""
    additional_directories: AfterTrust[tuple[str, ...]] = ()
    """Directories outside the project that tools may access."""


@value
class InstructionsSettings:
    """Instruction files such as `CLAUDE.md` and `AGENTS.md`."""

    enabled: Personal[bool] = True
    """Load instruction files."""
    agents_md: Personal[bool] = True
    """Also load `AGENTS.md`, with the same precedence."""
    file_chars: Positive = 40_000
    """Characters above which a file is loaded with a warning."""
    file_bytes: Personal[Positive] = 4 * 1024 * 1024
    """Bytes above which a file is skipped."""
    include_depth: Personal[Count] = 4
    """Maximum depth of nested includes."""
    excludes: tuple[str, ...] = ()
    """Path patterns of files to skip; patterns of a project apply only inside it."""
    from_additional_directories: bool = False
    """Also load instruction files of `permissions.additional_directories`."""
    managed_text: Managed[str | None] = None
    """Instructions by an administrator, placed before all files."""


@value
class UiSettings:
    """Terminal display."""

    color: Literal["auto", "always", "never"] = "auto"
    """Use of colours in the output."""
    meter: bool = True
    """Show context usage and cost while working."""


@value
class StatusLineSettings:
    """Custom status line below the conversation."""

    command: Personal[str | None] = None
    """Shell command that receives the session as JSON on standard input and prints the line."""


# The whole tree.


@value
class Settings:
    """Every number and switch of the system. Made once at the top, then only read."""

    home: Process[str] = "~/.reverie"
    """Directory of all data outside the project."""
    config_home: Process[str] = "~/.claude"
    """Directory of the host agent's files."""
    project_dir_name: Process[str | None] = None
    """Name of the project's directory under `projects/` (default: derived from its path)."""
    simple_mode: Process[bool] = False
    """Minimal mode (`--bare`): no memory, no background work, no other optional features."""
    language: Language | None = None
    """Language of replies (default: that of the conversation)."""
    output_style: AfterTrust[str | None] = None
    """Output style: the name of a file in `output-styles/`."""

    model: ModelSettings = ModelSettings()
    models: Personal[tuple[ModelProfile, ...]] = ()
    """Custom models, by name."""
    budget: BudgetSettings = BudgetSettings()

    window: WindowSettings = WindowSettings()
    spill: SpillSettings = SpillSettings()
    snip: SnipSettings = SnipSettings()
    clearing: ClearingSettings = ClearingSettings()
    collapse: CollapseSettings = CollapseSettings()
    notes: NotesSettings = NotesSettings()
    compaction: CompactionSettings = CompactionSettings()
    cache: CacheSettings = CacheSettings()

    memory: MemorySettings = MemorySettings()
    index: IndexSettings = IndexSettings()
    age: AgeSettings = AgeSettings()
    recall: RecallSettings = RecallSettings()
    extraction: ExtractionSettings = ExtractionSettings()
    dream: DreamSettings = DreamSettings()
    remote: RemoteSettings = RemoteSettings()
    companion: CompanionSettings = CompanionSettings()
    team: TeamSettings = TeamSettings()
    retention: RetentionSettings = RetentionSettings()
    server: ServerSettings = ServerSettings()

    agent: AgentSettings = AgentSettings()
    agents: AfterTrust[tuple[Declaration, ...]] = ()
    """Agent definitions of all sources, lowest precedence first."""
    tools: ToolsSettings = ToolsSettings()
    hook: HookSettings = HookSettings()
    hooks: AfterTrust[tuple[Declaration, ...]] = ()
    """Hooks of all sources, in the order in which they run."""
    permissions: PermissionsSettings = PermissionsSettings()
    instructions: InstructionsSettings = InstructionsSettings()
    ui: UiSettings = UiSettings()
    status_line: StatusLineSettings = StatusLineSettings()

    def profile(self, name: str) -> ModelProfile | None:
        """The user's own description of a model, if there is one."""
        return next((profile for profile in self.models if profile.name == name), None)
