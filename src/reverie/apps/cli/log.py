"""`reverie log`: who changed what, when and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reverie.apps.cli.options import MemorySelection, as_json, memory_options
from reverie.apps.cli.shell_completion import memory_names

if TYPE_CHECKING:
    from reverie.memory.memory import Memory


@click.command("log")
@click.argument("name", required=False, shell_complete=memory_names)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Maximum number of changes.")
@click.option("--refused", is_flag=True, help="List what was refused, and by which rule, instead.")
@as_json
@memory_options
def command(selection: MemorySelection, *, name: str | None, limit: int | None, refused: bool, as_json: bool) -> None:
    """List the changes of all memories, or of NAME, newest first. NAME may have been removed since.

    \b
    Examples:
      reverie log
      reverie log "No database mocks" --json
      reverie log --refused
    """
    from reverie.apps.cli.output import print_json, print_table
    from reverie.apps.memory_documents import commit_document

    memory = selection.open() if name is None else selection.open_for(name, or_gone=True)
    if refused:
        _print_refused(memory, as_json=as_json)
        return
    commits = memory.log(name, limit=limit)
    for caution in memory.cautions():
        click.echo(f"reverie: {caution}", err=True)
    if as_json:
        print_json([commit_document(commit) for commit in commits])
        return
    if not commits:
        click.echo(f"No changes recorded in {memory.directory}.", err=True)
        return
    cells = [
        (
            commit.commit[:8],
            f"{commit.when.astimezone():%Y-%m-%d %H:%M}",
            commit.change.author,
            commit.change.reason,
            ", ".join(commit.paths[:2]) + (f" and {len(commit.paths) - 2} more" if len(commit.paths) > 2 else ""),
        )
        for commit in commits
    ]
    columns = [("commit", "left"), ("when", "left"), ("author", "left"), ("reason", "flex"), ("paths", "flex")]
    print_table(columns, cells)


def _print_refused(memory: Memory, *, as_json: bool) -> None:
    from reverie.apps.cli.output import print_json, print_table

    refusals = memory.refusals()
    if as_json:
        print_json(
            [
                {
                    "when": each.when.isoformat(),
                    "author": each.author,
                    "name": each.name,
                    "rules": list(each.rules),
                    "quote": each.quote,
                    "session": each.session,
                }
                for each in refusals
            ]
        )
    elif refusals:
        rows = [
            (f"{each.when:%Y-%m-%d %H:%M}", each.author, each.name or each.quote, ", ".join(each.rules))
            for each in refusals
        ]
        print_table([("when", "left"), ("author", "left"), ("what", "flex"), ("refused because", "left")], rows)
