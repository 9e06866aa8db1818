"""`reverie diff`: what a change did."""

from __future__ import annotations

import sys

import click

from reverie.apps.cli.options import MemorySelection, as_json, memory_options
from reverie.apps.cli.shell_completion import commits
from reverie.apps.plain import strip_control_characters

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command("diff")
@click.argument("commit", required=False, shell_complete=commits)
@as_json
@memory_options
def command(selection: MemorySelection, *, commit: str | None, as_json: bool) -> None:
    """Show what COMMIT changed (default: the last change).

    \b
    Examples:
      reverie diff
      reverie diff 3f2a91c --json
    """
    from reverie.apps.cli.output import print_json

    text = selection.open_with(commit).diff(commit)
    if as_json:
        print_json({"diff": text})
        return
    for line in text.splitlines():
        colour = _COLOURS.get(line[:1]) if sys.stdout.isatty() and not line.startswith(("+++", "---")) else None
        click.secho(strip_control_characters(line), fg=colour)
