"""`reverie span`: read messages again that a reduction left out."""

from __future__ import annotations

import click

from reverie.apps.cli.options import Common, as_json, project_option


@click.command("span")
@click.argument("session")
@click.argument("first", required=False)
@click.argument("last", required=False)
@click.option(
    "--about", metavar="WORDS", help="Show messages that mention a file, a command or a subject, newest first."
)
@click.option(
    "--tokens", type=click.IntRange(min=100), default=4_000, show_default=True, help="Maximum number of tokens to show."
)
@click.option("--offset", type=click.IntRange(min=0), default=0, metavar="N", help="Skip this many characters.")
@project_option
@as_json
@click.pass_obj
def command(
    common: Common,
    session: str,
    first: str | None,
    last: str | None,
    about: str | None,
    tokens: int,
    offset: int,
    project: str | None,
    as_json: bool,
) -> None:
    """Show messages FIRST to LAST of SESSION, including those no longer in the context window.

    Message ids may be shortened, as shown in receipts and digests.

    \b
    Examples:
      reverie span 5f0c954e e12 e40
      reverie span 5f0c954e --about src/importer.py
    """
    from reverie.apps.cli.output import print_json
    from reverie.apps.find_session import find_session
    from reverie.context.spans import read_span
    from reverie.hosts.catalogue import read_any_entries
    from reverie.messages.view import project as projected
    from reverie.models.tokens.count import facts_of
    from reverie.models.tokens.estimate import weigh_text
    from reverie.models.tokens.rates import rates_for

    configuration = common.configuration(project)
    entries = read_any_entries(find_session(configuration, common.directory(project), session))
    rates = rates_for(facts_of(projected(entries)))
    span = read_span(
        entries,
        weigh=lambda text: round(weigh_text(text, rates)),
        first=first,
        last=last,
        subject=about,
        limit_tokens=tokens,
        offset_chars=offset,
    )
    if as_json:
        print_json(
            {
                "first": span.first,
                "last": span.last,
                "messages": span.items,
                "text": span.text,
                "next_offset": span.next_offset_chars,
            }
        )
        return
    click.echo(span.text)
    if span.next_offset_chars is not None:
        click.echo(f"More available: use --offset {span.next_offset_chars}", err=True)
