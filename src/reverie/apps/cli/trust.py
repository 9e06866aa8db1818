"""`reverie trust`: what came with the project and acts with the user's rights; a yes or a no to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reverie.apps.cli.options import Common, as_json, project_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.files.trust import TrustAnswers, TrustPart

_DIGEST_CHARS = 8


@click.command("trust")
@click.argument("names", nargs=-1, metavar="[PART]...")
@click.option("--accept", "answer", flag_value="accept", help="Accept the listed parts.")
@click.option(
    "--refuse",
    "answer",
    flag_value="refuse",
    help="Refuse the listed parts; you are not asked again until they change.",
)
@click.option("--forget", "answer", flag_value="forget", help="Delete all answers for this project.")
@as_json
@project_option
@click.pass_obj
def command(common: Common, *, names: tuple[str, ...], answer: str | None, as_json: bool, project: str | None) -> None:
    """Review what this project asks you to trust: hooks, servers, permission rules, directories, skills, plugins.

    PART is a kind or a digest prefix, as listed (default: everything).

    \b
    Examples:
      reverie trust
      reverie trust --accept
      reverie trust server --accept
      reverie trust --forget
    """
    from reverie.apps.cli.output import print_json
    from reverie.errors import UserMistake
    from reverie.files.trust import read_trust, remove_answers, write_answers
    from reverie.models.offline import OFFLINE
    from reverie.session import wiring
    from reverie.session.project_trust import list_parts

    options = wiring.build_agreed_options(common.load_agreed(project), common.directory(project), OFFLINE)
    store = options.places.trust
    parts = [part for part in list_parts(options) if _is_meant(part, names)]
    if names and not parts:
        raise UserMistake(f"no part named {' or '.join(names)} in {options.project}; run `reverie trust` for a list")
    if answer == "forget":
        remove_answers(store, options.project, now=options.now())
    elif answer is not None and parts:
        write_answers(store, options.project, parts, accepted=answer == "accept", now=options.now())
    trust = read_trust(store, options.project)
    if trust.problem:
        click.echo(f"reverie: {trust.problem}", err=True)
    if as_json:
        print_json([_document(part, trust) for part in parts])
    elif not parts:
        click.echo(f"Nothing in {options.project} needs your trust.", err=True)
    else:
        _draw(parts, trust)


def _is_meant(part: TrustPart, names: Sequence[str]) -> bool:
    mark = _mark(part)
    return not names or any(name == part.kind or (name and mark.startswith(name)) for name in names)


def _mark(part: TrustPart) -> str:
    return part.digest.removeprefix("sha256:")


def _state(part: TrustPart, trust: TrustAnswers) -> str:
    if trust.accepts(part):
        return "accepted"
    return "refused" if part.digest in trust.refused else "waiting"


def _document(part: TrustPart, trust: TrustAnswers) -> dict[str, object]:
    return {
        "kind": str(part.kind),
        "place": part.place,
        "text": part.text,
        "digest": part.digest,
        "state": _state(part, trust),
    }


def _draw(parts: Sequence[TrustPart], trust: TrustAnswers) -> None:
    for part in parts:
        click.echo(f"{_state(part, trust):8}  {_mark(part)[:_DIGEST_CHARS]}  {part.kind}  {part.place}")
        for line in part.text.splitlines():
            click.echo("    " + "".join(char if char.isprintable() else "?" for char in line))
    waiting = sum(_state(part, trust) == "waiting" for part in parts)
    if waiting:
        click.echo(f"{waiting} pending: run `reverie trust --accept` or `reverie trust --refuse`.", err=True)
