"""`reverie forget`: remove a memory; it can be brought back."""

from __future__ import annotations

import click

from reverie.apps.cli.options import MemorySelection, as_json, memory_options
from reverie.apps.cli.shell_completion import memory_names


@click.command("forget")
@click.argument("name", shell_complete=memory_names)
@click.option("--archive", is_flag=True, help="Archive it instead; `reverie list --archived` still lists it.")
@click.option("--reason", default="", metavar="TEXT", help="Reason for the change; shown by `reverie log`.")
@as_json
@memory_options
def command(selection: MemorySelection, *, name: str, archive: bool, reason: str, as_json: bool) -> None:
    """Remove a memory. Its history is kept: `reverie undo` restores it, `reverie erase` removes it permanently.

    \b
    Examples:
      reverie forget "No database mocks"
      reverie forget feedback_no_database_mocks.md --reason "we mock again"
      reverie forget "Merge freeze" --archive
    """
    from reverie.apps.cli.output import print_json

    memory = selection.open_for(name)
    changed = (memory.archive if archive else memory.forget)(name, reason=reason)
    path = f"{memory.directory}/{changed.path}"
    if as_json:
        print_json({"path": path, "commit": changed.commit})
        return
    back = f"  (`reverie undo {changed.commit[:8]}{selection.flags}` restores it)" if changed.commit else ""
    click.echo(f"{'archived to' if archive else 'forgotten'}  {path}{back}")
