"""`reverie list`: all memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reverie.apps.cli.options import MemorySelection, as_json, memory_options

if TYPE_CHECKING:
    from reverie.apps.memory_documents import Document
    from reverie.memory.memory import Memory


@click.command("list")
@click.option("--type", "kind", type=click.Choice(["user", "feedback", "project", "reference"]), help="Only this type.")
@click.option("--pinned", is_flag=True, help="Only pinned memories.")
@click.option("--archived", is_flag=True, help="List archived memories instead.")
@as_json
@memory_options
def command(selection: MemorySelection, *, kind: str | None, pinned: bool, archived: bool, as_json: bool) -> None:
    """List the project's memories and your user memories.

    \b
    Examples:
      reverie list
      reverie list --type feedback --pinned
      reverie list --user --json
    """
    from reverie.apps.cli.output import format_count, print_json
    from reverie.apps.memory_documents import topic_documents

    memory = selection.open()
    if memory.off is not None:
        click.echo(f"reverie: memory is off: {memory.off}", err=True)
    if archived:
        rows = _list_archived(memory)
    else:
        rows = topic_documents(memory, "user" if selection.is_user else "project")
        if selection.directory is None and not selection.is_user:
            rows += topic_documents(memory.user, "user")
    left_out = [] if archived else [problem for each in selection.all(memory) for problem in each.index.unreadable()]
    if left_out:
        notice = f"{format_count(len(left_out), 'unreadable file')} skipped, such as {left_out[0].path}"
        click.echo(f"reverie: {notice}; run `reverie doctor` for details", err=True)
    rows = [row for row in rows if (kind is None or row["type"] == kind) and (row["pinned"] or not pinned)]
    if as_json:
        print_json(rows)
        return
    if rows or memory.off is None:
        print_topics(rows, str(memory.directory))
    for other in memory.related() if not rows and selection.directory is None and not selection.is_user else ():
        notice = f"A repository with the same root commit has memories in {other}"
        click.echo(f"{notice}; run `reverie export` there and `reverie import` here to copy them.", err=True)


def _list_archived(memory: Memory) -> list[Document]:
    from reverie.apps.memory_documents import topic_document

    return [
        topic_document(topic, memory.directory)
        | {"path": str(memory.scope.folder.archived(topic.path)), "archived": True}
        for topic in memory.archived()
    ]


def print_topics(rows: list[Document], directory: str) -> None:
    """Memories as a table."""
    from reverie.apps.cli.output import print_table

    if not rows:
        click.echo(f"No memories in {directory}. Run `reverie save --help` to see how to save one.", err=True)
        return
    columns = [("type", "left"), ("name", "flex"), ("description", "flex"), ("observed", "left"), ("trust", "left")]
    cells = [
        (
            row["type"] or "–",
            ("* " if row["pinned"] else "") + row["name"],
            row["description"],
            row["observed"] or "–",
            (row["trust"] or "–") + (" (yours)" if row["scope"] == "user" else ""),
        )
        for row in rows
    ]
    print_table(columns, cells)
