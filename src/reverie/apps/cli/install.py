"""`reverie install`: hooks, MCP entries and instruction blocks for other agents."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reverie.apps.cli.options import Common, as_json
from reverie.values import value

if TYPE_CHECKING:
    from reverie.hosts.install.ledger import Ledger, SettingsChange
    from reverie.hosts.install.targets import AgentTarget, Surroundings, TargetFile, VendorCommand


@click.command("install")
@click.argument("agent", required=False)
@click.option("--all", "is_all", is_flag=True, help="All agents that are found on this machine.")
@click.option("--user", "is_user", is_flag=True, help="Install for all projects (default).")
@click.option("--project", "is_project", is_flag=True, help="Install for the current project only.")
@click.option("--remove", is_flag=True, help="Remove the installation; files that nobody changed are restored.")
@click.option("--dry-run", is_flag=True, help="Only show the changes.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@as_json
@click.pass_obj
def command(
    common: Common,
    *,
    agent: str | None,
    is_all: bool,
    is_user: bool,
    is_project: bool,
    remove: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Connect AGENT with your memory: claude-code, codex, copilot, opencode, qwen, gemini, cursor, cline or goose.

    Shows the changes of its settings files first. Only entries of Reverie are added; order, comments and everything
    else in the files stay, and a backup of each file is kept. Nothing is approved on your behalf: what you still have
    to approve in the agent is listed at the end.

    \b
    Examples:
      reverie install claude-code
      reverie install codex --dry-run
      reverie install --all
      reverie install claude-code --remove
    """
    from reverie.apps.cli.output import print_json
    from reverie.errors import UserMistake
    from reverie.hosts.install.ledger import Ledger
    from reverie.hosts.install.targets import PROGRAMS, find_installed_agents, find_target

    if bool(agent) == is_all:
        raise click.UsageError("name one agent, or --all")
    if is_user and is_project:
        raise click.UsageError("choose --user or --project")
    around = find_surroundings(common, is_project=is_project)
    ledger = Ledger(around.home)
    if is_all:
        path = around.variables.get("PATH")
        which = {
            name: next(filter(None, (shutil.which(each, path=path) for each in programs)), None)
            for name, programs in PROGRAMS.items()
        }
        agents = list(find_installed_agents(around, which))
        if not agents:
            raise UserMistake("no agent was found on this machine; name one: reverie install claude-code")
    else:
        agents = [str(agent)]
    targets = [find_target(name, around) for name in agents]
    plans = [_plan_removal(each, ledger) if remove else _plan(each, around) for each in targets]
    is_change = any(planned.change.is_change for plan in plans for planned in plan)
    if not as_json:
        _print_plans(targets, plans)
    is_wanted = is_change and not dry_run
    if (
        is_wanted
        and not yes
        and not as_json
        and sys.stdin.isatty()
        and not click.confirm("Apply these changes?", err=True)
    ):
        raise click.Abort
    if not dry_run:
        _apply(targets, plans, around, ledger, remove=remove)
    documents = [
        _document(target, plan, around, remove=remove, applied=not dry_run)
        for target, plan in zip(targets, plans, strict=True)
    ]
    if as_json:
        print_json(documents if is_all else documents[0])
    else:
        _print_end(targets, around, remove=remove, dry_run=dry_run)


@value
class Planned:
    """The change of one file and how it is made."""

    target: TargetFile
    change: SettingsChange
    command: VendorCommand | None = None
    """The agent's own command, where it does the same."""


def find_surroundings(common: Common, *, is_project: bool = False) -> Surroundings:
    """Where installations of this user go, or those for the project."""
    from reverie.hosts.install.targets import Surroundings
    from reverie.settings.load import process_environment

    configuration = common.configuration()
    project = configuration.project if is_project else None
    return Surroundings(configuration.home, Path.home(), project, process_environment())


def _plan(target: AgentTarget, around: Surroundings) -> list[Planned]:
    from reverie.hosts.install.ledger import SettingsChange, put_in, read_text
    from reverie.hosts.install.vendor import try_on_copy

    commands = {each.path: each for each in target.commands}
    plan = []
    for file in target.files:
        before = read_text(file.path)
        after = put_in(before, file.edits, str(file.path))
        command = commands.get(file.path)
        by_vendor = None
        if command is not None and before != after and not _stands_in(file, before):
            by_vendor = try_on_copy(command, before, file.edits, around.variables)
        plan.append(
            Planned(
                file, SettingsChange(file.path, before, by_vendor or after), command if by_vendor is not None else None
            )
        )
    return plan


