"""`reverie undo`: take changes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reverie.apps.cli.options import MemorySelection, as_json, memory_options
from reverie.apps.cli.shell_completion import commits

if TYPE_CHECKING:
    from reverie.memory.memory import Memory
    from reverie.memory.store.timeline import UndoResult


@click.command("undo")
@click.argument("commits", metavar="[COMMIT]...", nargs=-1, shell_complete=commits)
@click.option("--learn", "whole_learn", is_flag=True, help="Undo everything that the last `learn` saved here.")
@as_json
@memory_options
@click.pass_context
def command(
    ctx: click.Context, selection: MemorySelection, *, commits: tuple[str, ...], whole_learn: bool, as_json: bool
) -> None:
    """Undo COMMIT, which may be an old one, or several as one change. Later changes are kept.

    Without COMMIT, undoes the newest change that is not undone yet; a `learn` run is undone as a whole. If later
    changes overlap, they are listed and nothing is written. To redo, undo the undo.

    \b
    Examples:
      reverie undo
      reverie undo 3f2a91c
      reverie undo --learn
    """
    from reverie.apps.cli.output import print_json
    from reverie.errors import UserMistake

    if whole_learn and commits:
        raise UserMistake("--learn undoes a whole run; use either COMMIT or --learn")
    undone = (
        _undo_last_learn(selection)
        if whole_learn
        else _newest(selection)
        if not commits
        else selection.open_with(commits[0]).undo(*commits)
    )
    if as_json:
        document = {"commit": undone.commit, "paths": list(undone.paths), "conflicts": list(undone.conflicts)}
        print_json(document | {"undone": [change.commit for change in undone.changes]})
    elif undone.conflicts:
        names = ", ".join(undone.conflicts)
        hint = f"undo those first (see `reverie log {undone.conflicts[0]}{selection.flags}`), or edit the file"
        click.echo(f"reverie: later changes overlap in {names}; nothing was written; {hint}", err=True)
    else:
        for change in undone.changes:
            click.echo(f"undone  {change.commit[:8]}  {change.change.reason}")
        click.echo(", ".join(undone.paths) + (f"  ({undone.commit[:8]})" if undone.commit else ""))
    if undone.conflicts:
        ctx.exit(1)


def _newest(selection: MemorySelection) -> UndoResult:
    """The newest change of the project's memory or of the user's own."""
    from reverie.errors import UserMistake
    from reverie.memory.store import timeline

    candidates: list[tuple[float, Memory]] = []
    nothing: UserMistake | None = None
    for memory in selection.all(selection.open()):
        try:
            candidates.append((timeline.newest_change(memory.store).when.timestamp(), memory))
        except UserMistake as mistake:
            nothing = nothing or mistake
    if nothing is not None and not candidates:
        raise nothing
    return max(candidates, key=lambda one: one[0])[1].undo()


def _undo_last_learn(selection: MemorySelection) -> UndoResult:
    """The last run of `learn` that was not taken back yet."""
    from reverie.errors import UserMistake

    memory = selection.open()
    gone = {name for commit in memory.log() for name in (commit.change.undoes or "").split()}
    run = next((run for run in memory.learn_runs() if not gone.intersection(run)), None)
    if run is None:
        raise UserMistake(f"no `learn` run left to undo in {memory.directory}; run `reverie log` for a list of changes")
    return memory.undo(*run)
