"""`reverie learn`: memories from transcripts that exist already."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reverie.amounts import format_count
from reverie.apps.cli.options import MemorySelection, as_json, memory_options
from reverie.values import value

if TYPE_CHECKING:
    from reverie.memory.extraction.learn import Learned
    from reverie.memory.memory import Memory
    from reverie.memory.topics.value import Topic
    from reverie.models.ports import Model

_SHOWN = 40
_QUOTE_CHARS = 100


@click.command("learn")
@click.argument("paths", nargs=-1, metavar="[PATH…]")
@click.option(
    "--agent", "agents", multiple=True, metavar="NAME", help="All sessions of this agent on this machine, or `all`."
)
@click.option("--model", "model_name", metavar="NAME", help="Also extract with this model; the same checks apply.")
@click.option("--dry-run", is_flag=True, help="Only show what would be saved, and what a model would cost.")
@click.option("--each-project", is_flag=True, hidden=True, help="Extract with rules only (default).")
@as_json
@memory_options
def command(
    selection: MemorySelection,
    *,
    paths: tuple[str, ...],
    agents: tuple[str, ...],
    model_name: str | None,
    dry_run: bool,
    each_project: bool,  # noqa: ARG001 - the only way there is
    as_json: bool,
) -> None:
    """Extract memories from past sessions. PATH is a session, a directory of sessions or the home of an agent.

    Memories are saved for the project in which the session took place. A session whose project does not exist on this
    machine is listed but not saved; `--project DIR`, `--memory-dir DIR` or `--user` save all of them to that memory.
    Only text typed by the user is read, never tool output. Running it again adds nothing; after Ctrl-C the next run
    continues where it stopped.

    \b
    Examples:
      reverie learn ~/.claude/projects --dry-run
      reverie learn --agent codex --agent copilot --dry-run
      reverie learn session.jsonl --json
      reverie learn ~/.claude/projects/-home-me-shop --model claude-haiku-4-5
    """
    import asyncio

    from reverie.apps.cli.output import print_json
    from reverie.memory.extraction.learn import Learned

    model = _model(selection, model_name or selection.common.model)
    sources = [*map(Path, paths), *_list_of_agents(selection, agents)]
    if not paths and not agents:
        raise click.UsageError("name a session, a directory of sessions, or an agent with --agent")
    homeless: list[Homeless] = []
    stores: list[tuple[Memory, Learned]] = []
    for memory, files in (
        [(selection.open(), sources)] if _is_named(selection) else _by_project(selection, sources, homeless)
    ):
        with memory:
            stores.append((memory, asyncio.run(memory.learn(files, model=model, dry_run=dry_run, progress=_tell))))
        if stores[-1][1].stopped:
            break
    learned = sum((each for _, each in stores), Learned())
    if as_json:
        print_json(_document(stores, learned, homeless, dry_run=dry_run))
    else:
        _print(stores, learned, homeless, dry_run=dry_run)
    _print_notices(learned, model)
    if learned.failed or learned.stopped:
        click.get_current_context().exit(1)


def _list_of_agents(selection: MemorySelection, agents: tuple[str, ...]) -> list[Path]:
    """The sessions of these agents on this machine, or the directories that hold them."""
    if not agents:
        return []
    from reverie.apps.find_session import check_agent
    from reverie.hosts.catalogue import READERS, list_host_glances
    from reverie.settings import load

    places = load.places(selection.common.configuration(selection.project))
    ours = {"reverie": places.projects, "claude-code": places.host_projects}
    for name in agents:
        if name != "all":
            check_agent(name)
    chosen = {*ours, *READERS} if "all" in agents else set(agents)
    others = list_host_glances(places, chosen & READERS.keys()) if chosen & READERS.keys() else []
    folders = [folder for name, folder in ours.items() if name in chosen and folder.is_dir()]
    return [*folders, *(glance.path for glance in others if glance.messages and not glance.is_subagent)]


@value
class Homeless:
    """A session of which nobody knows to which memory it belongs."""

    path: Path
    held_in: str
    """The directory that it names, which is not here; empty when it names none."""

    @property
    def reason(self) -> str:
        return f"{self.held_in} does not exist" if self.held_in else "it does not name its directory"


def _is_named(selection: MemorySelection) -> bool:
    """Whether the command line says to which memory everything goes."""
    return bool(selection.directory or selection.is_user or selection.project or selection.common.project)


def _by_project(
    selection: MemorySelection, paths: list[Path], homeless: list[Homeless]
) -> Iterator[tuple[Memory, list[Path]]]:
    """The sessions by where they were held; those of which that is not known are added to `homeless`.

    A file that was named itself and says nothing of a place belongs to where the command runs.
    """
    from dataclasses import replace

    from reverie.files.places import find_checkout
    from reverie.hosts.catalogue import read_any_glance
    from reverie.memory.extraction.learn import list_transcripts

    groups: dict[Path, list[Path]] = {}
    named = {path.expanduser().absolute() for path in paths}
    for path in list_transcripts(paths):
        glance = read_any_glance(path)
        held_in = glance.cwd if glance and glance.cwd else ""
        directory = Path(held_in) if held_in or path not in named else selection.common.directory()
        if not directory.is_absolute() or not directory.is_dir():
            homeless.append(Homeless(path, held_in))
            continue
        checkout = find_checkout(directory)
        groups.setdefault(checkout.root if checkout else directory, []).append(path)
    for directory, files in groups.items():
        # A project's own settings say where its memory is.
        yield replace(selection, project=str(directory)).open(), files


def _model(selection: MemorySelection, named: str | None) -> Model | None:
    """The model that was named, else that of the settings for memory work."""
    from reverie.models import from_settings

    configuration = selection.common.configuration(selection.project)
    name = from_settings.memory_model_name(configuration.settings, named)
    return None if name is None else from_settings.model(configuration, name)


def _tell(done: int, of: int, session: str) -> None:
    if of > 1 and sys.stderr.isatty():
        end = "\r" if done < of else "\r\033[K"
        click.echo(f"learning: {done} of {of} sessions  {session[:36]:36}{end}", err=True, nl=False)


def _document(
    stores: Sequence[tuple[Memory, Learned]], learned: Learned, homeless: Sequence[Homeless], *, dry_run: bool
) -> dict[str, object]:
    return {
        "sessions": learned.sessions,
        "messages": learned.messages,
        "saved": len(learned.saved),
        "updated": len(learned.updated),
        "refused": [
            {"reason": each.reason.value, "quote": each.quote, "session": each.session, "message": each.message}
            for each in learned.refused
        ],
        "topics": [_topic(topic, memory) for memory, each in stores for topic in (*each.saved, *each.updated)],
        "stores": [
            {
                "directory": str(memory.directory),
                "project": str(memory.root) if memory.root else None,
                "sessions": each.sessions,
                "saved": len(each.saved),
                "updated": len(each.updated),
            }
            for memory, each in stores
        ],
        "not_stored": [
            {"session": each.path.stem, "path": str(each.path), "cwd": each.held_in or None, "reason": each.reason}
            for each in homeless
        ],
        "commits": list(learned.commits),
        "failed": [{"session": session, "reason": reason} for session, reason in learned.failed],
        "replies": learned.replies,
        "unusable_replies": list(learned.unusable),
        "stopped": learned.stopped,
        "dry_run": dry_run,
        "estimate": {
            "requests": learned.estimate.requests,
            "input_tokens": learned.estimate.input_tokens,
            "output_tokens": learned.estimate.output_tokens,
            "cost_usd": learned.estimate.cost_usd,
        },
    }


def _topic(topic: Topic, memory: Memory) -> dict[str, object]:
    return {
        "name": topic.name,
        "type": topic.type,
        "description": topic.description,
        "trust": topic.trust,
        "store": str(memory.directory),
        "sources": [
            {"session": source.session, "message": source.message, "quote": source.quote} for source in topic.sources
        ],
    }


def _print(
    stores: Sequence[tuple[Memory, Learned]], learned: Learned, homeless: Sequence[Homeless], *, dry_run: bool
) -> None:
    verb = "would save" if dry_run else "saved"
    for memory, each in stores:
        count = len(each.saved) + len(each.updated)
        click.echo(f"{memory.directory}: {format_count(each.sessions, 'session')}, {verb} {count}", err=True)
        _print_topics(each)
    for refusal in learned.refused[:_SHOWN]:
        click.secho(f"refused   {refusal.quote[:_QUOTE_CHARS]}  ({refusal.reason.value})", dim=True)
    for session, reason in learned.failed:
        click.echo(f"not read: {session}: {reason}", err=True)
    for unplaced in homeless[:_SHOWN]:
        click.echo(f"not saved: {unplaced.path}: {unplaced.reason}", err=True)
    if homeless:
        more = f" ({len(homeless) - _SHOWN} not shown)" if len(homeless) > _SHOWN else ""
        click.echo(
            f"{format_count(len(homeless), 'session')} of unknown projects not saved{more}; "
            "name one with `--project DIR`",
            err=True,
        )
    count = len(learned.saved) + len(learned.updated)
    click.echo(
        f"{format_count(learned.messages, 'new message')} in {format_count(learned.sessions, 'session')}: "
        f"{verb} {count}, refused {len(learned.refused)}.",
        err=True,
    )
    if learned.stopped:
        click.echo(f"stopped: {learned.stopped}; run the command again to continue", err=True)
    if learned.estimate.requests:
        from reverie.apps.cli.output import dollars, short_count

        estimate = learned.estimate
        click.echo(
            f"with a model: {format_count(estimate.requests, 'request')}, "
            f"{short_count(estimate.input_tokens)} tokens in, "
            f"at most {short_count(estimate.output_tokens)} out, at most {dollars(estimate.cost_usd)}",
            err=True,
        )


def _print_topics(learned: Learned) -> None:
    for topic in learned.saved[:_SHOWN]:
        click.echo(f"{topic.type or '':9} {topic.name}")
    for topic in learned.updated[:_SHOWN]:
        click.echo(f"{topic.type or '':9} {topic.name}  (updated)")
    hidden = max(0, len(learned.saved) - _SHOWN) + max(0, len(learned.updated) - _SHOWN)
    if hidden:
        click.echo(f"… and {hidden} more: `reverie list`")


def _print_notices(learned: Learned, model: Model | None) -> None:
    """Say on standard error, whatever the format, what a model's replies were not good for."""
    if learned.unusable and model is not None:
        why = "; ".join(dict.fromkeys(learned.unusable))
        click.echo(
            f"{len(learned.unusable)} of {learned.replies} replies of {model.name} were unusable ({why}); "
            "rules were used for what was missing",
            err=True,
        )
