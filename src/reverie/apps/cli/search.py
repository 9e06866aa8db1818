"""`reverie search`: passages of past sessions, with what stands around them."""

from __future__ import annotations

import re
import sys
import time
from datetime import datetime
from typing import TYPE_CHECKING

import click

from reverie.amounts import format_count
from reverie.apps.cli.options import Common, Moment, as_json, project_option

if TYPE_CHECKING:
    from reverie.memory.search.passages import PastHit, PastSearchResult

_LINES_SHOWN = 8
_LINE_CHARS = 200
_QUIET_BYTES = 20_000_000
"""Reading less than this is not worth a word."""


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="Maximum number of passages.",
)
@click.option("--session", metavar="ID", help="Only sessions whose id starts with ID.")
@click.option("--since", type=Moment(ends=False), metavar="DATE", help="Only messages since DATE.")
@click.option("--role", type=click.Choice(["user", "assistant", "tool", "summary"]), help="Only messages of this role.")
@click.option("--fresh", is_flag=True, help="Index all transcripts again, not only new messages.")
@click.option("--full", is_flag=True, help="Show full passages with the messages before and after.")
@project_option
@as_json
@click.pass_obj
def command(
    common: Common,
    *,
    query: tuple[str, ...],
    limit: int,
    session: str | None,
    since: datetime | None,
    role: str | None,
    fresh: bool,
    full: bool,
    project: str | None,
    as_json: bool,
) -> None:
    """Search past sessions of this project for QUERY, best match first.

    Searches messages of users, models and tools in all worktrees of the project. Secrets are masked.

    \b
    Examples:
      reverie search why did the importer swap day and month
      reverie search "database is locked" --role tool --since 2026-03-01
      reverie search parse_date --session 3c1a7f52 --json
    """
    from reverie.memory.memory import Memory
    from reverie.memory.search.passages import PastQuery
    from reverie.settings import load

    configuration = common.configuration(project)
    directory = common.directory(project)
    with Memory.at(load.places(configuration), configuration.settings, directory) as memory:
        started = time.perf_counter()
        roles = () if role is None else (role,)
        past_query = PastQuery(" ".join(query), limit, session, since, roles)
        result = memory.search_report(past_query, fresh=fresh, progress=_tell)
        took_ms = round((time.perf_counter() - started) * 1000, 1)
    if as_json:
        from reverie.apps.cli.output import print_json
        from reverie.apps.memory_documents import passage_document

        hits = [passage_document(hit) for hit in result.hits]
        print_json({"hits": hits, "took_ms": took_ms, "searched": result.passages, "sessions": result.sessions})
    else:
        _print(result, took_ms, str(directory), full=full)


def _tell(done: int, of: int) -> None:
    if of > _QUIET_BYTES and sys.stderr.isatty():
        end = "\r" if done < of else "\r\033[K"
        click.echo(f"reading past sessions: {done / 1e6:.0f} of {of / 1e6:.0f} MB{end}", err=True, nl=False)


def _print(result: PastSearchResult, took_ms: float, directory: str, *, full: bool) -> None:
    from reverie.hosts.catalogue import read_any_glance

    titles: dict[str, str] = {}
    for hit in result.hits:
        if hit.session not in titles:
            glance = read_any_glance(hit.path)
            titles[hit.session] = glance.title if glance else ""
        _print_hit(hit, titles[hit.session], full=full)
    sessions = format_count(result.sessions, "session")
    looked = f"{format_count(result.passages, 'passage')} in {sessions}"
    summary = (
        f"{len(result.hits)} of {looked}" if result.hits else f"no relevant passages in {directory} ({looked} searched)"
    )
    click.echo(f"{summary} ({took_ms:.0f} ms)", err=True)


def _print_hit(hit: PastHit, title: str, *, full: bool) -> None:
    from reverie.apps.memory_documents import matched_words
    from reverie.memory.search.passages.past_search import find_matched_words

    click.secho(_plain(title) or "(no title)", bold=True, nl=False)
    click.echo(f"  {hit.when[:16].replace('T', ' ')}  {hit.role}  {hit.score:.2f}")
    lines = [_plain(line) for line in hit.text.splitlines()]
    marked = find_matched_words(hit.text, matched_words(hit))
    first, last = (0, len(lines)) if full else _window(lines, marked)
    if full and hit.before:
        click.secho(f"  before:\n{_indent_text(hit.before)}\n  found:", dim=True)
    for line in lines[first:last]:
        click.echo(f"    {_emphasise_matches(line if full else _short(line, marked), marked)}".rstrip())
    if full and hit.after:
        click.secho(f"  after:\n{_indent_text(hit.after)}", dim=True)
    if last - first < len(lines):
        click.secho(f"    … {format_count(len(lines) - (last - first), 'more line')} with --full", dim=True)
    click.secho(f"  reverie context {hit.session[:13]}  message {hit.message}\n", dim=True)


def _window(lines: list[str], marked: frozenset[str]) -> tuple[int, int]:
    """The few lines that hold most of the words looked for."""
    counts = [len(marked & set(_pieces(line))) for line in lines]
    starts = range(max(1, len(lines) - _LINES_SHOWN + 1))
    first = max(starts, key=lambda start: (sum(counts[start : start + _LINES_SHOWN]), -start))
    return first, min(len(lines), first + _LINES_SHOWN)


def _short(line: str, marked: frozenset[str]) -> str:
    """A long line around its first word that was looked for."""
    if len(line) <= _LINE_CHARS:
        return line
    places = [match.start() for match in re.finditer(r"[^\W_]+", line) if match[0] in marked]
    start = min(max(0, (places[0] if places else 0) - _LINE_CHARS // 3), len(line) - _LINE_CHARS)
    end = start + _LINE_CHARS
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def _emphasise_matches(line: str, marked: frozenset[str]) -> str:
    def style_match(match: re.Match[str]) -> str:
        return click.style(match[0], fg="yellow", bold=True) if match[0] in marked else match[0]

    return re.sub(r"[^\W_]+", style_match, line)


def _pieces(line: str) -> list[str]:
    return re.findall(r"[^\W_]+", line)


def _indent_text(text: str) -> str:
    return "\n".join(f"    {_plain(line)}" for line in text.splitlines())


def _plain(text: str) -> str:
    """Without control characters: what a transcript holds must not steer the terminal."""
    return "".join(char if char.isprintable() else " " for char in text)
