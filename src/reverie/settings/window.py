"""Settings of the window: thresholds, and every stage that reduces what is sent.

W is the model's window, E the effective window (W less the output reserve), T the level of automatic compaction.
"""

from typing import Annotated, Literal

from reverie.settings.area import area
from reverie.settings.bounds import Count, Positive, Range, Share, Table


@area
class WindowSettings:
    """How large the window is and when a conversation is called full."""

    default_tokens: Positive = 200_000
    """W of an unknown Claude model; once changed, of any (else `gpt-…`, `gemini-…`: 128,000, others: 32,000)."""
    extended_tokens: Positive = 1_000_000
    """W for a model name that ends in `[1m]`, or when the extended window is asked for."""
    extended: bool = False
    """Ask the provider for the extended window."""
    override_tokens: Positive | None = None
    """W for a model that no table and no profile knows."""
    output_reserve_tokens: Count = 20_000
    """E = W − min(the model's output limit, this): the room in which a summary is written."""
    warning_fraction: Share = 0.80
    """Share of T above which the user is warned."""
    error_fraction: Share = 0.90
    """Share of T above which the warning becomes urgent."""
    blocking_buffer_tokens: Count = 3_000
    """No request is sent above E − this, so that compaction by hand still fits."""


@area
class SpillSettings:
    """Tool results that are too large go to a file; the context keeps a preview."""

    enabled: bool = True
    """Spill at all."""
    result_chars: Positive = 50_000
    """A result longer than this is spilled."""
    search_result_chars: Positive = 20_000
    """The same for the tools in `search_tools`."""
    search_tools: tuple[str, ...] = ("Grep", "Glob", "WebSearch")
    """Tools whose results are search results."""
    never: tuple[str, ...] = ("Read",)
    """Tools whose results stay whole, because they page themselves."""
    tool_chars: Table[Positive] = ()
    """Limits of single tools, by name; they go before the limits above."""
    round_chars: Positive = 200_000
    """All results of one round together; the largest are spilled first."""
    preview_bytes: Positive = 2_000
    """Size of the preview, cut at a line."""

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
    """The oldest messages leave the view without a summary; what the user typed stays."""

    enabled: bool = False
    """Snip before a request."""
    trigger_fraction: Share = 0.85
    """Share of E at which it starts."""
    target_fraction: Share = 0.70
    """Share of E at which it ends, in one step."""


@area
class TimeClearing:
    """Old tool results are emptied after a long pause, when the server's cache is gone anyway."""

    enabled: bool = True
    """Clear after a pause."""
    gap_minutes: Positive | None = None
    """Pause since the last reply that triggers it; when left out, as long as the provider kept the conversation."""
    min_fill_fraction: Share = 0.50
    """Share of E below which nothing is cleared, however long the pause."""
    keep_results: Count = 5
    """Newest results that stay."""
    keep_floor: Count = 1
    """A smaller `keep_results` is raised to this."""


@area
class CachedClearing:
    """Old tool results are deleted inside the server's cache; only for providers that offer it."""

    enabled: bool = False
    """Send cache edits."""
    trigger_results: Positive = 20
    """Number of clearable results that triggers it."""
    keep_results: Count = 8
    """Newest results that stay."""


@area
class ApiClearing:
    """The provider clears tool results and thinking by itself, by rules sent with the request."""

    enabled: bool = False
    """Send the rules; each clearing is an announced break of the cache."""
    trigger_tokens: Positive = 180_000
    """Input size at which the provider starts, for a window of 200,000."""
    clear_at_least_tokens: Count = 140_000
    """Least amount worth a broken cache, for a window of 200,000."""
    scale_to_window: bool = True
    """Scale both numbers with the window."""
    keep_thinking_turns: Positive = 1
    """Turns whose thinking stays."""
    keep_all_thinking: bool = False
    """Keep the thinking of every turn."""


@area
class ClearingSettings:
    """Emptying of old tool results; the messages keep their structure."""

    tools: tuple[str, ...] = (
        "Read", "Bash", "PowerShell", "Grep", "Glob", "WebSearch", "WebFetch", "Edit", "Write",
    )  # fmt: skip
    """Tools whose results may be cleared; name an MCP tool here to include it."""
    time: TimeClearing = TimeClearing()
    cached: CachedClearing = CachedClearing()
    api: ApiClearing = ApiClearing()


