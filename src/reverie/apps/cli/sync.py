"""`reverie sync`: one person's private memory on several machines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from reverie.apps.cli.options import MemorySelection, as_json, memory_options
from reverie.apps.cli.team import count_memories, print_outgoing, print_refused, print_report, report_document

if TYPE_CHECKING:
    from reverie.memory.memory import Memory
    from reverie.memory.team.own_machines import PersonalStatus, PersonalSync


@click.command("sync")
@click.argument("remote", required=False)
@click.option(
    "--as", "name", default="", metavar="NAME", help="Name of this project at the remote (default: by origin)."
)
@click.option("--status", "shows_status", is_flag=True, help="Only show what would be sent.")
@click.option("--yes", is_flag=True, help="Do not ask: send to this remote, and delete there what is gone here.")
@click.option("--leave", is_flag=True, help="Stop; memories stay here and there.")
@as_json
@memory_options
def command(
    selection: MemorySelection,
    *,
    remote: str | None,
    name: str,
    shows_status: bool,
    yes: bool,
    leave: bool,
    as_json: bool,
) -> None:
    """Keep your private memory the same on your machines, over a git repository that only you can read.

    Takes what other machines have and sends what is new here: the memories of this project and your user memory, each
    in a branch of its own. Edits on both sides are merged, deletions travel, a conflict keeps both. Files with a
    possible secret are not sent; team memories travel by `reverie team`. The first time it asks.

    \b
    Examples:
      reverie sync git@example.org:me/memory.git
      reverie sync
      reverie sync --status
    """
    from reverie.errors import Refused, UserMistake

    if sum((shows_status, yes, leave)) > 1 or (remote and (shows_status or leave)):
        raise UserMistake("--status, --yes and --leave cannot be combined, nor REMOTE with --status or --leave")
    memory = selection.open()
    if memory.off is not None:
        raise Refused(f"memory is off: {memory.off}", by="settings")
    memories = _choose(selection, memory)
    if leave:
        _leave([sync for _, sync in memories], as_json=as_json)
    elif shows_status:
        _show_status(memories, as_json=as_json)
    else:
        _exchange(memories, remote or _find_remote(memory), name, yes=yes, as_json=as_json)


def _choose(selection: MemorySelection, memory: Memory) -> list[tuple[str, PersonalSync]]:
    """What is meant: the memory of the project and the user's, or the one that was named."""
    if selection.is_user:
        return [("user memory", memory.private_sync)]
    chosen = [("project memory", memory.private_sync)]
    if selection.directory is None:
        chosen.append(("user memory", memory.user.private_sync))
    return chosen


def _find_remote(memory: Memory) -> str | None:
    """The remote of the user memory serves new projects too."""
    user = memory.user.private_sync.joined
    return None if user is None else user.remote


def _exchange(
    memories: list[tuple[str, PersonalSync]], remote: str | None, name: str, *, yes: bool, as_json: bool
) -> None:
    from reverie.memory.team.sync import join_reports

    documents: list[dict[str, Any]] = []
    waiting = 0
    for label, sync in memories:
        joined = sync.joined
        if joined is None or remote is not None:
            address = joined.remote if joined is not None and remote is None else remote
            if address is None:
                from reverie.errors import UserMistake

                raise UserMistake("no remote yet; name a git repository of your own: `reverie sync REMOTE`")
            joined = sync.join(address, name="" if label == "user memory" else name)
        report = sync.sync(may_delete_many=yes)
        if not joined.may_push:
            now = sync.status()
            if yes or _agrees(now, label, is_asked=not as_json):
                sync.allow_push()
                report = join_reports(report, sync.sync(may_delete_many=yes))
            else:
                waiting += sum(not each.refused for each in now.outgoing)
        documents.append(_document(label, sync, report_document(report)))
        if not as_json:
            _print_head(label, sync.status())
            print_report(report)
    if as_json:
        from reverie.apps.cli.output import print_json

        print_json(documents)
    if waiting:
        from reverie.errors import Refused

        raise Refused(
            f"{count_memories(waiting)} not sent: review `reverie sync --status`, then run `reverie sync --yes` once",
            by="sync",
        )


def _agrees(now: PersonalStatus, label: str, *, is_asked: bool) -> bool:
    """Ask once per memory, in a terminal; elsewhere the answer is no."""
    if now.joined is None or not is_asked or not (sys.stdin.isatty() and now.outgoing):
        return False
    print_outgoing(now.outgoing)
    return click.confirm(
        f"Keep the {label} at {now.joined.remote}, personal memories included? Whoever can read it can read them."
    )


def _show_status(memories: list[tuple[str, PersonalSync]], *, as_json: bool) -> None:
    states = [(label, sync, sync.status()) for label, sync in memories]
    if as_json:
        from reverie.apps.cli.output import print_json

        print_json([_document(label, sync, _status_document(now)) for label, sync, now in states])
        return
    for label, _, now in states:
        _print_head(label, now)
        print_outgoing(now.outgoing)
        print_refused(now.agreed.refused)


def _leave(syncs: list[PersonalSync], *, as_json: bool) -> None:
    from reverie.errors import UserMistake

    left = [sync.leave() for sync in syncs if sync.joined is not None]
    if not left:
        raise UserMistake("no remote was named; nothing to leave")
    if as_json:
        from reverie.apps.cli.output import print_json

        print_json([{"remote": joined.remote, "name": joined.repo} for joined in left])
        return
    for joined in left:
        click.echo(f"left {joined.repo} at {joined.remote}; its memories stay")


def _print_head(label: str, now: PersonalStatus) -> None:
    if now.joined is None:
        click.echo(f"{label}: no remote; run `reverie sync REMOTE`")
        return
    click.echo(f"{label}: {now.joined.repo} at {now.joined.remote}, {count_memories(now.entries)}")


def _document(label: str, sync: PersonalSync, further: dict[str, Any]) -> dict[str, Any]:
    joined = sync.joined
    return {
        "memory": label.partition(" ")[0],
        "remote": joined.remote if joined else None,
        "name": joined.repo if joined else None,
        "may_push": joined.may_push if joined else False,
        **further,
    }


def _status_document(now: PersonalStatus) -> dict[str, Any]:
    return {
        "kept": now.entries,
        "outgoing": [
            {"path": o.path, "change": o.change, "name": o.name, "trust": o.trust or None}
            for o in now.outgoing
            if not o.refused
        ],
        "refused": [
            {"path": each.path, "rule": each.rule, "line": each.line or None, "direction": each.direction}
            for each in (*now.agreed.refused, *(refusal for o in now.outgoing for refusal in o.refused))
        ],
    }
