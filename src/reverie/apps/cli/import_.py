"""`reverie import`: bring in what `reverie export` wrote, or the memory files of other agents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from reverie.apps.cli.options import MemorySelection, as_json, memory_options

if TYPE_CHECKING:
    from reverie.memory.agent_files import ImportedNotes, NoteOutcome
    from reverie.memory.memory import Memory

SOURCES = (
    "AGENTS.md",
    "GEMINI.md",
    "QWEN.md",
    "CLAUDE.md",
    "goose",
    "copilot",
    "cursor",
    "codex",
    "qwen",
    "letta",
    "basic-memory",
    "mem0",
)


@click.command("import")
@click.argument("source", metavar="[PATH]", required=False)
@click.option(
    "--from",
    "agent",
    type=click.Choice(SOURCES, case_sensitive=False),
    help="Memory files of another agent; without PATH those at its usual place.",
)
@click.option(
    "--trust",
    type=click.Choice(["seen", "inferred", "said"]),
    default="seen",
    show_default=True,
    help="Whose word notes of another agent are; `seen` never counts as an instruction.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be imported from another agent.")
@as_json
@memory_options
def command(
    selection: MemorySelection, *, source: str | None, agent: str | None, trust: str, dry_run: bool, as_json: bool
) -> None:
    """Merge memories into this memory: a file written by `reverie export`, or memory files of other agents.

    An exported file comes with its history; on conflict, ours is used and theirs is kept as a copy. Of other agents,
    each section, rule or note becomes a memory; a second import adds only what is new or changed there. Notes with a
    possible secret are refused, and what Reverie itself wrote there is passed over.

    \b
    Examples:
      reverie import memory.zip
      reverie import AGENTS.md --dry-run
      reverie import --from codex
      reverie import --from mem0 ~/export.json --json
    """
    from reverie.errors import UserMistake

    memory = selection.open()
    if agent is not None or (source is not None and _is_memory_file(Path(source).expanduser())):
        from reverie.hosts.memory_files import find_stores

        stores = find_stores(find_place(memory, agent, source))
        done = memory.import_notes(stores, trust=trust, dry_run=dry_run)
        _show_notes(memory, done, dry_run=dry_run, as_json=as_json)
        return
    if source is None:
        raise UserMistake("name a file written by `reverie export`, or an agent with --from")
    if dry_run:
        raise UserMistake("--dry-run is for memory files of other agents; a bundle is imported as a whole")
    _import_bundle(memory, source, as_json=as_json)


def _is_memory_file(path: Path) -> bool:
    """Whether a path is something other than a bundle: a folder, or a file by its name."""
    from reverie.hosts.memory_files import INSTRUCTION_FILES

    names = {Path(name).name for name in INSTRUCTION_FILES}
    return path.is_dir() or path.name in names or path.suffix in (".md", ".mdc", ".json", ".jsonl")


def _import_bundle(memory: Memory, source: str, *, as_json: bool) -> None:
    from reverie.apps.cli.output import format_count, print_json

    done = memory.import_from(source)
    if as_json:
        print_json(
            {
                "commit": done.commit,
                "paths": list(done.paths),
                "conflicts": list(done.conflicts),
                "erased": list(done.erased),
            }
        )
        return
    click.echo(f"imported {format_count(len(done.paths), 'file')} into {memory.directory}")
    for path in done.erased:
        click.echo(
            f"  {path} was erased in the other copy and removed here; the history here still contains it", err=True
        )
    for path in done.conflicts:
        click.echo(f"  {path} differs; theirs is kept as a conflict copy (see `reverie doctor`)", err=True)


def _show_notes(memory: Memory, done: ImportedNotes, *, dry_run: bool, as_json: bool) -> None:
    from reverie.apps.cli.output import format_count, print_json

    if as_json:
        print_json(
            {
                "dry_run": dry_run,
                "commit": done.commit,
                "added": list(map(_document, done.added)),
                "updated": list(map(_document, done.updated)),
                "unchanged": done.unchanged,
                "refused": list(map(_document, done.refused)),
                "warnings": list(map(_document, done.warnings)),
            }
        )
        return
    for word, outcomes in (("new", done.added), ("changed", done.updated)):
        for outcome in outcomes:
            click.echo(f"  {word:8} {outcome.name}  ({outcome.place})")
    for word, outcomes in (("refused", done.refused), ("warning", done.warnings)):
        for outcome in outcomes:
            click.echo(f"  {word:8} {outcome.name}  ({outcome.place}): {outcome.reason}", err=True)
    counts = (
        f"{format_count(len(done.added), 'new memory', 'new memories')}, {len(done.updated)} changed, "
        f"{done.unchanged} unchanged, {len(done.refused)} refused"
    )
    if dry_run:
        click.echo(f"would import {counts} (dry run, nothing changed)")
        return
    undo = f"; `reverie undo {done.commit[:8]}` undoes it" if done.commit else ""
    click.echo(f"imported into {memory.directory}: {counts}{undo}")


def _document(outcome: NoteOutcome) -> dict[str, str]:
    row = {"name": outcome.name, "place": outcome.place}
    return {**row, "reason": outcome.reason} if outcome.reason else row


def find_place(memory: Memory, agent: str | None, path: str | None) -> Path:
    """The named path, or the usual place of an agent's memory files for this project.

    Raises: `UserMistake` where a path is needed.
    """
    from reverie.errors import UserMistake
    from reverie.settings.load import agent_memory_places

    if path is not None:
        return Path(path).expanduser().absolute()
    places = agent_memory_places(memory.root or Path.cwd())
    if agent not in places:
        raise UserMistake(f"name the path: the memory files of {agent} have no usual place on this machine")
    return places[agent]
