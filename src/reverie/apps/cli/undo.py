"""`reverie undo`: take one change back."""

from __future__ import annotations

import click

from reverie.apps.cli.completing import commits
from reverie.apps.cli.memory_options import Which, memory_options
from reverie.apps.cli.options import as_json


@click.command("undo")
@click.argument("commit", shell_complete=commits)
@as_json
@memory_options
@click.pass_context
def command(ctx: click.Context, which: Which, *, commit: str, as_json: bool) -> None:
    """Take back COMMIT, also an old one; what came after it stays. An overlap is reported and writes nothing.

    \b
    Examples:
      reverie undo 3f2a91c
      reverie undo $(reverie log --json | jq -r '.[0].commit')
    """
    from reverie.apps.cli.output import print_json

    undone = which.open_with(commit).undo(commit)
    if as_json:
        print_json({"commit": undone.commit, "paths": list(undone.paths), "conflicts": list(undone.conflicts)})
    elif undone.conflicts:
        names = ", ".join(undone.conflicts)
        hint = f"undo those first (`reverie log {undone.conflicts[0]}{which.flags}`), or edit it by hand"
        click.echo(f"reverie: later changes overlap in {names}; nothing was written; {hint}", err=True)
    else:
        click.echo(f"taken back in {', '.join(undone.paths)}" + (f"  ({undone.commit[:8]})" if undone.commit else ""))
    if undone.conflicts:
        ctx.exit(1)
