"""The limits of a tenant: the server's defaults from its settings, and what an administrator changed for one tenant."""

from __future__ import annotations

import dataclasses
import json

from reverie.errors import UserMistake
from reverie.settings.tree import ServerSettings
from reverie.values import value


@value
class Limits:
    """How much a tenant may store and ask for."""

    max_entries: int
    """Live entries of a repository."""
    max_file_bytes: int
    """Bytes of one entry, as UTF-8."""
    max_repository_bytes: int
    """Bytes of all live entries of a repository."""
    max_repositories: int
    versions_kept: int
    """Earlier texts of an entry that are kept."""
    requests_per_minute: int
    """Of one token, at one server process; 0: no limit."""
    jobs_at_once: int
    """Jobs that workers run at the same time, on all machines; 0: no limit."""
    job_usd_per_day: int
    """What models may cost in jobs of the last 24 hours; 0: no limit."""


LIMIT_NAMES = tuple(field.name for field in dataclasses.fields(Limits))


def default_limits(settings: ServerSettings) -> Limits:
    """The limits of a tenant for which nothing else was set."""
    return Limits(**{name: getattr(settings, name) for name in LIMIT_NAMES})


def apply_overrides(defaults: Limits, overrides: str) -> Limits:
    """The limits of a tenant, from the JSON in its row."""
    changed = json.loads(overrides)
    return dataclasses.replace(defaults, **changed) if changed else defaults


def parse_assignment(assignment: str) -> tuple[str, int | None]:
    """`NAME=NUMBER` as the command line has it; `NAME=default` removes what was set before."""
    name, _, number = assignment.partition("=")
    if name not in LIMIT_NAMES:
        raise UserMistake(f"unknown limit {name!r}; there are {', '.join(LIMIT_NAMES)}")
    if number == "default":
        return name, None
    if not number.isdecimal():
        raise UserMistake(f"{assignment!r}: write {name}=NUMBER, or {name}=default")
    return name, int(number)
