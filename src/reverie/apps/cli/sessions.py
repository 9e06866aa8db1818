"""`reverie sessions`: the sessions of a project, newest first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from reverie.apps.cli.options import Common, as_json, project_option

if TYPE_CHECKING:
    from reverie.apps.session_figures import Figures
    from reverie.messages.listing import Glance
    from reverie.settings.load import Configuration

SECONDS_TO_READ = 0.25
"""How long a listing may read whole files for exact figures; what is not reached is an estimate."""


_KINDS_SHOWN = 5


@click.command("sessions")
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path))
@click.option("--all", "everywhere", is_flag=True, help="List sessions of all projects and agents.")
@click.option("--agent", metavar="NAME", help="Only sessions of this agent, such as claude-code or codex.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Maximum number of sessions.")
@click.option("--exact", is_flag=True, help="Read whole files; slower.")
@project_option
@as_json
@click.pass_obj
def command(
    common: Common,
    folders: tuple[Path, ...],
    everywhere: bool,
    agent: str | None,
    limit: int | None,
    exact: bool,
    project: str | None,
    as_json: bool,
) -> None:
    """List sessions with agent, title, size, model and cost. FOLDERS are directories of transcripts or homes of agents
    (default: the sessions of this project, of all agents).

    Only the beginning and end of each file are read, so numbers marked ~ are estimates; --exact reads all.

    \b
    Examples:
      reverie sessions
      reverie sessions --all --limit 20
      reverie sessions --all --agent codex
      reverie sessions ~/.claude/projects/-home-me-app --json
    """
    from reverie.apps.cli.output import print_json
    from reverie.apps.session_figures import read_figures
    from reverie.models import from_settings
    from reverie.models.ledger import read_bookings
    from reverie.settings import load

    configuration = common.configuration(project)
    places = load.places(configuration)
    if agent is not None:
        from reverie.apps.find_session import check_agent

        check_agent(agent)
    if folders:
        glances = _list_in_folders(folders)
    elif everywhere:
        glances = _list_everywhere(configuration)
    else:
        from reverie.apps.find_session import list_project_sessions

        glances = list_project_sessions(configuration, common.directory(project))
    glances = [glance for glance in glances if agent in (None, glance.agent)]
    glances = sorted(glances, key=lambda glance: (glance.updated, glance.id), reverse=True)[:limit]
    figures = read_figures(
        glances,
        places.caches / "sessions.json",
        seconds=float("inf") if exact else SECONDS_TO_READ,
        ledger=read_bookings(places.ledger),
        overrides=from_settings.profile_overrides(configuration.settings),
    )
    if as_json:
        print_json([_document(glance, figures.get(glance.path)) for glance in glances])
    else:
        _print_sessions(glances, figures, everywhere=everywhere or bool(folders))
    _print_unknown(glances)


def _list_everywhere(configuration: Configuration) -> list[Glance]:
    from reverie.apps.find_session import all_session_folders
    from reverie.hosts.catalogue import list_host_glances
    from reverie.messages.listing import list_glances
    from reverie.settings import load

    others = [glance for glance in list_host_glances(load.places(configuration)) if not glance.is_subagent]
    return [*list_glances(all_session_folders(configuration)), *others]


def _list_in_folders(folders: tuple[Path, ...]) -> list[Glance]:
    from reverie.errors import UserMistake
    from reverie.hosts.catalogue import list_sessions_below, read_any_glance

    glances: dict[Path, Glance] = {}
    for folder in folders:
        if not folder.is_dir():
            raise UserMistake(f"{folder} does not exist; name a directory of .jsonl transcripts")
        paths = dict.fromkeys([*sorted(folder.glob("*.jsonl")), *sorted(folder.glob("*/*.jsonl"))])
        for path in [*paths, *list_sessions_below(folder)]:
            glance = None if path.name.startswith("agent-") else read_any_glance(path)
            if glance is not None:
                glances[path] = glance
    return list(glances.values())


def _document(glance: Glance, figures: Figures | None) -> dict[str, object]:
    return {
        "agent": glance.agent,
        "id": glance.id,
        "path": str(glance.path),
        "title": glance.title,
        "messages": figures.messages if figures else glance.messages,
        "is_estimate": figures is None and glance.is_estimate,
        "tokens": glance.tokens,
        "model": glance.model,
        "updated": glance.updated,
        "created": glance.created,
        "cwd": glance.cwd,
        "git_branch": glance.git_branch,
        "size_bytes": glance.size_bytes,
        "cost_usd": figures.cost_usd if figures else None,
        "unknown_records": dict(glance.unknown),
    }


def _print_sessions(glances: list[Glance], figures: dict[Path, Figures], *, everywhere: bool) -> None:
    from reverie.apps.cli.output import dollars, print_table, short_count, short_size
    from reverie.models.names import canonical_name

    if not glances:
        hint = "" if everywhere else " Run `reverie sessions --all` to list all projects."
        click.echo(f"No sessions found.{hint}", err=True)
        return
    rows = []
    ids = {glance.id for glance in glances}
    for glance in glances:
        exact = figures.get(glance.path)
        messages = str(exact.messages if exact else glance.messages)
        if exact is None and glance.is_estimate:
            messages = f"~{messages}"
        row = [
            _short_id(glance.id, ids),
            glance.updated[:16].replace("T", " "),
            glance.agent,
            glance.title or "(no title)",
            messages,
            short_count(glance.tokens),
            short_size(glance.size_bytes),
            canonical_name(glance.model).removeprefix("claude-") if glance.model else "–",
            "…" if exact is None else "unknown" if exact.cost_usd is None else dollars(exact.cost_usd),
        ]
        if everywhere:
            row.insert(3, Path(glance.cwd).name or "unknown")
        rows.append(tuple(row))
    columns = [
        ("session", "left"),
        ("updated", "left"),
        ("agent", "left"),
        ("title", "flex"),
        ("messages", "right"),
        ("tokens", "right"),
        ("size", "right"),
        ("model", "left"),
        ("cost", "right"),
    ]
    if everywhere:
        columns.insert(3, ("project", "left"))
    print_table(columns, rows)


def _short_id(session: str, ids: set[str]) -> str:
    """As much of an id as tells it from the others; ids of some agents begin with the time."""
    length = 8
    while length < len(session) and sum(one.startswith(session[:length]) for one in ids) > 1:
        length += 1
    return session[:length].rstrip("-")


def _print_unknown(glances: list[Glance]) -> None:
    """Say on standard error which records were not understood: the agent may be newer than its reader."""
    from reverie.amounts import format_count

    by_agent: dict[str, dict[str, int]] = {}
    for glance in glances:
        kinds = by_agent.setdefault(glance.agent, {})
        for kind, count in glance.unknown.items():
            kinds[kind] = kinds.get(kind, 0) + count
    for agent, kinds in by_agent.items():
        if kinds:
            named = ", ".join(sorted(kinds, key=lambda kind: -kinds[kind])[:_KINDS_SHOWN])
            records = format_count(sum(kinds.values()), "record")
            click.echo(f"{records} of unknown kinds in sessions of {agent}: {named}", err=True)
