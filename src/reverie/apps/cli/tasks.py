"""`reverie tasks`: background work, running and finished."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reverie.apps.cli.options import Common, as_json

if TYPE_CHECKING:
    from reverie.files.background_tasks import BackgroundTask


@click.command("tasks")
@click.option("--kill", "to_stop", metavar="ID", help="Stop a running task; unfinished work is undone.")
@as_json
@click.pass_obj
def command(common: Common, *, to_stop: str | None, as_json: bool) -> None:
    """List background tasks (dreams, extraction, notes, agents) with state, cost and last log line.

    \b
    Examples:
      reverie tasks
      reverie tasks --json
      reverie tasks --kill dream-3f2a91c0
      reverie tasks --kill extraction-1f2e3d4c
    """
    from reverie.apps.cli.output import dollars, print_json, print_table
    from reverie.errors import UserMistake
    from reverie.files.background_tasks import list_tasks, read_task, remove_old_tasks, write_stop_request
    from reverie.settings import load
    from reverie.settings.load import system_now

    folder, now = load.places(common.configuration()).tasks, system_now()
    if to_stop is not None:
        task = read_task(folder, to_stop, now=now)
        if task.state != "running":
            raise UserMistake(f"task {task.id} is not running (state: {task.state}); run `reverie tasks` for a list")
        write_stop_request(folder, task.id)
        if as_json:
            print_json(_document(task) | {"stopping": True})
        else:
            click.echo(f"stop requested for {task.id}", err=True)
        return
    remove_old_tasks(folder, now=now)
    tasks = list_tasks(folder, now=now)
    if as_json:
        print_json([_document(task) for task in tasks])
    elif not tasks:
        click.echo("no recent background tasks", err=True)
    else:
        rows = [
            (task.id, task.state, f"{task.started:%Y-%m-%d %H:%M}", dollars(task.cost_usd), _last(task))
            for task in tasks
        ]
        print_table((("task", "left"), ("state", "left"), ("since", "left"), ("cost", "right"), ("", "flex")), rows)


def _last(task: BackgroundTask) -> str:
    return f"{task.title}: {task.log[-1]}" if task.log else task.title


def _document(task: BackgroundTask) -> dict[str, object]:
    return {
        "id": task.id,
        "kind": task.kind,
        "title": task.title,
        "state": task.state,
        "started": task.started.isoformat(),
        "ended": task.ended and task.ended.isoformat(),
        "cost_usd": task.cost_usd,
        "log": list(task.log),
        "pid": task.process and task.process.pid,
    }
