"""Settings of the window: thresholds, and every layer that shrinks what is sent.

W is the model's window, E the effective window (W less the output reserve), T the level of automatic compaction.
Numbers come from `spec 1` and `spec 6 §1-4`; where the product page decides otherwise, it is named.
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
    """W for a model name that ends in `[1m]`, or when the extended window is asked for (spec 1 §2)."""
    extended: bool = False
    """Ask the provider for the extended window (spec 1 §2, step 3)."""
    override_tokens: Positive | None = None
    """W for a model that no table and no profile knows (spec 1 §2, step 4)."""
    output_reserve_tokens: Count = 20_000
    """E = W − min(the model's output limit, this): the room in which a summary is written (spec 1 §2)."""
    warning_fraction: Share = 0.80
    """Share of T above which the user is warned (product §6; spec 1 §3 has T − 20,000)."""
    error_fraction: Share = 0.90
    """Share of T above which the warning becomes urgent (product §6; spec 1 §3 has T − 20,000)."""
    blocking_buffer_tokens: Count = 3_000
    """No request is sent above E − this, so that compaction by hand still fits (product §6)."""


@area
class SpillSettings:
    """Tool results that are too large go to a file; the context keeps a preview."""

    enabled: bool = True
    """Spill at all (spec 1 §5)."""
    result_chars: Positive = 50_000
    """A result longer than this is spilled (product §6)."""
    search_result_chars: Positive = 20_000
    """The same for the tools in `search_tools` (product §6)."""
    search_tools: tuple[str, ...] = ("Grep", "Glob", "WebSearch")
    """Tools whose results are search results (product §6)."""
    never: tuple[str, ...] = ("Read",)
    """Tools whose results stay whole, because they page themselves (product §6)."""
    tool_chars: Table[Positive] = ()
    """Limits of single tools, by name; they go before the limits above (spec 3 §9, `spill_thresholds`)."""
    round_chars: Positive = 200_000
    """All results of one round together; the largest are spilled first (product §6)."""
    preview_bytes: Positive = 2_000
    """Size of the preview, cut at a line (product §6; spec 1 §5)."""

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
    """Snip before a request (product §6; spec 1 §6)."""
    trigger_fraction: Share = 0.85
    """Share of E at which it starts (product §6)."""
    target_fraction: Share = 0.70
    """Share of E at which it ends, in one step (product §6)."""


@area
class TimeClearing:
    """Old tool results are emptied after a long pause, when the server's cache is gone anyway."""

    enabled: bool = True
    """Clear after a pause (product §6; spec 1 §7.1 has it off)."""
    gap_minutes: Positive | None = None
    """Pause since the last reply that triggers it; when left out, as long as the provider kept the conversation."""
    min_fill_fraction: Share = 0.50
    """Share of E below which nothing is cleared, however long the pause (product §6)."""
    keep_results: Count = 5
    """Newest results that stay (spec 1 §7.1)."""
    keep_floor: Count = 1
    """A smaller `keep_results` is raised to this (spec 1 §7.1)."""


@area
class CachedClearing:
    """Old tool results are deleted inside the server's cache; only for providers that offer it."""

    enabled: bool = False
    """Send cache edits (product §6: no public endpoint takes them; spec 1 §7.2)."""
    trigger_results: Positive = 20
    """Number of clearable results that triggers it (product §6)."""
    keep_results: Count = 8
    """Newest results that stay (product §6)."""


@area
class ApiClearing:
    """The provider clears tool results and thinking by itself, by rules sent with the request."""

    enabled: bool = False
    """Send the rules; each clearing is an announced break of the cache (product §6; spec 1 §7.3)."""
    trigger_tokens: Positive = 180_000
    """Input size at which the provider starts, for a window of 200,000 (spec 1 §7.3)."""
    clear_at_least_tokens: Count = 140_000
    """Least amount worth a broken cache, for a window of 200,000 (spec 1 §7.3)."""
    scale_to_window: bool = True
    """Scale both numbers with the window (product §6)."""
    keep_thinking_turns: Positive = 1
    """Turns whose thinking stays (spec 1 §7.3)."""
    keep_all_thinking: bool = False
    """Keep the thinking of every turn (spec 1 §7.3)."""


@area
class ClearingSettings:
    """Emptying of old tool results; the messages keep their structure."""

    tools: tuple[str, ...] = (
        "Read", "Bash", "PowerShell", "Grep", "Glob", "WebSearch", "WebFetch", "Edit", "Write",
    )  # fmt: skip
    """Tools whose results may be cleared; name an MCP tool here to include it (spec 1 §7)."""
    time: TimeClearing = TimeClearing()
    cached: CachedClearing = CachedClearing()
    api: ApiClearing = ApiClearing()


@area
class CollapseSettings:
    """Old spans are shown folded as short summaries; the history stays whole."""

    enabled: bool = False
    """Collapse instead of compacting ahead of time (product §6; spec 1 §8)."""
    stage_fraction: Share = 0.90
    """Share of E at which spans are chosen (spec 1 §8)."""
    run_fraction: Share = 0.95
    """Share of E at which they are folded (spec 1 §8)."""
    min_span_fraction: Share = 0.05
    """Smallest span, as a share of E (product §6)."""
    summary_tokens: Positive = 1_000
    """Longest summary of one span (product §6)."""


@area
class NotesSettings:
    """Running notes of this session: a summary that exists before it is needed."""

    enabled: bool = True
    """Keep notes; they also need automatic compaction (product §6; spec 3 §9 has it off)."""
    init_tokens: Count = 10_000
    """Size of the conversation at which the first notes are written (spec 1 §9.2)."""
    growth_tokens: Count = 5_000
    """Growth between two updates (spec 1 §9.2)."""
    tool_calls: Count = 3
    """Tool calls between two updates, unless a reply made none (spec 1 §9.2)."""
    section_tokens: Positive = 2_000
    """Longest section (spec 1 §9.3)."""
    total_tokens: Positive = 12_000
    """Longest notes file (spec 1 §9.3)."""
    compact_section_chars: Positive = 8_000
    """Where a section is cut when the notes become the summary (spec 1 §10)."""
    max_rounds: Positive = 3
    """Rounds the writer of the notes may take (product §6)."""


@area
class CompactionSettings:
    """A summary takes the place of the history in the view."""

    enabled: bool = True
    """Allow compaction, automatic and by hand (spec 8 §1.6, `DISABLE_COMPACT`)."""
    auto: bool = True
    """Compact without being asked when the window fills (spec 3 §9, `auto_compact`)."""
    auto_window_tokens: Positive | None = None
    """Window that automatic compaction reckons with instead of W (spec 3 §10, `AUTO_COMPACT_WINDOW`)."""
    auto_percent: Annotated[int, Range(1, 100)] | None = None
    """Share of that window, in percent, to which T is lowered; it never raises T (spec 8 §1.6)."""
    auto_buffer_tokens: Count = 13_000
    """T = E − this (spec 1 §3)."""
    server: bool = False
    """Let the provider compact by itself, a little before our own compaction would, where the model offers that."""
    from_notes: bool = True
    """Use the session notes as the summary where they suffice (spec 1 §10; spec 3 §9, `notes_compaction`)."""
    keep_min_tokens: Count = 10_000
    """Smallest tail kept beside the notes (spec 1 §10)."""
    keep_min_text_messages: Count = 5
    """Fewest messages with text in that tail (spec 1 §10)."""
    keep_max_tokens: Count = 40_000
    """Where the tail stops growing towards older messages (spec 1 §10)."""
    summary_max_tokens: Positive = 20_000
    """Longest summary that a model may write (spec 1 §11.2)."""
    user_text_fraction: Share = 0.25
    """Share of E within which typed messages survive word for word (product §6)."""
    receipt_fraction: Share = 0.01
    """Share of E that the receipt in view may take (product §6)."""
    restore_files: Count = 5
    """Recently read files that return after compaction (spec 1 §11.4)."""
    restore_file_tokens: Count = 5_000
    """Most of each such file (spec 1 §11.4)."""
    restore_files_total_tokens: Count = 50_000
    """Most of all such files together (spec 1 §11.4)."""
    restore_skill_tokens: Count = 5_000
    """Most of each invoked skill that returns (spec 1 §11.4)."""
    restore_skills_total_tokens: Count = 25_000
    """Most of all invoked skills together (spec 1 §11.4)."""
    too_long_retries: Count = 3
    """Further tries when the request for a summary is itself too long (spec 1 §13)."""
    too_long_drop_fraction: Share = 0.20
    """Share of the oldest rounds left out at such a try when the error names no gap (spec 1 §13)."""
    max_failures: Positive = 3
    """Failures in a row after which automatic compaction asks no model until the user runs `/compact`."""
    max_refills: Positive = 3
    """Times in a row that the window may fill right after a compaction (spec 8 §1.6)."""
    reactive: bool = True
    """Compact and send again when the provider says that the request is too long (spec 1 §14)."""
    reactive_only: bool = False
    """Never compact ahead of time (spec 1 §14)."""
    reactive_attempts: Count = 1
    """Such rescues per request for which a model is asked; one more follows without (spec 1 §14)."""

    @property
    def rescues(self) -> bool:
        """Whether a conversation that no longer fits is compacted without being asked."""
        return self.enabled and self.reactive and (self.auto or self.reactive_only)


@area
class CacheSettings:
    """The provider's prompt cache."""

    enabled: bool = True
    """Mark what the provider shall keep (product §2)."""
    system_ttl: Literal["5m", "1h"] = "1h"
    """How long tools and system text are asked to live, at least as long as the conversation (spec 6 §1)."""
    ttl: Literal["auto", "5m", "1h"] = "auto"
    """The same for the conversation; `auto` takes the hour, which costs more, once the user has paused for long."""
    break_fraction: Share = 0.05
    """Share by which cache reads must fall short of the promise to count as a break (product §6)."""
    break_tokens: Count = 2_000
    """And the tokens by which they must fall short (product §6)."""
