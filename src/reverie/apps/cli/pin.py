"""`reverie pin`: let a memory stand first."""

from __future__ import annotations

import click

from reverie.apps.cli.options import MemorySelection, as_json, memory_options
from reverie.apps.cli.shell_completion import memory_names


@click.command("pin")
@click.argument("name", shell_complete=memory_names)
@click.option("--remove", is_flag=True, help="Unpin it.")
@as_json
@memory_options
def command(selection: MemorySelection, *, name: str, remove: bool, as_json: bool) -> None:
    """Pin a memory to the top of the index, below memories that always apply. Pinned memories are not archived.

    \b
    Examples:
      reverie pin "No database mocks"
      reverie pin "No database mocks" --remove
    """
    from reverie.apps.cli.output import print_json

    memory = selection.open_for(name)
    saved = memory.pin_report(name, pinned=not remove)
    path = f"{memory.directory}/{saved.path}"
    if as_json:
        print_json({"path": path, "commit": saved.commit, "pinned": saved.topic.pinned})
    else:
        click.echo(f"{'pinned' if saved.topic.pinned else 'unpinned'}  {path}")