def _plan_removal(target: AgentTarget, ledger: Ledger) -> list[Planned]:
    from reverie.hosts.install.edits import OwnFile
    from reverie.hosts.install.json_text import read_json
    from reverie.hosts.install.ledger import SettingsChange, digest, read_text, take_out

    plan = []
    for file in target.files:
        text = read_text(file.path)
        backup = ledger.find_backup(file.path)
        if backup is not None and text is not None and digest(text) == backup[1]:
            after = backup[0]
        elif text is not None and any(isinstance(edit, OwnFile) for edit in file.edits):
            after = None
        else:
            after = take_out(text, file.edits, str(file.path))
            is_new = backup is not None and backup[0] is None
            is_empty = after is not None and (not after.strip() or after.strip() == "{}")
            if is_new and is_empty and (file.path.suffix != ".json" or not read_json(after or "", str(file.path))):
                after = None
        plan.append(Planned(file, SettingsChange(file.path, text, after)))
    return plan


def _stands_in(file: TargetFile, text: str | None) -> bool:
    return text is not None and all(edit.stands_in(text, str(file.path)) for edit in file.edits)


def _apply(
    targets: list[AgentTarget], plans: list[list[Planned]], around: Surroundings, ledger: Ledger, *, remove: bool
) -> None:
    from reverie import __version__
    from reverie.hosts.install.launcher import hook_launcher, program_launcher, write_launchers
    from reverie.hosts.install.ledger import SettingsChange, read_text, write_change
    from reverie.hosts.install.plugin import write_plugin
    from reverie.hosts.install.vendor import run_on_settings
    from reverie.settings.load import system_now

    scope = "user" if around.project is None else "project"
    if not remove:
        write_launchers(around.home, around.user_home)
        write_plugin(around.home, hook_launcher(around.home), program_launcher(around.home), __version__)
    for target, plan in zip(targets, plans, strict=True):
        facts = {"agent": target.agent, "scope": scope, "project": str(around.project or "")}
        for planned in reversed(plan) if remove else plan:  # the first file made the folder of the others
            change = planned.change
            if remove:
                if change.is_change:
                    write_change(change)
                ledger.forget(change.path)
                continue
            if not change.is_change:
                continue
            ledger.note(change, planned.target.edits, facts, system_now())
            command = planned.command
            if command is not None and run_on_settings(command, planned.target.edits, around.variables):
                done = SettingsChange(change.path, change.before, read_text(change.path))
                ledger.note(
                    SettingsChange(change.path, change.after, done.after), planned.target.edits, facts, system_now()
                )
            else:
                write_change(change)
    if remove and not ledger.list_agents():
        for path in (hook_launcher(around.home), program_launcher(around.home)):
            path.unlink(missing_ok=True)
        shutil.rmtree(around.home / "plugin", ignore_errors=True)


def _print_plans(targets: list[AgentTarget], plans: list[list[Planned]]) -> None:
    for target, plan in zip(targets, plans, strict=True):
        changes = [planned for planned in plan if planned.change.is_change]
        if not changes:
            click.echo(f"{target.agent}: nothing to change")
        for planned in changes:
            if planned.command is not None:
                arguments = " ".join(planned.command.arguments)
                click.echo(f"{target.agent}: by its own command `{planned.command.program} {arguments}`")
            click.echo(planned.change.diff, nl=False)


def _print_end(targets: list[AgentTarget], around: Surroundings, *, remove: bool, dry_run: bool) -> None:
    names = ", ".join(target.agent for target in targets)
    if dry_run:
        click.echo("nothing was changed (--dry-run)", err=True)
        return
    if remove:
        click.echo(f"removed: {names}", err=True)
        return
    click.echo(f"installed: {names}", err=True)
    for line in dict.fromkeys(line for target in targets for line in target.todo):
        click.echo(f"  to do: {line}", err=True)
    click.echo("  REVERIE_HOOKS=off turns hooks off for one session; `reverie doctor` checks them", err=True)
    click.echo(f"  log of the hooks: {around.home / 'hooks' / 'log'}", err=True)


def _document(
    target: AgentTarget, plan: list[Planned], around: Surroundings, *, remove: bool, applied: bool
) -> dict[str, Any]:
    return {
        "agent": target.agent,
        "scope": "user" if around.project is None else "project",
        "files": [
            {
                "path": str(planned.change.path),
                "diff": planned.change.diff,
                "command": None if planned.command is None else [planned.command.program, *planned.command.arguments],
            }
            for planned in plan
            if planned.change.is_change
        ],
        "todo": [] if remove else list(target.todo),
        "applied": applied,
        "removed": remove,
    }
