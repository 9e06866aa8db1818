"""`reverie export`: a memory with its whole history in one file, or notes for another agent."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from reverie.apps.cli.import_ import SOURCES, find_place
from reverie.apps.cli.options import MemorySelection, as_json, memory_options

if TYPE_CHECKING:
    from reverie.memory.agent_files import ExportedNotes


@click.command("export")
@click.argument("target", metavar="[PATH]", required=False)
@click.option(
    "--to",
    "agent",
    type=click.Choice(SOURCES, case_sensitive=False),
    help="Write notes for another agent; without PATH to its usual place.",
)
@click.option("--remove", is_flag=True, help="Take out what an earlier export wrote for that agent.")
@click.option(
    "--max-bytes",
    type=click.IntRange(min=200),
    default=8_192,
    show_default=True,
    help="Maximum size of notes that an agent loads at every start.",
)
@click.option("--dry-run", is_flag=True, help="Only show the changes to the files of that agent.")
@as_json
@memory_options
def command(
    selection: MemorySelection,
    *,
    target: str | None,
    agent: str | None,
    remove: bool,
    max_bytes: int,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Export all memories with their history to a file, or write them where another agent reads them.

    AGENTS.md, GEMINI.md, QWEN.md, CLAUDE.md and the hints of goose and copilot get one marked block; outside of it not
    a byte changes, and --remove restores the file. cursor, codex, qwen, letta and basic-memory get files of our own,
    mem0 a JSON file. Left out are memories with a possible secret, expired ones, what was only seen where the agent
    would take it for an instruction, and memories about one person where colleagues would read them.

    \b
    Examples:
      reverie export memory.zip
      reverie export --to AGENTS.md --dry-run
      reverie export --to cursor
      reverie export --to AGENTS.md --remove
    """
    from reverie.apps.cli.output import print_json
    from reverie.errors import UserMistake

    if agent is None:
        if target is None:
            raise UserMistake("name the file to write, or an agent with --to")
        if remove or dry_run:
            raise UserMistake("--remove and --dry-run need --to: they are for the files of other agents")
        path = selection.open().export(target)
        if as_json:
            print_json({"path": str(path), "size": path.stat().st_size})
        else:
            click.echo(f"exported to {path}")
        return
    from reverie.hosts.memory_targets import TARGETS
    from reverie.memory.agent_files import remove_export

    memory = selection.open()
    place = find_place(memory, agent, target)
    if remove:
        done = remove_export(TARGETS[agent], place, dry_run=dry_run)
    else:
        done = memory.export_notes(TARGETS[agent], place, max_bytes=max_bytes, dry_run=dry_run)
    _show(done, dry_run=dry_run, removed=remove, as_json=as_json)


def _show(done: ExportedNotes, *, dry_run: bool, removed: bool, as_json: bool) -> None:
    from reverie.apps.cli.output import format_count, print_json

    if as_json:
        files = [{"path": str(change.path), "removed": change.after is None} for change in done.plan.changes]
        skipped = [{"name": each.name, "path": each.place, "reason": each.reason} for each in done.skipped]
        document = {"files": files, "exported": done.exported, "left_out": done.plan.left_out, "skipped": skipped}
        print_json({"dry_run": dry_run, **document, **({"diff": done.diff} if dry_run else {})})
        return
    for each in done.skipped:
        click.echo(f"  left out: {each.name} ({each.place}): {each.reason}", err=True)
    if dry_run:
        sys.stdout.write(done.diff)
    for change in done.plan.changes if not dry_run else ():
        click.echo(f"  {'removed' if change.after is None else 'wrote'} {change.path}")
    room = f", {done.plan.left_out} without room (--max-bytes)" if done.plan.left_out else ""
    would = " (dry run, nothing changed)" if dry_run else ""
    state = "" if done.plan.changes else "; nothing to change"
    what = "export removed" if removed else f"{format_count(done.exported, 'memory', 'memories')} exported"
    click.echo(f"{what}{room}{state}{would}", err=True)
