"""`reverie export`: a memory with its whole history in one file."""

from __future__ import annotations

import click

from reverie.apps.cli.options import MemorySelection, as_json, memory_options


@click.command("export")
@click.argument("target", metavar="FILE")
@as_json
@memory_options
def command(selection: MemorySelection, *, target: str, as_json: bool) -> None:
    """Export all memories with their history to FILE, as a backup or for another machine.

    \b
    Examples:
      reverie export memory.zip
      reverie export ~/backup/app-memory.zip --json
    """
    from reverie.apps.cli.output import print_json

    path = selection.open().export(target)
    if as_json:
        print_json({"path": str(path), "size": path.stat().st_size})
    else:
        click.echo(f"exported to {path}")
