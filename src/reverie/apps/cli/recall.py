"""`reverie recall`: the memories that matter for a request, and why.

The command line as click sees it; a plain one is answered by `quick_recall.py` before click is imported.
"""

from __future__ import annotations

import click

from reverie.apps.cli.memory_options import Which, memory_options
from reverie.apps.cli.options import as_json


@click.command("recall")
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most so many memories.")
@click.option("--exclude", multiple=True, metavar="PATH", help="A memory that is known already; may be repeated.")
@click.option("--file", "files", multiple=True, metavar="PATH", help="A file in play, for rules that depend on it.")
@click.option("--tool", "tools", multiple=True, metavar="NAME", help="A tool in use, likewise.")
@click.option("--context", default="", metavar="TEXT", help="What was said just before.")
@click.option("--fresh", is_flag=True, help="Look at every file first, however recently that was done.")
@click.option("--words", is_flag=True, help="By words alone, also where vectors are installed; starts faster.")
@click.option("--full", is_flag=True, help="Show the whole texts.")
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
    """Find the memories that matter for QUERY, best first, each with the reason; nothing when nothing fits.

    The project's memory and your own are searched, whole texts included. No model is asked.

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
