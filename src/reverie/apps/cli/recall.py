"""`reverie recall`: the memories that matter for a request, and why; `recall_answer.py` finds and prints them."""

from __future__ import annotations

import click

from reverie.apps.cli.memory_options import Which, memory_options
from reverie.apps.cli.options import as_json


@click.command("recall")
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Maximum number of memories.")
@click.option("--exclude", multiple=True, metavar="PATH", help="Leave out this memory; repeatable.")
@click.option(
    "--file",
    "files",
    multiple=True,
    metavar="PATH",
    help="File being worked on, for memories that apply to it; repeatable.",
)
@click.option(
    "--tool", "tools", multiple=True, metavar="NAME", help="Tool being used, for memories that apply to it; repeatable."
)
@click.option("--context", default="", metavar="TEXT", help="Preceding text of the conversation.")
@click.option("--fresh", is_flag=True, help="Check all files for changes first, even if they were checked recently.")
@click.option("--words", is_flag=True, help="Search by words only, without vectors; starts faster.")
@click.option("--full", is_flag=True, help="Show full texts.")
@as_json
@memory_options
def command(
    which: Which,
    *,
    query: tuple[str, ...],
    limit: int | None,
    exclude: tuple[str, ...],
    files: tuple[str, ...],
    tools: tuple[str, ...],
    context: str,
    fresh: bool,
    words: bool,
    full: bool,
    as_json: bool,
) -> None:
    """Find memories relevant to QUERY, best match first, each with the reason it matched.

    Searches the full text of the project's memory and of your user memory. Prints nothing if no memory is relevant. No
    model is called.

    \b
    Examples:
      reverie recall how do we test the importer
      reverie recall "fix the flaky test" --file tests/test_import.py --tool pytest
      reverie recall 数据库迁移 --json
    """
    from reverie.apps.cli.recall_answer import RecallSaid, answer

    said = RecallSaid(
        query=query,
        limit=limit,
        exclude=exclude,
        files=files,
        tools=tools,
        context=context,
        fresh=fresh,
        words=words,
        full=full,
        as_json=as_json,
    )
    answer(which, said)
