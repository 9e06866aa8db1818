"""`reverie at`: memory as it was on a day."""

from __future__ import annotations

from datetime import datetime

import click

from reverie.apps.cli.options import MemorySelection, Moment, as_json, memory_options
from reverie.apps.cli.shell_completion import memory_names


@click.command("at")
@click.argument("when", metavar="DATE", type=Moment(ends=True))
@click.argument("name", required=False, shell_complete=memory_names)
@as_json
@memory_options
def command(selection: MemorySelection, *, when: datetime, name: str | None, as_json: bool) -> None:
    """Show all memories, or only NAME, as of the end of DATE.

    DATE is a date (2026-03-01, yesterday, "3 days ago", "last monday", "1 march") or a date with a time.

    \b
    Examples:
      reverie at yesterday
      reverie at 2026-03-01 "No database mocks"
      reverie at 2026-03-01T12:00:00 --json
    """
    from reverie.apps.cli.list import print_topics
    from reverie.apps.cli.output import print_json
    from reverie.apps.cli.show import print_topic
    from reverie.apps.memory_documents import topic_document, whole_document

    memory = selection.open() if name is None else selection.open_for(name, or_gone=True)
    if name is not None:
        document = whole_document(memory.read_at(name, when), memory.directory, memory.scope.name)
        if as_json:
            print_json(document)
        else:
            print_topic(document)
        return
    rows = [
        topic_document(topic, each.directory, each.scope.name)
        for each in selection.all(memory)
        for topic in each.topics_at(when)
    ]
    if as_json:
        print_json(rows)
    else:
        print_topics(rows, f"{memory.directory} at {when:%Y-%m-%d %H:%M}")
