"""`reverie uncompact`: undo a compaction of a session."""

from __future__ import annotations

import click

from reverie.apps.cli.options import Common, as_json, project_option


@click.command("uncompact")
@click.argument("session", required=False)
@click.option("--boundary", metavar="ID", help="Id of the compaction, or a prefix (default: the newest).")
@click.option("--fork", is_flag=True, help="Work on a copy of the session; required for sessions of other agents.")
@project_option
@as_json
@click.pass_obj
def command(
    common: Common, session: str | None, boundary: str | None, fork: bool, project: str | None, as_json: bool
) -> None:
    """Undo a compaction of SESSION. The transcript is not rewritten: a new branch starts before the compaction.

    \b
    Examples:
      reverie uncompact
      reverie uncompact 5f0c954e --boundary b1c2
      reverie uncompact ~/.claude/projects/-home-me-app/5f0c954e.jsonl --fork
    """
    from reverie.apps.cli.output import format_count, print_json, short_count
    from reverie.apps.find_session import find_session
    from reverie.apps.rows import context_report
    from reverie.context.conversation import Conversation
    from reverie.context.spans import uncompact
    from reverie.errors import UserMistake
    from reverie.files import is_inside
    from reverie.messages.entries import MarkEntry
    from reverie.messages.fork import write_fork
    from reverie.messages.transcript import Transcript, read_entries
    from reverie.session import wiring
    from reverie.settings import load

    configuration = common.configuration(project)
    path = find_session(configuration, common.directory(project), session, agents=False)
    clock = load.SystemClock()
    entries = read_entries(path)
    undone = uncompact(entries, boundary)
    is_foreign = not is_inside(configuration.home, path)
    if is_foreign and not fork:
        raise UserMistake(f"{path} belongs to another agent; use --fork to work on a copy")
    if fork:
        # The copy ends before the compaction; the original stays as it is.
        target = wiring.transcript_path(configuration, common.directory(project), load.new_id())
        write_fork(path, to=target, now=clock.now(), new_id=load.new_id, up_to=undone.leaf, from_host=is_foreign)
        path = target
    with Transcript.open(path, now=clock.now(), label="reverie uncompact") as transcript:
        branch = Conversation(
            session=transcript.session,
            now=clock.now,
            new_id=load.new_id,
            entries=transcript.entries,
            write=lambda entries: transcript.append(*entries),
        )
        if not fork:
            branch.branch_from(undone.leaf)
        branch.append(*undone.again(branch.envelope))
        branch.append(MarkEntry(branch.envelope(), "uncompact", {"leaf": undone.leaf}))
    report = context_report(read_entries(path))
    document = {"session": str(path), "boundary": undone.boundary, "tokens": report.tokens}
    if as_json:
        print_json(document)
    else:
        click.echo(
            f"{path.stem}: {format_count(report.messages, 'message')} in the context window again, "
            f"{short_count(report.tokens)} tokens"
        )
