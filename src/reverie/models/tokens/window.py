"""The thresholds of the window: how much may be used, and what is due at which size.

Every number is an argument with its default; the settings pass theirs. Absolute numbers hold for windows of 100,000
tokens and more; below that they shrink with the window, so that the lines keep their order and leave room to work in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum

from reverie.models.names import wants_extended_window
from reverie.models.profiles import (
    DEFAULT_WINDOW_TOKENS,
    EXTENDED_WINDOW_BETA,
    EXTENDED_WINDOW_TOKENS,
    NO_OVERRIDES,
    UNKNOWN_HOSTED_TOKENS,
    Profile,
    ProfileOverride,
    profile,
    window_tokens,
)
from reverie.settings import Settings
from reverie.values import value


class WindowLevel(StrEnum):
    """How full the window is. Each line is crossed when the count is above it, not at it."""

    CALM = "calm"
    WARNING = "warning"
    ERROR = "error"
    COMPACT = "compact"
    """Automatic compaction is due."""
    BLOCKED = "blocked"
    """Only a compaction may still be asked for."""


@value
class Buffers:
    """The numbers from which the lines are drawn."""

    output_reserve_tokens: int = 20_000
    """Room in which the rescuing summary is written; less when the model cannot write so much."""
    compact_tokens: int = 13_000
    """Automatic compaction lies this far below the effective window."""
    blocking_tokens: int = 3_000
    """The last line lies this far below the effective window, so that a compaction by hand can still run."""
    warning_ratio: float = 0.80
    error_ratio: float = 0.90
    """Both of the compaction line."""
    collapse_stage_ratio: float = 0.90
    collapse_run_ratio: float = 0.95
    """Both of the effective window."""


DEFAULT_BUFFERS = Buffers()
FULL_SIZE_TOKENS = 100_000
"""The smallest window for which absolute numbers hold as they are stated."""
LEAST_ANSWER_TOKENS = 1_000
"""Room that is asked for an answer even where nothing is reserved: less is a reply that says nothing."""
_MOST_OF_WINDOW = 0.20
"""What the output reserve may take."""


def scale_to_window(tokens: int, window_tokens: int) -> int:
    """An absolute number as it holds in a window of this size."""
    return tokens * min(window_tokens, FULL_SIZE_TOKENS) // FULL_SIZE_TOKENS


@value
class WindowBudget:
    """The lines of one window and how much of it is used."""

    window_tokens: int
    effective_tokens: int
    compact_at_tokens: int
    warning_tokens: int
    error_tokens: int
    blocking_tokens: int
    collapse_stage_tokens: int
    collapse_run_tokens: int
    compacts: bool = True
    """Whether automatic compaction is on."""
    used_tokens: int = 0

    def using(self, tokens: int) -> WindowBudget:
        """The same lines with another use."""
        return replace(self, used_tokens=tokens)

    def shrunk(self, factor: float) -> WindowBudget:
        """The same use against lines that lie lower."""
        return replace(
            self,
            effective_tokens=int(self.effective_tokens * factor),
            compact_at_tokens=int(self.compact_at_tokens * factor),
            blocking_tokens=int(self.blocking_tokens * factor),
        )

    @property
    def limit_tokens(self) -> int:
        """What the share left is measured against: the compaction line, or the effective window when that is off."""
        return self.compact_at_tokens if self.compacts else self.effective_tokens

    @property
    def percent_left(self) -> float:
        """How much of the limit is left, never below 0."""
        return max(0.0, (self.limit_tokens - self.used_tokens) / self.limit_tokens * 100)

    @property
    def must_compact(self) -> bool:
        """Above the compaction line, whether or not compaction is on."""
        return self.used_tokens > self.compact_at_tokens

    @property
    def is_blocked(self) -> bool:
        return self.used_tokens > self.blocking_tokens

    @property
    def must_stage_collapse(self) -> bool:
        return self.used_tokens > self.collapse_stage_tokens

    @property
    def must_run_collapse(self) -> bool:
        return self.used_tokens > self.collapse_run_tokens

    @property
    def level(self) -> WindowLevel:
        """The highest line that is crossed."""
        if self.is_blocked:
            return WindowLevel.BLOCKED
        if self.must_compact and self.compacts:
            return WindowLevel.COMPACT
        if self.used_tokens > self.error_tokens:
            return WindowLevel.ERROR
        return WindowLevel.WARNING if self.used_tokens > self.warning_tokens else WindowLevel.CALM


def effective_tokens(window_tokens: int, max_output_tokens: int | None, buffers: Buffers = DEFAULT_BUFFERS) -> int:
    """The window without the room that is kept for the answer."""
    reserve = min(buffers.output_reserve_tokens, round(window_tokens * _MOST_OF_WINDOW))
    if max_output_tokens is not None:
        reserve = min(reserve, max_output_tokens)
    return window_tokens - reserve


def budget(
    window_tokens: int,
    max_output_tokens: int | None = None,
    *,
    used_tokens: int = 0,
    buffers: Buffers = DEFAULT_BUFFERS,
    compact_window_tokens: int | None = None,
    compact_percent: int | None = None,
    compacts: bool = True,
) -> WindowBudget:
    """Draw the lines of a window.

    `compact_window_tokens` makes automatic compaction act as if the window were smaller; `compact_percent` of that
    window may lower its line further and never raises it.
    """
    effective = effective_tokens(window_tokens, max_output_tokens, buffers)
    compact_window = min(window_tokens, compact_window_tokens or window_tokens)
    compact_effective = effective_tokens(compact_window, max_output_tokens, buffers)
    compact_at = max(
        compact_effective // 2, compact_effective - scale_to_window(buffers.compact_tokens, compact_window)
    )
    if compact_percent is not None:
        compact_at = min(compact_at, compact_window * compact_percent // 100)
    return WindowBudget(
        window_tokens=window_tokens,
        effective_tokens=effective,
        compact_at_tokens=compact_at,
        warning_tokens=round(compact_at * buffers.warning_ratio),
        error_tokens=round(compact_at * buffers.error_ratio),
        blocking_tokens=max(effective // 2, effective - scale_to_window(buffers.blocking_tokens, window_tokens)),
        collapse_stage_tokens=round(effective * buffers.collapse_stage_ratio),
        collapse_run_tokens=round(effective * buffers.collapse_run_ratio),
        compacts=compacts,
        used_tokens=used_tokens,
    )


def narrower_budget(
    settings: Settings,
    model: str,
    *,
    window: int | None = None,
    overrides: Mapping[str, ProfileOverride] = NO_OVERRIDES,
) -> WindowBudget:
    """The lines as `budget_by` draws them when the provider does not give the extended window."""
    plain = replace(settings, window=replace(settings.window, extended=False))
    return budget_by(plain, model.removesuffix("[1m]"), window=window, overrides=overrides)


def budget_by(
    settings: Settings,
    model: str,
    *,
    window: int | None = None,
    reported_tokens: int = 0,
    overrides: Mapping[str, ProfileOverride] = NO_OVERRIDES,
) -> WindowBudget:
    """The lines of a model's window as the settings draw them; `window` makes it another size.

    A provider that has counted more than the table's window shows that the session ran with a larger one.
    """
    lines, compaction, collapse = settings.window, settings.compaction, settings.collapse
    betas = (EXTENDED_WINDOW_BETA,) if lines.extended else ()
    default = lines.default_tokens if lines.default_tokens != DEFAULT_WINDOW_TOKENS else None
    own = window_tokens(model, betas=betas, override_tokens=lines.override_tokens or default, overrides=overrides)
    if own == EXTENDED_WINDOW_TOKENS and (lines.extended or wants_extended_window(model)):
        own = lines.extended_tokens
    if reported_tokens > own:
        sizes = sorted({UNKNOWN_HOSTED_TOKENS, DEFAULT_WINDOW_TOKENS, lines.extended_tokens})
        own = next((size for size in sizes if size > own and size >= reported_tokens), reported_tokens)
    return budget(
        window or own,
        profile(model, overrides).max_output_tokens,
        buffers=Buffers(
            output_reserve_tokens=lines.output_reserve_tokens,
            compact_tokens=compaction.auto_buffer_tokens,
            blocking_tokens=lines.blocking_buffer_tokens,
            warning_ratio=lines.warning_fraction,
            error_ratio=lines.error_fraction,
            collapse_stage_ratio=collapse.stage_fraction,
            collapse_run_ratio=collapse.run_fraction,
        ),
        compact_window_tokens=compaction.auto_window_tokens,
        compact_percent=compaction.auto_percent,
        compacts=compaction.enabled and compaction.auto,
    )


def unknown_model(facts: Profile, drawn: WindowBudget) -> str | None:
    """What is assumed of a model whose window nobody stated, and how to say better; None where nothing is."""
    if facts.is_known or facts.window_is_stated or drawn.window_tokens != facts.window_tokens:
        return None
    price = "" if facts.prices else "; its price is unknown"
    return (
        f"the model {facts.family!r} is not known: a window of {facts.window_tokens:,} tokens is assumed{price}; "
        "--window N says another for this run, `models.NAME.window_tokens` in settings.toml for good"
    )
