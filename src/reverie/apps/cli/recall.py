"""`reverie recall`: the memories that matter for a request, and why.

The cold start of this command is measured: nothing heavy is imported, colours are plain escape codes, and what was
recalled is noted after the answer is out.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import click

from reverie.apps.cli.memory_options import Which, memory_options
from reverie.apps.cli.options import as_json

if TYPE_CHECKING:
    from reverie.memory.recall import Recalled
    from reverie.memory.recalled import Hit

_LINES_SHOWN = 12


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
    from dataclasses import replace

    text = " ".join(query)
    started = time.perf_counter()
    memory = which.open()
    asked = memory.asked(text, limit=limit, exclude=exclude, context=context, files=files, tools=tools)
    found = memory.recall_report(replace(asked, by_words=words), fresh=fresh)
    took_ms = round((time.perf_counter() - started) * 1000, 1)
    if as_json:
        from reverie.apps.cli.memory_documents import hit_document
        from reverie.apps.cli.output import print_json

        hits = [hit_document(hit) for hit in found.hits]
        print_json({"hits": hits, "took_ms": took_ms, "searched": found.searched})
    else:
        _print(found, took_ms, str(memory.directory), full=full)
    sys.stdout.flush()
    memory.note_recalled(found, text)
    if memory.has_foreign_edits:
        memory.sync()
    memory.close()


def _print(found: Recalled, took_ms: float, directory: str, *, full: bool) -> None:
    if found.skipped:
        click.echo(f"reverie: {found.skipped}", err=True)
        return
    for hit in found.hits:
        _print_hit(hit, full=full)
    known = f"{len(found.hits)} of {found.searched} memories"
    if not found.hits:
        known = f"nothing fits among {found.searched} memories in {directory}"
    click.echo(f"{known} ({took_ms:.0f} ms)", err=True)


def _print_hit(hit: Hit, *, full: bool) -> None:
    from reverie.memory.age import age_words

    facts = [hit.topic.type, age_words(hit.age_days), hit.trust, None if hit.scope == "project" else hit.scope]
    facts += [f"{check.state.value}: {_named(check)}" for check in hit.anchors if check.state != "fresh"]
    click.secho(hit.topic.name, bold=True, nl=False)
    click.echo(f"  {hit.score:.2f}  {', '.join(fact for fact in facts if fact)}")
    click.echo(f"  {hit.topic.description}")
    lines = hit.topic.body.splitlines()
    shown = lines if full else _telling_lines(lines, hit.topic.description)
    for line in shown:
        click.echo(f"    {line}".rstrip())
    if len(shown) < len(lines):
        click.echo(f"    … {len(lines) - len(shown)} more lines: reverie show {hit.topic.path}")
    click.secho(f"  why: {hit.why}", dim=True)
    click.secho(f"  {hit.path}\n", dim=True)


def _telling_lines(lines: list[str], description: str) -> list[str]:
    return [] if lines == [description] else lines[:_LINES_SHOWN]


def _named(check: object) -> str:
    from reverie.memory.anchors import AnchorCheck, named

    assert isinstance(check, AnchorCheck)
    return named(check.anchor)
