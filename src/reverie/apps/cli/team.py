"""`reverie team`: memories that are shared with colleagues."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TextIO

import click

from reverie.apps.cli.options import MemorySelection, as_json, memory_options

if TYPE_CHECKING:
    from reverie.memory.team.entry import RefusedEntry
    from reverie.memory.team.sync import OutgoingChange, SyncReport
    from reverie.memory.team.team import Team, TeamStatus

_TOKEN_CHARS_MAX = 10_000
_WHY_REFUSED = "remove it from the file, or save where the secret is stored instead"


@click.group("team")
def command() -> None:
    """Share memories with colleagues over a git remote or a team server.

    A memory is shared when it was saved with `reverie save --team` and pushed. Memories about a person are never
    shared, nor is anything that looks like a secret.

    \b
    Examples:
      reverie team join git@example.org:acme/app.git
      reverie save --team "Integration tests need the database of docker compose."
      reverie team status
      reverie team push
      reverie team pull
    """


@command.command("join")
@click.argument("remote")
@click.option("--name", default="", metavar="NAME", help="Your name for colleagues (default: git's user.name).")
@click.option("--repo", default="", metavar="REPO", help="Repository at a team server (default: that of `origin`).")
@click.option("--token", default="", metavar="TOKEN", help="Token for a team server; others may see it in `ps`.")
@click.option(
    "--token-file", type=click.File(), metavar="FILE", help="Read the token from a file; - is standard input."
)
@as_json
@memory_options
def join(
    selection: MemorySelection,
    *,
    remote: str,
    name: str,
    repo: str,
    token: str,
    token_file: TextIO | None,
    as_json: bool,
) -> None:
    """Join a team: REMOTE is any git repository you can push to, or the http address of a team server.

    Takes what is shared there. Nothing is sent before the first `reverie team push`. In a git repository a branch of
    its own is used. A server asks for a token: it is kept in a file that only you can read, below Reverie's home, and
    never in a project; REVERIE_TEAM_TOKEN is used instead where it is set. Joining again replaces the token.

    \b
    Examples:
      reverie team join git@example.org:acme/app.git
      reverie team join /srv/git/memory.git
      reverie team join https://memory.example.org --repo acme/app --token-file token.txt
    """
    team = _open(selection)
    joined = team.join(remote, name=name, repo=repo, token=_read_token(team, remote, token, token_file))
    report = team.pull()
    if as_json:
        named = {"remote": joined.remote, "repo": joined.repo or None, "name": joined.name}
        _print_json(report_document(report) | named)
        return
    click.echo(f"joined {joined.place} as {joined.name}")
    print_report(report)
    outgoing = [each for each in team.status().outgoing if not each.refused]
    if outgoing:
        _say(f"{count_memories(len(outgoing))} not shared yet: run `reverie team status`, then `reverie team push`")


@command.command("status")
@as_json
@memory_options
def status(selection: MemorySelection, *, as_json: bool) -> None:
    """Show what is shared and what the next push would send, each with author and trust.

    \b
    Examples:
      reverie team status
      reverie team status --json
    """
    now = _open(selection).status()
    if as_json:
        _print_json(_status_document(now))
        return
    if now.joined is None:
        _say("no team joined: run `reverie team join REMOTE`")
    else:
        pulled = f"{now.agreed.pulled:%Y-%m-%d %H:%M}" if now.agreed.pulled else "never"
        click.echo(
            f"{now.joined.place} as {now.joined.name}: {count_memories(now.entries)} shared, last pulled {pulled}"
        )
    for problem in now.problems:
        _say(f"not in sync since {problem.since:%Y-%m-%d %H:%M}: {problem.message}")
    print_outgoing(now.outgoing)
    print_refused(now.agreed.refused)
    if now.joined is not None and not now.joined.may_push and now.outgoing:
        _say("nothing is sent before you agree: run `reverie team push`")


@command.command("pull")
@as_json
@memory_options
def pull(selection: MemorySelection, *, as_json: bool) -> None:
    """Take what colleagues share; edits on both sides are merged, a conflict keeps both.

    \b
    Examples:
      reverie team pull
      reverie team pull --json
    """
    report = _open(selection).pull()
    if as_json:
        _print_json(report_document(report))
    else:
        print_report(report)


@command.command("push")
@click.option("--yes", is_flag=True, help="Do not ask: share with this remote, and delete there what is gone here.")
@as_json
@memory_options
def push(selection: MemorySelection, *, yes: bool, as_json: bool) -> None:
    """Send what is new here, after a pull. The first push of a repository asks.

    \b
    Examples:
      reverie team push
      reverie team push --yes --json
    """
    team = _open(selection)
    now = team.status()
    if now.joined is not None and not now.joined.may_push and (yes or _agrees(now)):
        team.allow_push()
    report = team.push(may_delete_many=yes)
    if as_json:
        _print_json(report_document(report))
    else:
        print_report(report)


@command.command("watch")
@memory_options
def watch(selection: MemorySelection) -> None:
    """Pull now and then, and push edits as they are made, until interrupted.

    A session does the same by itself; this is for machines on which memories are edited without one.

    \b
    Examples:
      reverie team watch
    """
    from reverie.memory.team.watch import watch_team

    watch_team(_open(selection), tell=_say)


@command.command("leave")
@click.option("--forget", is_flag=True, help="Also forget what was agreed; use it when the state is damaged.")
@as_json
@memory_options
def leave(selection: MemorySelection, *, forget: bool, as_json: bool) -> None:
    """Stop sharing. Memories stay, here and there.

    \b
    Examples:
      reverie team leave
    """
    left = _open(selection).leave(forget=forget)
    if as_json:
        _print_json({"remote": left.remote, "repo": left.repo or None})
    else:
        click.echo(f"left {left.place}; its memories stay in this directory")


def _open(selection: MemorySelection) -> Team:
    from reverie.errors import Refused, UserMistake

    memory = selection.open()
    if memory.off is not None:
        raise Refused(f"memory is off: {memory.off}", by="settings")
    if memory.scope.name == "user":
        raise UserMistake("your user memory is private; leave out --user")
    return memory.team


def _read_token(team: Team, remote: str, token: str, token_file: TextIO | None) -> str:
    """The token of the options; where there is none, in a terminal, one that is typed or pasted."""
    from reverie.errors import UserMistake
    from reverie.memory.team.http_remote import is_server_address

    if token and token_file is not None:
        raise UserMistake("--token and --token-file name two tokens; give one")
    if token_file is not None:
        lines = token_file.read(_TOKEN_CHARS_MAX).split()
        if len(lines) != 1:
            raise UserMistake(f"{token_file.name} does not hold one token alone")
        return lines[0]
    is_needed = is_server_address(remote) and not token and not team.environment_token
    return str(click.prompt("Token", hide_input=True, err=True)) if is_needed and sys.stdin.isatty() else token


def _agrees(now: TeamStatus) -> bool:
    """Ask once per repository, in a terminal; elsewhere the answer is no."""
    if not sys.stdin.isatty() or now.joined is None:
        return False
    print_outgoing(now.outgoing)
    return click.confirm(f"Share these, and later team memories, with everybody who can read {now.joined.place}?")


def print_outgoing(outgoing: tuple[OutgoingChange, ...]) -> None:
    """Print what would be sent, and what would be refused."""
    from reverie.apps.cli.output import print_table

    ready = [each for each in outgoing if not each.refused]
    if ready:
        columns = [("change", "left"), ("path", "left"), ("name", "flex"), ("author", "left"), ("trust", "left")]
        print_table(columns, [(o.change, o.path, o.name, o.author, o.trust or "–") for o in ready])
    else:
        _say("nothing to send")
    print_refused(tuple(refusal for each in outgoing for refusal in each.refused))


def print_report(report: SyncReport) -> None:
    """Print what an exchange did."""
    for verb, paths in (("pulled", report.pulled), ("pushed", report.pushed), ("deleted", report.deleted)):
        for path in paths:
            click.echo(f"{verb:8}  {path}")
    for path in report.conflicts:
        click.echo(f"conflict  {path}")
        _say(f"an edit lost against another one or a deletion; it is kept in {path}")
    print_refused(report.refused)
    if not (report.pulled or report.pushed or report.deleted or report.conflicts):
        click.echo("up to date")


def print_refused(refused: tuple[RefusedEntry, ...]) -> None:
    """Say what was refused, and what to do about it."""
    for each in refused:
        way = "not sent" if each.direction == "out" else "not taken"
        next_step = f"; {_WHY_REFUSED}" if each.direction == "out" and "secret" in each.rule else ""
        _say(f"{way}: {each}{next_step}")


def report_document(report: SyncReport) -> dict[str, Any]:
    """What an exchange did, as JSON."""
    return {
        "pulled": list(report.pulled),
        "pushed": list(report.pushed),
        "deleted": list(report.deleted),
        "conflicts": list(report.conflicts),
        "refused": [_refused_document(each) for each in report.refused],
    }


def _refused_document(refused: RefusedEntry) -> dict[str, Any]:
    return {
        "path": refused.path,
        "rule": refused.rule,
        "line": refused.line or None,
        "direction": refused.direction,
    }


def _status_document(now: TeamStatus) -> dict[str, Any]:
    joined, agreed = now.joined, now.agreed
    refused = (*agreed.refused, *(refusal for each in now.outgoing for refusal in each.refused))
    return {
        "remote": joined.remote if joined else None,
        "repo": (joined.repo or None) if joined else None,
        "name": joined.name if joined else None,
        "may_push": joined.may_push if joined else False,
        "shared": now.entries,
        "pulled_at": agreed.pulled.isoformat() if agreed.pulled else None,
        "outgoing": [
            {"path": o.path, "change": o.change, "name": o.name, "author": o.author, "trust": o.trust or None}
            for o in now.outgoing
            if not o.refused
        ],
        "refused": [_refused_document(each) for each in refused],
        "problems": [
            {"cause": each.cause, "message": each.message, "since": each.since.isoformat()} for each in now.problems
        ],
    }


def count_memories(number: int) -> str:
    """A number of memories in words."""
    from reverie.apps.cli.output import format_count

    return format_count(number, "memory", "memories")


def _print_json(document: dict[str, Any]) -> None:
    from reverie.apps.cli.output import print_json

    print_json(document)


def _say(message: str) -> None:
    click.echo(f"reverie: {message}", err=True)
