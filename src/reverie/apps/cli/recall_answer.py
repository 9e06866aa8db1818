"""What `reverie recall` does once its command line is understood.

The cold start of this command is measured: nothing heavy is imported, colours are plain escape codes, and what was
recalled is noted after the answer is out.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from reverie.values import value

if TYPE_CHECKING:
    from reverie.apps.cli.which import Which
    from reverie.memory.search.recall import Recalled
    from reverie.memory.search.render import Hit

_LINE_CHARS = 400
"""A memory may be one line of megabytes; `--full` shows it whole."""
_LINES_SHOWN = 12
_BOLD, _DIM = 1, 2


@value
class RecallSaid:
    """What the command line says."""

    query: tuple[str, ...]
    limit: int | None = None
    exclude: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    context: str = ""
    fresh: bool = False
    words: bool = False
    full: bool = False
    as_json: bool = False


def answer(which: Which, said: RecallSaid) -> None:
    """Find, print, and only then note what was found."""
    from dataclasses import replace

    from reverie.errors import Error

    text = " ".join(said.query)
    started = time.perf_counter()
    memory = which.open()
    query = memory.build_query(
        text, limit=said.limit, exclude=said.exclude, context=said.context, files=said.files, tools=said.tools
    )
    found = memory.recall_report(replace(query, by_words=said.words), fresh=said.fresh)
    took_ms = round((time.perf_counter() - started) * 1000, 1)
    if said.as_json:
        from reverie.apps.cli.memory_documents import hit_document
        from reverie.apps.cli.output import print_json

        hits = [hit_document(hit) for hit in found.hits]
        print_json({"hits": hits, "took_ms": took_ms, "searched": found.searched})
    else:
        _print(found, took_ms, str(memory.directory), full=said.full)
    sys.stdout.flush()
    memory.note_recalled(found.hits, text)
    if memory.has_foreign_edits:
        try:
            memory.sync()
        except Error as problem:
            # The answer is given; where nothing can be written, that is no reason to fail.
            sys.stderr.write(f"reverie: {problem}\n")
        for caution in memory.cautions():
            sys.stderr.write(f"reverie: {caution}\n")
    memory.close()


def _print(found: Recalled, took_ms: float, directory: str, *, full: bool) -> None:
    if found.skipped:
        sys.stderr.write(f"reverie: {found.skipped}\n")
        return
    for hit in found.hits:
        sys.stdout.write("".join(f"{line}\n" for line in _lines(hit, full=full)))
    sys.stdout.flush()
    known = f"{len(found.hits)} of {found.searched} memories"
    if not found.hits:
        known = f"no relevant memories ({found.searched} searched) in {directory}"
    sys.stderr.write(f"{known} ({took_ms:.0f} ms)\n")


def _lines(hit: Hit, *, full: bool) -> list[str]:
    from reverie.apps.plain import unsteered
    from reverie.memory.topics.age import age_words

    facts = [hit.topic.type, age_words(hit.age_days), hit.trust, None if hit.scope == "project" else hit.scope]
    facts += [f"{check.state.value}: {_named(check)}" for check in hit.anchors if check.state != "fresh"]
    lines = hit.topic.body.splitlines()
    shown = lines if full else _telling_lines(lines, hit.topic.description)
    more = len(lines) - len(shown)
    name = unsteered(_cut(hit.topic.name))
    return [
        f"{_styled(name, _BOLD)}  {hit.score:.2f}  {', '.join(fact for fact in facts if fact)}",
        f"  {unsteered(_cut(hit.topic.description))}",
        *(f"    {unsteered(line if full else _cut(line))}".rstrip() for line in shown),
        *([f"    … {more} more lines: reverie show {hit.topic.path}"] if more else []),
        _styled(f"  why: {hit.why}", _DIM),
        _styled(f"  {hit.path}\n", _DIM),
    ]


def _cut(line: str) -> str:
    return line if len(line) <= _LINE_CHARS else f"{line[:_LINE_CHARS]}…"


def _styled(text: str, style: int) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if sys.stdout.isatty() else text


def _telling_lines(lines: list[str], description: str) -> list[str]:
    return [] if lines == [description] else lines[:_LINES_SHOWN]


def _named(check: object) -> str:
    from reverie.memory.topics.anchors import AnchorCheck, named

    assert isinstance(check, AnchorCheck)
    return named(check.anchor)
