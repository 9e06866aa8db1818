"""The model calls of all sessions, and the keys by which they are added up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from reverie.apps.find_session import all_session_folders
from reverie.apps.session_figures import read_transcript_bookings
from reverie.errors import Damaged
from reverie.hosts.catalogue import list_host_glances
from reverie.messages.listing import list_glances
from reverie.models import from_settings
from reverie.models.ledger import Booking, read_bookings
from reverie.models.profiles import ProfileOverride
from reverie.settings import load
from reverie.settings.load import Configuration

GROUPS: dict[str, Callable[[Booking], str]] = {
    "day": lambda booking: f"{booking.when.astimezone():%Y-%m-%d}",
    "purpose": lambda booking: booking.purpose,
    "session": lambda booking: booking.session,
    "model": lambda booking: booking.model,
    "agent": lambda booking: booking.agent or "main",
    "project": lambda booking: booking.project,
}


ReadBookings = Callable[[Path, Mapping[str, ProfileOverride]], Mapping[str, Booking]]


def read_all_bookings(configuration: Configuration, read: ReadBookings = read_transcript_bookings) -> list[Booking]:
    """The calls in the ledger and those of the sessions of other agents, oldest first.

    `read` reads those of one transcript, for callers who remember them.
    """
    bookings = list(read_bookings(load.places(configuration).ledger))
    return sorted([*bookings, *_elsewhere(configuration, bookings, read)], key=lambda one: one.when)


def _elsewhere(configuration: Configuration, booked: Iterable[Booking], read: ReadBookings) -> Iterable[Booking]:
    """The calls of all sessions that the ledger does not know, once each: forks of some agents repeat replies."""
    booked_sessions = {one.session for one in booked}
    overrides = from_settings.profile_overrides(configuration.settings)
    bookings: dict[str, Booking] = {}
    glances = [*list_glances(all_session_folders(configuration)), *list_host_glances(load.places(configuration))]
    for glance in sorted(glances, key=lambda one: one.created):
        if glance.id not in booked_sessions:
            with suppress(Damaged):
                bookings = {**read(glance.path, overrides), **bookings}
    return bookings.values()
