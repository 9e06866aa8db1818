"""`reverie erase`: remove a memory for good."""

from __future__ import annotations

import sys

import click

from reverie.apps.cli.options import MemorySelection, as_json, memory_options
from reverie.apps.cli.shell_completion import memory_names


@click.command("erase")
@click.argument("name", shell_complete=memory_names)
@click.option("--transcripts", is_flag=True, help="Also remove its text from transcripts, notes and the input history.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation; required without a terminal.")
@as_json
@memory_options
def command(selection: MemorySelection, *, name: str, transcripts: bool, yes: bool, as_json: bool) -> None:
    """Erase a memory from the directory, its history and the search index. This cannot be undone.

    It will not be extracted again. Copies elsewhere cannot be erased; their locations are listed.

    \b
    Examples:
      reverie erase "No database mocks"
      reverie erase feedback_no_database_mocks.md --transcripts --yes
    """
    from reverie.apps.cli.output import print_json
    from reverie.apps.tui.history import INPUT_HISTORY
    from reverie.errors import Refused, UserMistake

    memory = selection.open_for(name, or_gone=True)
    if not yes:
        if not sys.stdin.isatty():
            raise UserMistake(f"erasing {name!r} cannot be undone; add --yes to confirm without a terminal")
        if not click.confirm(f"Erase {name!r} and its whole history from {memory.directory}?", err=True):
            raise Refused("nothing was erased", by="user")
    typed = selection.common.configuration(selection.project).home / INPUT_HISTORY
    quoting = (*memory.transcripts(), *([typed] if typed.is_file() else [])) if transcripts else ()
    erased = memory.erase(name, redact=quoting)
    if as_json:
        print_json(
            {
                "commit": erased.commit,
                "paths": list(erased.paths),
                "conflicts": [],
                "redacted": [str(path) for path in erased.redacted],
                "elsewhere": list(erased.elsewhere),
                "kept_by": list(erased.kept_by),
            }
        )
        return
    click.echo(f"erased  {', '.join(erased.paths)}")
    for path in erased.redacted:
        click.echo(f"  removed from {path}")
    for place in erased.elsewhere:
        click.echo(f"  a copy may remain in {place}, which cannot be erased from here", err=True)
    for name in erased.kept_by:
        click.echo(f"  {name} contains the same text and was not erased", err=True)
