"""`reverie why`: what a memory rests on."""

from __future__ import annotations

import click

from reverie.apps.cli.options import MemorySelection, as_json, memory_options
from reverie.apps.cli.shell_completion import memory_names

_RECALLS_SHOWN = 5


@click.command("why")
@click.argument("name", shell_complete=memory_names)
@as_json
@memory_options
def command(selection: MemorySelection, *, name: str, as_json: bool) -> None:
    """Show the sources and trust level of a memory, its changes, and the queries for which it was recalled.

    \b
    Examples:
      reverie why "No database mocks"
      reverie why feedback_no_database_mocks.md --json
    """
    from reverie.apps.cli.output import print_json
    from reverie.apps.memory_documents import commit_document, source_document

    memory = selection.open_for(name, or_gone=True)
    provenance = memory.why(name)
    trust = memory.describe_shared({provenance.path: provenance.trust}).get(provenance.path) or provenance.trust
    if as_json:
        recalled = [
            {"when": use.when, "query": use.query, "score": use.score, "session": use.session}
            for use in provenance.recalled
        ]
        print_json(
            {
                "path": f"{memory.directory}/{provenance.path}",
                "sources": [source_document(source) for source in provenance.sources],
                "trust": trust,
                "recalled": recalled,
                "changes": [commit_document(commit) for commit in provenance.changes],
            }
        )
        return
    click.secho(provenance.path, bold=True, nl=False)
    click.echo(f"  {trust or 'trust level unknown'}")
    for source in provenance.sources:
        place = ", ".join(part for part in (source.session, source.message) if part)
        click.echo(f"  source: {place or 'unknown session'}" + (f": “{source.quote}”" if source.quote else ""))
    for commit in provenance.changes:
        when = f"{commit.when.astimezone():%Y-%m-%d %H:%M}"
        click.echo(f"  {commit.commit[:8]}  {when}  {commit.change.author}: {commit.change.reason}")
    for use in provenance.recalled[-_RECALLS_SHOWN:]:
        click.echo(f"  recalled {use.when[:16].replace('T', ' ')} for “{use.query}”")
    if len(provenance.recalled) > _RECALLS_SHOWN:
        click.echo(f"  recalled {len(provenance.recalled)} times in all")
