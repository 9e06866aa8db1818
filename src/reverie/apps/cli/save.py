"""`reverie save`: keep a memory."""

from __future__ import annotations

import sys
from datetime import date
from typing import TYPE_CHECKING

import click

from reverie.apps.cli.options import MemorySelection, as_json, memory_options

if TYPE_CHECKING:
    from reverie.memory.memory import Memory
    from reverie.memory.topics.anchors import Anchor
    from reverie.memory.topics.topic import Topic


@click.command("save")
@click.argument("text", required=False)
@click.option("--name", metavar="TEXT", help="Short title; saving the same name again updates the memory.")
@click.option(
    "--type",
    "kind",
    type=click.Choice(["user", "feedback", "project", "reference"]),
    help="About you (user), how to work (feedback), current work (project), or where things are (reference).",
)
@click.option("--description", metavar="TEXT", help="One specific line; recall searches it first.")
@click.option("--body", metavar="TEXT", help="Full text; read from standard input if omitted and piped.")
@click.option(
    "--when",
    "situations",
    multiple=True,
    metavar="TEXT",
    help="When it applies: always, a glob or file, a tool, a kind of task, or words of a request; repeatable.",
)
@click.option(
    "--asks",
    multiple=True,
    metavar="TEXT",
    help="Request for which it should be recalled, in other words than its own; up to 5, repeatable.",
)
@click.option(
    "--anchor", "anchors", multiple=True, metavar="WHERE", help="Path, path#symbol, commit or URL it refers to."
)
@click.option("--about", multiple=True, metavar="WHOM", help="Person or subject it is about.")
@click.option(
    "--observed", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE", help="Date when it was true (default: today)."
)
@click.option("--expires", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE", help="Last date on which it is valid.")
@click.option(
    "--trust",
    type=click.Choice(["said", "inferred", "seen"]),
    default="said",
    show_default=True,
    help="Where it comes from: stated by the user, inferred, or seen.",
)
@click.option("--quote", metavar="TEXT", help="Quote that supports it.")
@click.option("--session", metavar="ID", help="Id of the session it comes from.")
@click.option("--reason", metavar="TEXT", help="Reason for the change; shown by `reverie log`.")
@click.option("--pin", "pinned", is_flag=True, help="Pin it to the top of the index.")
@click.option(
    "--team", is_flag=True, help="Share it with colleagues (`reverie team`); sent at once if you have pushed before."
)
@click.option("--edit", is_flag=True, help="Write the text in your editor.")
@as_json
@memory_options
def command(
    selection: MemorySelection,
    *,
    text: str | None,
    name: str | None,
    kind: str | None,
    description: str | None,
    body: str | None,
    situations: tuple[str, ...],
    asks: tuple[str, ...],
    anchors: tuple[str, ...],
    about: tuple[str, ...],
    observed: date | None,
    expires: date | None,
    trust: str,
    quote: str | None,
    session: str | None,
    reason: str | None,
    pinned: bool,
    team: bool,
    edit: bool,
    as_json: bool,
) -> None:
    """Save a memory as one commit. A memory with the same name is updated.

    TEXT alone is enough: it is saved unchanged, its first words become the name, and the type is derived from it.
    Without TEXT, give --name, --type and --description, or pipe the text to standard input.

    The date, the situations and the files it refers to are derived from the text. Text that contains a secret is
    refused.

    \b
    Examples:
      reverie save "Integration tests use a real database; mocks hid a broken migration."
      reverie save --type feedback --name "No database mocks" \\
          --description "Integration tests use a real database" --body "Mocks hid a broken migration."
      git log -1 --format=%B | reverie save --type project --name "Why we left Redis" --description "Costs, not speed"
      reverie save --type feedback --name "Style of SQL" --description "Keywords in upper case" --when "*.sql" \\
          --asks "write a query for the monthly report"
    """
    from dataclasses import replace

    from reverie.memory.topics.situations import parse_when
    from reverie.memory.topics.topic import Source

    memory = selection.open()
    topic = _draft_topic(memory, text, name, kind, description, body, trust, edit=edit)
    topic = replace(
        topic,
        sources=(Source(session, None, quote),) if session or quote else (),
        when=parse_when(situations),
        asks=asks,
        anchors=tuple(map(_anchor, anchors)),
        about=about,
        observed=_day(observed),
        expires=_day(expires),
        pinned=pinned,
    )
    saved = memory.keep(topic, team=team, reason=reason or "", session=session)
    place = memory.directory / saved.path
    notice = _share(memory) if team else ""
    if as_json:
        from reverie.apps.cli.output import print_json
        from reverie.apps.memory_documents import saved_document

        print_json(saved_document(memory, saved, notice))
        return
    for warning in (*saved.warnings, *memory.cautions(), *filter(None, [notice])):
        click.echo(f"reverie: {warning}", err=True)
    done = "saved" if saved.is_new else "updated" if saved.commit else "unchanged"
    click.echo(f"{done}  {place}" + (f"  ({saved.commit[:8]})" if saved.commit else ""))


def _share(memory: Memory) -> str:
    """Send it where the user has agreed to share; what else is to be done, in words."""
    from reverie.errors import Error

    try:
        joined = memory.team.joined
        if joined is None:
            return "not shared yet: run `reverie team join REMOTE`"
        if not joined.may_push:
            return "not shared yet: run `reverie team status`, then `reverie team push`"
        memory.team.push()
    except Error as problem:
        return f"saved, but not shared yet: {problem}"
    return ""


def _draft_topic(
    memory: Memory,
    text: str | None,
    name: str | None,
    kind: str | None,
    description: str | None,
    body: str | None,
    trust: str,
    *,
    edit: bool,
) -> Topic:
    """The memory that is meant: described flag by flag, or by a text that says it all."""
    from reverie.errors import UserMistake
    from reverie.memory.drafts import draft_from_text
    from reverie.memory.topics.draft import draft_topic

    flags = (("--name", name), ("--type", kind), ("--description", description))
    missing = [flag for flag, value in flags if value is None]
    if text is None and len(missing) < len(flags):
        if name is None or kind is None or description is None:
            raise UserMistake(
                f'{" and ".join(missing)} is required too; or give the whole memory as one text: reverie save "TEXT"'
            )
        return draft_topic(name, description, kind, _body(body, edit=edit, title=name), trust=trust)
    words = _body(body, edit=edit, title=name or "") if text is None else text
    if not words.strip():
        raise UserMistake('nothing to save: use reverie save "TEXT", or --name, --type and --description')
    draft = draft_from_text(memory.index, words)
    own_body = draft.body if text is None or body is None else body
    return draft_topic(name or draft.name, description or draft.description, kind or draft.type, own_body, trust=trust)


def _body(body: str | None, *, edit: bool, title: str) -> str:
    text = body
    if text is None and not sys.stdin.isatty() and not edit:
        text = sys.stdin.read()
    if not edit:
        return text or ""
    edited = click.edit(text or f"# {title}\n\n", extension=".md")
    return text or "" if edited is None else edited


def _anchor(text: str) -> Anchor:
    from reverie.memory.topics.draft import parse_anchor

    return parse_anchor(text)


def _day(moment: date | None) -> date | None:
    from datetime import datetime

    return moment.date() if isinstance(moment, datetime) else moment
