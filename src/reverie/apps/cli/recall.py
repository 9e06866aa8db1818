"""`reverie recall`: the memories that matter for a request, and why.

Colours are plain escape codes: the cold start of this command is measured, and nothing heavy is imported.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from reverie.amounts import format_count
from reverie.apps.cli.options import MemorySelection, as_json, memory_options
from reverie.errors import Error

if TYPE_CHECKING:
    from reverie.memory.memory import Memory
    from reverie.memory.search.recall import Recalled
    from reverie.memory.search.render import Hit

_LINE_CHARS = 400
"""A memory may be one line of megabytes; `--full` shows it whole."""
_LINES_SHOWN = 12
_BOLD, _DIM = 1, 2


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
    selection: MemorySelection,
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
    started = time.perf_counter()
    memory = selection.open()
    text = " ".join(query)
    if sys.stdin.isatty() and not as_json and not words and not memory.has_vectors:
        started += _offer_vectors(memory, text)
    built = memory.build_query(text, limit=limit, exclude=exclude, context=context, files=files, tools=tools)
    recalled = memory.recall_report(replace(built, by_words=words), fresh=fresh)
    took_ms = round((time.perf_counter() - started) * 1000, 1)
    if as_json:
        from reverie.apps.cli.output import print_json
        from reverie.apps.memory_documents import hit_documents

        print_json({"hits": hit_documents(memory, recalled), "took_ms": took_ms, "searched": recalled.searched})
    else:
        from reverie.apps.memory_documents import describe_shared_hits

        _print(recalled, took_ms, str(memory.directory), describe_shared_hits(memory, recalled), full=full)
    sys.stdout.flush()
    # The answer is out; what follows nobody waits for.
    memory.note_recalled(recalled.hits, text)
    is_weak = not any(hit.shown == "whole" for hit in recalled.hits)
    if is_weak and not as_json and not words and not memory.has_vectors:
        from reverie.apps.cli.vectors import hint_at_vectors

        hint_at_vectors(memory, text, recalled)
    if memory.has_foreign_edits:
        _commit_edits(memory)
    memory.close()


def _offer_vectors(memory: Memory, text: str) -> float:
    """Ask about vectors where they were not asked about yet; returns the seconds that this took."""
    from reverie.apps.cli.vectors import offer_vectors

    started = time.perf_counter()
    offer_vectors(memory, text)
    return time.perf_counter() - started


def _commit_edits(memory: Memory) -> None:
    """Commit edits by other programs that were found on the way; where nothing can be written, only warn."""
    try:
        memory.sync()
    except Error as problem:
        sys.stderr.write(f"reverie: {problem}\n")
    for caution in memory.cautions():
        sys.stderr.write(f"reverie: {caution}\n")


def _print(recalled: Recalled, took_ms: float, directory: str, shared: Mapping[str, str], *, full: bool) -> None:
    if recalled.skipped:
        sys.stderr.write(f"reverie: {recalled.skipped}\n")
        return
    for hit in recalled.hits:
        sys.stdout.write("".join(f"{line}\n" for line in _lines(hit, shared.get(hit.path, ""), full=full)))
    sys.stdout.flush()
    heading = f"{len(recalled.hits)} of {recalled.searched} memories"
    if not recalled.hits:
        heading = f"no relevant memories ({recalled.searched} searched) in {directory}"
    sys.stderr.write(f"{heading} ({took_ms:.0f} ms)\n")


def _lines(hit: Hit, whose: str, *, full: bool) -> list[str]:
    from reverie.apps.plain import strip_control_characters
    from reverie.memory.topics.age import age_words

    facts = [hit.topic.type, age_words(hit.age_days), whose or hit.trust, None if hit.scope == "project" else hit.scope]
    facts += [f"{check.state.value}: {_describe_anchor(check)}" for check in hit.anchors if check.state != "fresh"]
    lines = hit.topic.body.splitlines() if full or hit.shown == "whole" else []
    shown = lines if full else _telling_lines(lines, hit.topic.description)
    more = len(lines) - len(shown)
    name = strip_control_characters(_cut(hit.topic.name))
    return [
        f"{_style_text(name, _BOLD)}  {hit.score:.2f}  {', '.join(fact for fact in facts if fact)}",
        f"  {strip_control_characters(_cut(hit.topic.description))}",
        *(f"    {strip_control_characters(line if full else _cut(line))}".rstrip() for line in shown),
        *([f"    … {format_count(more, 'more line')}: reverie show {hit.topic.path}"] if more else []),
        _style_text(f"  why: {hit.why}", _DIM),
        _style_text(f"  {hit.path}\n", _DIM),
    ]


def _cut(line: str) -> str:
    return line if len(line) <= _LINE_CHARS else f"{line[:_LINE_CHARS]}…"


def _style_text(text: str, style: int) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if sys.stdout.isatty() else text


def _telling_lines(lines: list[str], description: str) -> list[str]:
    return [] if lines == [description] else lines[:_LINES_SHOWN]


def _describe_anchor(check: object) -> str:
    from reverie.memory.topics.anchors import AnchorCheck, describe_anchor

    assert isinstance(check, AnchorCheck)
    return describe_anchor(check.anchor)
