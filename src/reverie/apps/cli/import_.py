"""`reverie import`: bring in what `reverie export` wrote."""

from __future__ import annotations

import click

from reverie.apps.cli.options import MemorySelection, as_json, memory_options


@click.command("import")
@click.argument("source", metavar="FILE")
@as_json
@memory_options
def command(selection: MemorySelection, *, source: str, as_json: bool) -> None:
    """Merge the memories and history in FILE into this memory. On conflict, ours is used and theirs is kept as a copy.

    \b
    Examples:
      reverie import memory.zip
      reverie import ~/backup/app-memory.zip --json
    """
    from reverie.apps.cli.output import format_count, print_json

    memory = selection.open()
    done = memory.import_from(source)
    if as_json:
        print_json(
            {
                "commit": done.commit,
                "paths": list(done.paths),
                "conflicts": list(done.conflicts),
                "erased": list(done.erased),
            }
        )
        return
    click.echo(f"imported {format_count(len(done.paths), 'file')} into {memory.directory}")
    for path in done.erased:
        click.echo(
            f"  {path} was erased in the other copy and removed here; the history here still contains it", err=True
        )
    for path in done.conflicts:
        click.echo(f"  {path} differs; theirs is kept as a conflict copy (see `reverie doctor`)", err=True)
