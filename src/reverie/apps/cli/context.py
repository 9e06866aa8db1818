"""`reverie context`: what fills the window of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reverie.apps.cli.options import Common, as_json, project_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.apps.rows import ContextReport, SubagentRow
    from reverie.models.tokens.window import WindowBudget

BAR = 40
"""Width of a bar at 80 columns."""


@click.command("context")
@click.argument("session", required=False)
@click.option("--model", metavar="NAME", help="Count tokens for this model (default: the last one used).")
@click.option("--window", type=click.IntRange(min=1_000), metavar="N", help="Context window in tokens.")
@project_option
@as_json
@click.pass_obj
def command(
    common: Common, session: str | None, model: str | None, window: int | None, project: str | None, as_json: bool
) -> None:
    """Show what uses the context window of SESSION.

    SESSION is a transcript file or an id (default: the newest session of the project).

    \b
    Examples:
      reverie context
      reverie context 5f0c954e --json
      reverie context ~/.claude/projects/-home-me-app/5f0c954e.jsonl --window 200000
    """
    from reverie.apps.cli.exits import say
    from reverie.apps.cli.output import print_json
    from reverie.apps.find_session import find_session
    from reverie.apps.rows import context_report, subagent_rows
    from reverie.apps.session_figures import session_cost
    from reverie.files.places import ProjectFolder
    from reverie.files.places.transcripts import list_subagent_transcripts
    from reverie.hosts.catalogue import read_any_entries
    from reverie.models import from_settings
    from reverie.models.ledger import read_bookings
    from reverie.models.profiles import profile
    from reverie.models.tokens.window import unknown_model
    from reverie.settings import load

    configuration = common.configuration(project)
    path = find_session(configuration, common.directory(project), session)
    report = context_report(
        read_any_entries(path),
        model=model or common.model,
        overrides=from_settings.profile_overrides(configuration.settings),
    )
    budget = from_settings.budget(
        configuration.settings, report.model or "", window=window, reported_tokens=report.counted.reported_tokens
    ).using(report.tokens)
    folder = ProjectFolder(path.parent)
    files = [] if path.stem.startswith("agent-") else list_subagent_transcripts(folder, path.stem)
    overrides = from_settings.profile_overrides(configuration.settings)
    helpers = subagent_rows(path.stem, ((file.stem, read_any_entries(file)) for file in files), overrides)
    spent = session_cost(path, read_bookings(load.places(configuration).ledger), overrides)
    if as_json:
        print_json(_document(report, budget, str(path), helpers, spent))
    else:
        _draw(report, budget, path.name, helpers, spent)
    if report.model and (assumed := unknown_model(profile(report.model, overrides), budget)):
        say(assumed)


def _document(
    report: ContextReport, budget: WindowBudget, path: str, helpers: Sequence[SubagentRow], spent: float | None
) -> dict[str, object]:
    return {
        "session": path,
        "model": report.model,
        "messages": report.messages,
        "tool_calls": report.tool_calls,
        "tool_results": report.tool_results,
        "tokens": report.tokens,
        "tokens_reported": report.counted.reported_tokens,
        "tokens_estimated": report.counted.estimated_tokens,
        "window": budget.window_tokens,
        "effective_window": budget.effective_tokens,
        "compact_at": budget.compact_at_tokens,
        "level": budget.level.value,
        "percent_left": round(budget.percent_left, 1),
        "parts": [{"kind": part.kind, "tokens": part.tokens} for part in report.parts],
        "biggest": [
            {"label": big.label, "kind": big.kind, "tokens": big.tokens, "message": big.message}
            for big in report.biggest
        ],
        "cost_usd": spent,
        "subagents": [
            {"id": one.id, "messages": one.messages, "tokens": one.tokens, "cost_usd": one.cost_usd} for one in helpers
        ],
    }


def _draw(
    report: ContextReport, budget: WindowBudget, name: str, helpers: Sequence[SubagentRow], spent: float | None
) -> None:
    from rich.table import Table
    from rich.text import Text

    from reverie.apps.cli.output import console, dollars, format_count, print_table, short_count

    screen = console()
    screen.print(Text(f"{name}  {report.model or 'no model yet'}", style="bold"))
    share = report.tokens / max(1, budget.window_tokens)
    gauge = _gauge(report.tokens, budget)
    screen.print(gauge, Text(f" {share:.0%}  {budget.level.value}"))
    screen.print(
        f"{short_count(report.tokens)} of {short_count(budget.window_tokens)} tokens, "
        f"compaction at {short_count(budget.compact_at_tokens)} · {format_count(report.messages, 'message')}, "
        f"{format_count(report.tool_calls, 'tool call')}, {format_count(report.tool_results, 'result')} · "
        f"cost so far {dollars(spent)}"
    )
    screen.print()
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True, overflow="ellipsis", max_width=42)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    heaviest = max((part.tokens for part in report.parts), default=1)
    for part in report.parts:
        bar = "█" * max(1, round(part.tokens / heaviest * (BAR // 2)))
        percent = f"{part.tokens / max(1, report.tokens):.0%}"
        table.add_row(Text(part.kind), short_count(part.tokens), percent, Text(bar, style="cyan"))
    screen.print(table)
    if report.biggest:
        screen.print()
        rows = [(big.label, short_count(big.tokens)) for big in report.biggest if big.tokens]
        print_table([("biggest", "flex"), ("tokens", "right")], rows)

    if helpers:
        screen.print()
        listed = [(one.id, str(one.messages), short_count(one.tokens), dollars(one.cost_usd)) for one in helpers]
        columns = [("sub-agent", "flex"), ("messages", "right"), ("tokens", "right"), ("cost", "right")]
        print_table(columns, listed)


def _gauge(tokens: int, budget: WindowBudget) -> object:
    """A bar over the whole window with a mark where compaction starts."""
    from rich.text import Text

    def place(amount: int) -> int:
        return min(BAR, round(amount / max(1, budget.window_tokens) * BAR))

    filled, mark = place(tokens), min(BAR - 1, place(budget.compact_at_tokens))
    style = "red" if tokens > budget.compact_at_tokens else "yellow" if tokens > budget.warning_tokens else "green"
    bar = Text("▕")
    for cell in range(BAR):
        bar.append("█" if cell < filled else "┆" if cell == mark else "·", style=style if cell < filled else "dim")
    return bar.append("▏")