@area
class CollapseSettings:
    """Old spans are shown folded as short summaries; the history stays whole."""

    enabled: bool = False
    """Collapse instead of compacting ahead of time."""
    stage_fraction: Share = 0.90
    """Share of E at which spans are chosen."""
    run_fraction: Share = 0.95
    """Share of E at which they are folded."""
    min_span_fraction: Share = 0.05
    """Smallest span, as a share of E."""
    summary_tokens: Positive = 1_000
    """Longest summary of one span."""


@area
class NotesSettings:
    """Running notes of this session: a summary that exists before it is needed."""

    enabled: bool = True
    """Keep notes; they also need automatic compaction."""
    init_tokens: Count = 10_000
    """Size of the conversation at which the first notes are written."""
    growth_tokens: Count = 5_000
    """Growth between two updates."""
    tool_calls: Count = 3
    """Tool calls between two updates, unless a reply made none."""
    section_tokens: Positive = 2_000
    """Longest section."""
    total_tokens: Positive = 12_000
    """Longest notes file."""
    compact_section_chars: Positive = 8_000
    """Where a section is cut when the notes become the summary."""
    max_rounds: Positive = 3
    """Rounds the writer of the notes may take."""


@area
class CompactionSettings:
    """A summary takes the place of the history in the view."""

    enabled: bool = True
    """Allow compaction, automatic and by hand."""
    auto: bool = True
    """Compact without being asked when the window fills."""
    auto_window_tokens: Positive | None = None
    """Window that automatic compaction reckons with instead of W."""
    auto_percent: Annotated[int, Range(1, 100)] | None = None
    """Share of that window, in percent, to which T is lowered; it never raises T."""
    auto_buffer_tokens: Count = 13_000
    """T = E − this."""
    server: bool = False
    """Let the provider compact by itself, a little before our own compaction would, where the model offers that."""
    from_notes: bool = True
    """Use the session notes as the summary where they suffice."""
    keep_min_tokens: Count = 10_000
    """Smallest tail kept beside the notes."""
    keep_min_text_messages: Count = 5
    """Fewest messages with text in that tail."""
    keep_max_tokens: Count = 40_000
    """Where the tail stops growing towards older messages."""
    summary_max_tokens: Positive = 20_000
    """Longest summary that a model may write."""
    user_text_fraction: Share = 0.25
    """Share of E within which typed messages survive word for word."""
    receipt_fraction: Share = 0.01
    """Share of E that the receipt in view may take."""
    restore_files: Count = 5
    """Recently read files that return after compaction."""
    restore_file_tokens: Count = 5_000
    """Most of each such file."""
    restore_files_total_tokens: Count = 50_000
    """Most of all such files together."""
    restore_skill_tokens: Count = 5_000
    """Most of each invoked skill that returns."""
    restore_skills_total_tokens: Count = 25_000
    """Most of all invoked skills together."""
    too_long_retries: Count = 3
    """Further tries when the request for a summary is itself too long."""
    too_long_drop_fraction: Share = 0.20
    """Share of the oldest rounds left out at such a try when the error names no gap."""
    max_failures: Positive = 3
    """Failures in a row after which automatic compaction asks no model until the user runs `/compact`."""
    max_refills: Positive = 3
    """Times in a row that the window may fill right after a compaction."""
    reactive: bool = True
    """Compact and send again when the provider says that the request is too long."""
    reactive_only: bool = False
    """Never compact ahead of time."""
    reactive_attempts: Count = 1
    """Such rescues per request for which a model is asked; one more follows without."""

    @property
    def rescues(self) -> bool:
        """Whether a conversation that no longer fits is compacted without being asked."""
        return self.enabled and self.reactive and (self.auto or self.reactive_only)


@area
class CacheSettings:
    """The provider's prompt cache."""

    enabled: bool = True
    """Mark what the provider shall keep."""
    system_ttl: Literal["5m", "1h"] = "1h"
    """How long tools and system text are asked to live, at least as long as the conversation."""
    ttl: Literal["auto", "5m", "1h"] = "auto"
    """The same for the conversation; `auto` takes the hour, which costs more, once the user has paused for long."""
    break_fraction: Share = 0.05
    """Share by which cache reads must fall short of the promise to count as a break."""
    break_tokens: Count = 2_000
    """And the tokens by which they must fall short."""
