"""`reverie sessions`: the sessions of a project, newest first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from reverie.apps.cli.options import Common, as_json, project_option

if TYPE_CHECKING:
    from reverie.apps.session_figures import Figures
    from reverie.messages.listing import Glance

SECONDS_TO_READ = 0.25
"""How long a listing may read whole files for exact figures; what is not reached is an estimate."""


@click.command("sessions")
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path))
@click.option("--all", "everywhere", is_flag=True, help="List sessions of all projects.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Maximum number of sessions.")
@click.option("--exact", is_flag=True, help="Read whole files; slower.")
@project_option
@as_json
@click.pass_obj
def command(
    common: Common,
    folders: tuple[Path, ...],
    everywhere: bool,
    limit: int | None,
    exact: bool,
    project: str | None,
    as_json: bool,
) -> None:
    """List sessions with title, size, model and cost. FOLDERS are directories of transcripts (default: this project).

    Only the beginning and end of each file are read, so numbers marked ~ are estimates; --exact reads all.

    \b
    Examples:
      reverie sessions
      reverie sessions --all --limit 20
      reverie sessions ~/.claude/projects/-home-me-app --json
    """
    from reverie.apps.cli.find_session import all_session_folders, session_folders
    from reverie.apps.cli.output import print_json
    from reverie.apps.session_figures import read_figures
    from reverie.errors import UserMistake
    from reverie.messages.listing import list_glances
    from reverie.models import from_settings
    from reverie.models.ledger import read_bookings
    from reverie.settings import load

    configuration = common.configuration(project)
    places = load.places(configuration)
    for folder in folders:
        if not folder.is_dir():
            raise UserMistake(f"{folder} does not exist; name a directory of .jsonl transcripts")
    if folders:
        searched = [path for folder in folders for path in (folder, *sorted(folder.glob("*/")))]
    elif everywhere:
        searched = all_session_folders(configuration)
    else:
        searched = session_folders(configuration, common.directory(project))
    glances = list_glances(searched)[:limit]
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
        _print_sessions(glances, figures, searched)


def _document(glance: Glance, figures: Figures | None) -> dict[str, object]:
    return {
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
    }


def _print_sessions(glances: list[Glance], figures: dict[Path, Figures], searched: list[Path]) -> None:
    from reverie.apps.cli.output import dollars, format_count, print_table, short_count, short_size
    from reverie.models.names import canonical_name

    if not glances:
        click.echo(
            f"No sessions in {format_count(len(searched), 'directory', 'directories')}. "
            "Run `reverie sessions --all` to list all projects.",
            err=True,
        )
        return
    rows = []
    for glance in glances:
        exact = figures.get(glance.path)
        messages = str(exact.messages if exact else glance.messages)
        if exact is None and glance.is_estimate:
            messages = f"~{messages}"
        rows.append(
            (
                glance.id[:8],
                glance.updated[:16].replace("T", " "),
                glance.title or "(no title)",
                messages,
                short_count(glance.tokens),
                short_size(glance.size_bytes),
                canonical_name(glance.model).removeprefix("claude-") if glance.model else "–",
                dollars(exact.cost_usd) if exact else "…",
            )
        )
    columns = [
        ("session", "left"),
        ("updated", "left"),
        ("title", "flex"),
        ("messages", "right"),
        ("tokens", "right"),
        ("size", "right"),
        ("model", "left"),
        ("cost", "right"),
    ]
    print_table(columns, rows)
