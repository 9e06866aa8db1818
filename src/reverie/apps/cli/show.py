"""`reverie show`: one memory, as it is or as it was."""

from __future__ import annotations

from datetime import datetime

import click

from reverie.apps.cli.options import MemorySelection, Moment, as_json, memory_options
from reverie.apps.cli.shell_completion import memory_names
from reverie.apps.plain import strip_control_characters


@click.command("show")
@click.argument("name", shell_complete=memory_names)
@click.option(
    "--at",
    "when",
    type=Moment(ends=True),
    metavar="DATE",
    help="Show it as of the end of this date, or as of this time.",
)
@as_json
@memory_options
def command(selection: MemorySelection, *, name: str, when: datetime | None, as_json: bool) -> None:
    """Show one memory. NAME is its name, its path, or a prefix of its file name.

    \b
    Examples:
      reverie show "No database mocks"
      reverie show feedback_no_database_mocks.md --json
      reverie show feedback_no --at 2026-03-01
    """
    from reverie.apps.cli.output import print_json
    from reverie.apps.memory_documents import shown_document, whole_document

    if when is None:
        document = shown_document(*selection.read(name))
    else:
        memory = selection.open_for(name, or_gone=True)
        document = whole_document(memory.read_at(name, when), memory.directory, memory.scope.name)
    if as_json:
        print_json(document)
    else:
        print_topic(document)


def print_topic(document: dict[str, object]) -> None:
    """A memory for people: its facts, then its text as it is."""
    click.secho(strip_control_characters(str(document["name"])), bold=True)
    click.echo(strip_control_characters(str(document["description"])))
    facts = {key: document[key] for key in ("type", "observed", "verified", "expires", "trust")}
    details = [f"{key} {value}" for key, value in facts.items() if value] + (["pinned"] if document["pinned"] else [])
    click.secho(", ".join(details), dim=True)
    for key in ("anchors", "about"):
        values = document[key]
        if isinstance(values, list) and values:
            click.secho(f"{key}: {', '.join(map(str, values))}", dim=True)
    when = document["when"]
    if isinstance(when, dict):
        parts = ["always"] if when["always"] else []
        parts += [f"{kind} {', '.join(names)}" for kind, names in when.items() if kind != "always" and names]
        click.secho(f"when: {'; '.join(parts)}", dim=True)
    asks = document["asks"]
    for ask in asks if isinstance(asks, list) else ():
        click.secho(strip_control_characters(f"asks: {ask}"), dim=True)
    click.secho(str(document["path"]), dim=True)
    if document["body"]:
        click.echo(strip_control_characters(f"\n{document['body']}"))
