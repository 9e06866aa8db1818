"""`reverie cost`: what model calls cost, from the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reverie.apps.cli.options import Common, as_json

if TYPE_CHECKING:
    from reverie.models.ledger import BillLine

_GROUPS = ("day", "purpose", "session", "model", "agent", "project")


@click.command("cost")
@click.option("--by", "key", type=click.Choice(_GROUPS), default="day", show_default=True, help="Group by.")
@click.option("--days", type=click.IntRange(min=1), metavar="N", help="Only the last N days.")
@click.option("--session", metavar="ID", help="Only this session (id or prefix) and its teammates.")
@click.option("--all", "everywhere", is_flag=True, help="Include sessions of other agents, from their transcripts.")
@as_json
@click.pass_obj
def command(
    common: Common, *, key: str, days: int | None, session: str | None, everywhere: bool, as_json: bool
) -> None:
    """Show what model calls cost. Background calls count against the background budget.

    The cost of interrupted calls is an estimate (~). `reverie sessions` shows the same figure per session.

    \b
    Examples:
      reverie cost
      reverie cost --by purpose --days 7
      reverie cost --all --by project
      reverie cost --by session --json
    """
    from datetime import timedelta

    from reverie.apps.bookings import GROUPS, read_all_bookings
    from reverie.apps.cli.output import print_json
    from reverie.models.ledger import by, of_session, read_bookings, total
    from reverie.settings import load

    configuration = common.configuration()
    folder = load.places(configuration).ledger
    since = load.SystemClock().now() - timedelta(days=days) if days else None
    bookings = list(read_bookings(folder))
    if everywhere or (session and not of_session(bookings, session)):
        bookings = read_all_bookings(configuration)
    bookings = of_session((one for one in bookings if since is None or one.when >= since), session or "")
    lines = by(bookings, GROUPS[key])
    if as_json:
        print_json([_document(key, line) for line in lines])
    elif not lines:
        hint = "" if everywhere else " Run `reverie cost --all` to include sessions of other agents."
        click.echo(f"No model calls recorded in {folder}.{hint}", err=True)
    else:
        _draw(key, [*lines, total(bookings)] if len(lines) > 1 else lines)


def _document(key: str, line: BillLine) -> dict[str, object]:
    usage = line.usage
    return {
        key: line.key,
        "calls": line.calls,
        "input_tokens": usage.input_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "output_tokens": usage.output_tokens,
        "cache_share": line.cache_share,
        "cost_usd": line.cost_usd,
        "estimated_calls": line.estimates,
    }


def _draw(key: str, lines: list[BillLine]) -> None:
    from reverie.apps.cli.output import dollars, print_table, short_count

    columns = [
        (key, "flex"),
        ("calls", "right"),
        ("fresh", "right"),
        ("cached", "right"),
        ("written", "right"),
        ("output", "right"),
        ("from cache", "right"),
        ("cost", "right"),
    ]
    rows = [
        (
            line.key or "–",
            str(line.calls),
            short_count(line.usage.input_tokens),
            short_count(line.usage.cache_read_tokens),
            short_count(line.usage.cache_write_tokens),
            short_count(line.usage.output_tokens),
            "–" if line.cache_share is None else f"{line.cache_share:.0%}",
            f"{'~' if line.estimates else ''}{dollars(line.cost_usd)}",
        )
        for line in lines
    ]
    print_table(columns, rows)
