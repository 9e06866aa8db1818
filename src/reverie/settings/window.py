"""Settings of the window: thresholds, and every stage that reduces what is sent.

W is the model's window, E the effective window (W less the output reserve), T the level of automatic compaction.
"""

from typing import Annotated, Literal

from reverie.settings.bounds import Count, Positive, Range, Share, Table, area


@area
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


@area
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


@area
class SnipSettings:
    """The oldest messages are removed from the context without a summary; user messages stay."""

    enabled: bool = False
    """Snip before a request."""
    trigger_fraction: Share = 0.85
    """Share of E at which snipping starts."""
    target_fraction: Share = 0.70
    """Share of E that is left after snipping."""


@area
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


@area
class CachedClearing:
    """Old tool results are deleted inside the provider's cache, where supported."""

    enabled: bool = False
    """Send cache edits."""
    trigger_results: Positive = 20
    """Number of clearable results that triggers an edit."""
    keep_results: Count = 8
    """Number of newest results that are kept."""


@area
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


@area
class ClearingSettings:
    """Clearing of old tool results; the messages keep their structure."""

    tools: tuple[str, ...] = (
        "Read", "Bash", "PowerShell", "Grep", "Glob", "WebSearch", "WebFetch", "Edit", "Write",
    )  # fmt: skip
    """Tools whose results may be cleared; add MCP tools here to include them."""
    time: TimeClearing = TimeClearing()
    cached: CachedClearing = CachedClearing()
    api: ApiClearing = ApiClearing()


@area
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


@area
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


@area
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


@area
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
