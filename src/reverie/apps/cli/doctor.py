"""`reverie doctor`: what is wrong with a memory, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reverie.apps.cli.options import MemorySelection, as_json, memory_options

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from reverie.memory.memory import Memory

_KINDS_SHOWN = 5


@click.command("doctor")
@click.option("--fix", is_flag=True, help="Apply safe fixes: commit edits, rebuild the index, remove leftover files.")
@as_json
@memory_options
@click.pass_context
def command(ctx: click.Context, selection: MemorySelection, *, fix: bool, as_json: bool) -> None:
    """Check for damaged files, broken anchors, secrets, injected instructions, duplicates, dangling index lines and
    leftover files; for hooks of other agents that do not fire or run twice, and formats of theirs that are not known.

    Exits with 0 if no problem is found, with 1 otherwise.

    \b
    Examples:
      reverie doctor
      reverie doctor --fix --json
    """
    from reverie.apps.cli.exits import DONE, FAILED
    from reverie.apps.cli.install import find_surroundings
    from reverie.apps.cli.output import format_count, print_json
    from reverie.apps.cli.vectors import describe_vectors
    from reverie.apps.hook.checks import find_agent_problems
    from reverie.apps.model_list import describe_local_models
    from reverie.hosts.install.launcher import write_launchers
    from reverie.hosts.install.ledger import Ledger
    from reverie.settings import load

    memory = selection.open()
    around = find_surroundings(selection.common)
    fixed = memory.repair() if fix else ()
    if fix and Ledger(around.home).list_agents():
        write_launchers(around.home, around.user_home)
    agents = find_agent_problems(load.places(selection.common.configuration(selection.project)), around)
    problems = (*memory.problems(), *agents)
    if as_json:
        rows = [
            {"kind": each.kind, "path": each.path, "detail": each.detail, "fix": each.fix, "fixable": each.is_fixable}
            for each in problems
        ]
        document = {"problems": rows, "fixed": list(fixed), "directory": str(memory.directory)}
        print_json(document | {"unread_sessions": _unread_documents(memory)})
        ctx.exit(FAILED if problems else DONE)
    click.echo(f"{memory.directory}  ({memory.scope.reason})")
    click.echo(f"  {describe_vectors(memory)}")
    click.echo(f"  {describe_local_models()}")
    told = {agent for agent, _, _ in Ledger(around.home).list_agents()}
    for line in _describe_unread(memory, told):
        click.echo(f"  {line}")
    for done in fixed:
        click.echo(f"  fixed: {done}")
    for each in problems:
        click.secho(f"  {each.kind}", fg="yellow", nl=False)
        click.echo(f"  {each.path.removeprefix(f'{memory.directory}/')}: {each.detail}")
        click.secho(f"      {each.fix}", dim=True)
    click.echo(format_count(len(problems), "problem") if problems else "no problems found")
    ctx.exit(FAILED if problems else DONE)


def _describe_unread(memory: Memory, told: Collection[str]) -> Iterator[str]:
    """What is not understood in the sessions of other agents, a line each; `told` are those of the problems."""
    from reverie.apps.cli.output import format_count
    from reverie.hosts.catalogue import find_unread
    from reverie.settings.load import SettingsFlags, from_process, places

    for each in find_unread(places(from_process(SettingsFlags(project=memory.root)))):
        if each.kinds and each.agent not in told:
            named = ", ".join(list(each.kinds)[:_KINDS_SHOWN])
            records = format_count(sum(each.kinds.values()), "record")
            yield f"{each.agent}: {records} of unknown kinds in its sessions ({named}); perhaps it is newer"
        if each.sessions:
            yield f"{each.agent}: {format_count(each.sessions, 'session')} could not be read ({each.reason})"


def _unread_documents(memory: Memory) -> list[dict[str, object]]:
    from reverie.hosts.catalogue import find_unread
    from reverie.settings.load import SettingsFlags, from_process, places

    return [
        {"agent": each.agent, "unknown_records": dict(each.kinds), "unread": each.sessions, "reason": each.reason}
        for each in find_unread(places(from_process(SettingsFlags(project=memory.root))))
    ]
