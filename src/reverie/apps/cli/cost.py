"""`reverie cost`: what model calls cost, from the ledger."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import click

from reverie.apps.cli.options import Common, as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reverie.models.ledger import BillLine, Booking
    from reverie.settings.load import Configuration

GROUPS: dict[str, Callable[[Booking], str]] = {
    "day": lambda booking: f"{booking.when.astimezone():%Y-%m-%d}",
    "purpose": lambda booking: booking.purpose,
    "session": lambda booking: booking.session,
    "model": lambda booking: booking.model,
    "agent": lambda booking: booking.agent or "main",
    "project": lambda booking: booking.project,
}


@click.command("cost")
@click.option("--by", "key", type=click.Choice(list(GROUPS)), default="day", show_default=True, help="Group by.")
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


def read_all_bookings(configuration: Configuration) -> list[Booking]:
    """The calls in the ledger and those of the sessions of other agents, oldest first."""
    from reverie.models.ledger import read_bookings
    from reverie.settings import load

    bookings = list(read_bookings(load.places(configuration).ledger))
    return sorted([*bookings, *_elsewhere(configuration, bookings)], key=lambda one: one.when)


def _elsewhere(configuration: Configuration, booked: Iterable[Booking]) -> Iterable[Booking]:
    """The calls of all sessions that the ledger does not know, once each: forks of some agents repeat replies."""
    from reverie.apps.cli.find_session import all_session_folders
    from reverie.apps.session_figures import read_transcript_bookings
    from reverie.errors import Damaged
    from reverie.hosts.catalogue import list_host_glances
    from reverie.messages.listing import list_glances
    from reverie.models import from_settings
    from reverie.settings import load

    booked_sessions = {one.session for one in booked}
    overrides = from_settings.profile_overrides(configuration.settings)
    bookings: dict[str, Booking] = {}
    glances = [*list_glances(all_session_folders(configuration)), *list_host_glances(load.places(configuration))]
    for glance in sorted(glances, key=lambda one: one.created):
        if glance.id not in booked_sessions:
            with suppress(Damaged):
                bookings = read_transcript_bookings(glance.path, overrides) | bookings
    return bookings.values()


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
