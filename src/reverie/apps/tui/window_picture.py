"""Draws what fills the window, for `/context`; the rows come from `apps.rows`."""

from __future__ import annotations

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from reverie.apps.amounts import short_count
from reverie.apps.rows import ContextReport
from reverie.apps.tui.status_line import LEVEL_STYLES
from reverie.models.tokens.window import WindowBudget

BAR = 40
MOST_PARTS = 10
MOST_BIGGEST = 5


def window_picture(report: ContextReport, budget: WindowBudget) -> tuple[RenderableType, ...]:
    """A gauge, what it is made of, and the heaviest single things."""
    share = report.tokens / max(1, budget.effective_tokens)
    gauge = _gauge(report.tokens, budget).append(f" {share:.0%}  {budget.level.value}")
    facts = Text(
        f"{short_count(report.tokens)} of {short_count(budget.effective_tokens)} tokens · compaction at "
        f"{short_count(budget.compact_at_tokens)} · {report.messages} messages",
        style="dim",
    )
    parts = Table.grid(padding=(0, 2, 0, 0))
    parts.add_column(no_wrap=True, overflow="ellipsis", max_width=32)
    for width in (5, 4):
        parts.add_column(justify="right", no_wrap=True, min_width=width)
    parts.add_column(no_wrap=True, overflow="crop")
    heaviest = max((part.tokens for part in report.parts), default=1)
    for part in report.parts[:MOST_PARTS]:
        bar = Text("█" * max(1, round(part.tokens / heaviest * BAR / 2)), style="cyan")
        percent = f"{part.tokens / max(1, report.tokens):.0%}"
        parts.add_row(Text(part.kind), short_count(part.tokens), percent, bar)
    found: list[RenderableType] = [gauge, facts, Text(""), parts]
    biggest = [big for big in report.biggest[:MOST_BIGGEST] if big.tokens]
    if biggest:
        table = Table.grid(padding=(0, 2, 0, 0), expand=True)
        table.add_column(justify="right", no_wrap=True, min_width=5)
        table.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
        for big in biggest:
            table.add_row(short_count(big.tokens), Text(big.label))
        found += [Text(""), Text("biggest", style="dim"), table]
    return tuple(Padding(each, (0, 0, 0, 2)) for each in found)


def _gauge(tokens: int, budget: WindowBudget) -> Text:
    """A bar over all that can be used of the window, with a mark where compaction starts."""

    def place(amount: int) -> int:
        return min(BAR, round(amount / max(1, budget.effective_tokens) * BAR))

    filled, mark = place(tokens), min(BAR - 1, place(budget.compact_at_tokens))
    bar = Text().append("▕", style="dim")
    for cell in range(BAR):
        drawn = "█" if cell < filled else "┆" if cell == mark else "·"
        bar.append(drawn, style=LEVEL_STYLES[budget.level] if cell < filled else "dim")
    return bar.append("▏", style="dim")
