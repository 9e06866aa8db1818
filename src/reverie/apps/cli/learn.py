"""`reverie learn`: memories from transcripts that exist already."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reverie.apps.cli.memory_options import Which, memory_options
from reverie.apps.cli.options import as_json

if TYPE_CHECKING:
    from reverie.api.memory import Memory
    from reverie.api.memory_parts.learning import Learned
    from reverie.ports import Model

_SHOWN = 40
_QUOTE_CHARS = 100


@click.command("learn")
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@click.option("--model", "model_name", metavar="NAME", help="Let a model look too; its answers pass the same gate.")
@click.option("--dry-run", is_flag=True, help="Only say what would be kept, and what asking a model would cost.")
@click.option("--each-project", is_flag=True, help="Give each session to the memory of the project it was held in.")
@as_json
@memory_options
def command(
    which: Which,
    *,
    paths: tuple[str, ...],
    model_name: str | None,
    dry_run: bool,
    each_project: bool,
    as_json: bool,
) -> None:
    """Learn from past sessions: transcripts, or folders that hold some. A second run over them adds nothing.

    What the user typed is looked at, never what tools printed. Ctrl-C is safe: the next run goes on from there.

    \b
    Examples:
      reverie learn ~/.claude/projects --each-project --dry-run
      reverie learn session.jsonl --json
      reverie learn ~/.claude/projects/-home-me-shop --model claude-haiku-4-5
    """
    import asyncio

    from reverie.api.memory_parts.learning import Learned
    from reverie.apps.cli.output import print_json

    model = _model(which, model_name or which.common.model)
    given = [Path(path) for path in paths]
    learned = Learned()
    for memory, files in _by_project(which, given) if each_project else [(which.open(), given)]:
        with memory:
            learned += asyncio.run(memory.learn(files, model=model, dry_run=dry_run, progress=_tell))
        if learned.stopped:
            break
    if as_json:
        print_json(_document(learned, dry_run=dry_run))
    else:
        _print(learned, dry_run=dry_run)
    if learned.failed or learned.stopped:
        click.get_current_context().exit(1)


def _by_project(which: Which, paths: list[Path]) -> Iterator[tuple[Memory, list[Path]]]:
    """The sessions by where they were held; those whose directory is gone go to the memory that is named."""
    from reverie.api.memory import Memory
    from reverie.api.memory_parts.learning import list_transcripts
    from reverie.apps import wiring
    from reverie.messages.listing import read_glance
    from reverie.places import find_checkout

    groups: dict[Path | None, list[Path]] = {}
    for path in list_transcripts(paths):
        glance = read_glance(path)
        cwd = Path(glance.cwd) if glance and glance.cwd else None
        is_there = cwd is not None and cwd.is_absolute() and cwd.is_dir()
        checkout = find_checkout(cwd) if cwd and is_there else None
        groups.setdefault(checkout.root if checkout else cwd if is_there else None, []).append(path)
    configuration = which.common.configuration(which.project)
    for directory, files in groups.items():
        if directory is None:
            yield which.open(), files
        else:
            yield Memory.at(wiring.places(configuration), configuration.settings, directory), files


def _model(which: Which, name: str | None) -> Model | None:
    if name is None:
        return None
    from reverie.apps import wiring

    return wiring.model(which.common.configuration(which.project), name)


def _tell(done: int, of: int, session: str) -> None:
    if of > 1 and sys.stderr.isatty():
        end = "\r" if done < of else "\r\033[K"
        click.echo(f"learning: {done} of {of} sessions  {session[:36]:36}{end}", err=True, nl=False)


def _document(learned: Learned, *, dry_run: bool) -> dict[str, object]:
    return {
        "sessions": learned.sessions,
        "messages": learned.messages,
        "saved": len(learned.saved),
        "updated": len(learned.updated),
        "refused": [
            {"reason": each.reason.value, "quote": each.quote, "session": each.session, "message": each.message}
            for each in learned.refused
        ],
        "topics": [
            {
                "name": topic.name,
                "type": topic.type,
                "description": topic.description,
                "trust": topic.trust,
                "sources": [
                    {"session": source.session, "message": source.message, "quote": source.quote}
                    for source in topic.sources
                ],
            }
            for topic in (*learned.saved, *learned.updated)
        ],
        "commits": list(learned.commits),
        "failed": [{"session": session, "reason": reason} for session, reason in learned.failed],
        "stopped": learned.stopped,
        "dry_run": dry_run,
        "estimate": {
            "requests": learned.estimate.requests,
            "input_tokens": learned.estimate.input_tokens,
            "output_tokens": learned.estimate.output_tokens,
            "cost_usd": learned.estimate.cost_usd,
        },
    }


def _print(learned: Learned, *, dry_run: bool) -> None:
    verb = "would keep" if dry_run else "kept"
    for topic in learned.saved[:_SHOWN]:
        click.echo(f"{topic.type or '':9} {topic.name}")
    for topic in learned.updated[:_SHOWN]:
        click.echo(f"{topic.type or '':9} {topic.name}  (brought up to date)")
    left = max(0, len(learned.saved) - _SHOWN) + max(0, len(learned.updated) - _SHOWN)
    if left:
        click.echo(f"… and {left} more: `reverie list`")
    for refusal in learned.refused[:_SHOWN]:
        click.secho(f"refused   {refusal.quote[:_QUOTE_CHARS]}  ({refusal.reason.value})", dim=True)
    for session, reason in learned.failed:
        click.echo(f"not read: {session}: {reason}", err=True)
    kept = len(learned.saved) + len(learned.updated)
    click.echo(
        f"{learned.messages} new messages in {learned.sessions} sessions: {verb} {kept}, "
        f"refused {len(learned.refused)}.",
        err=True,
    )
    if learned.stopped:
        click.echo(f"stopped: {learned.stopped}; run it again to go on", err=True)
    if learned.estimate.requests:
        from reverie.apps.cli.output import dollars, short_count

        asked = learned.estimate
        click.echo(
            f"asking a model: {asked.requests} requests, {short_count(asked.input_tokens)} tokens in, at most "
            f"{short_count(asked.output_tokens)} out, at most {dollars(asked.cost_usd)}",
            err=True,
        )
