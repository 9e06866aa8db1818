"""`reverie audit`: how good the memory files of any agent are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from reverie.apps.cli.options import Common, as_json

if TYPE_CHECKING:
    from reverie.memory.audit import AuditReport

_SHOWN_PER_KIND = 10


@click.command("audit")
@click.argument("path", metavar="PATH")
@click.option("--project", metavar="DIR", help="Project that the notes are about (default: the one they lie in).")
@as_json
@click.pass_obj
@click.pass_context
def command(ctx: click.Context, common: Common, *, path: str, project: str | None, as_json: bool) -> None:
    """Score the memory files at PATH without changing them: those of Reverie, Claude Code, Codex, Qwen, Letta,
    basic-memory, Cursor rules, AGENTS.md and its kin, a mem0 export.

    Finds possible secrets, contradictions, duplicates, notes about files that are gone, injected instructions,
    memories that were never recalled, and an index that is too long.

    Exits with 0 if nothing is found, with 1 otherwise.

    \b
    Examples:
      reverie audit .
      reverie audit ~/.codex/memories
      reverie audit export.json --json
    """
    from reverie.apps.cli.exits import DONE, FAILED
    from reverie.hosts.memory_files import find_stores
    from reverie.memory.audit import audit, find_project_of
    from reverie.settings.load import system_now

    place = Path(path).expanduser().absolute()
    stores = find_stores(place)
    is_named = project is not None or common.project is not None
    root = common.directory(project) if is_named else find_project_of(stores, place)
    report = audit(stores, root, system_now())
    _show(report, as_json=as_json)
    ctx.exit(FAILED if report.findings else DONE)


def _show(report: AuditReport, *, as_json: bool) -> None:
    from reverie.apps.cli.output import format_count, print_json, print_table
    from reverie.memory.audit import WEIGHTS

    by_kind = {kind: [each for each in report.findings if each.kind == kind] for kind in ("damaged", *WEIGHTS)}
    if as_json:
        print_json(
            {
                "score": report.score,
                "notes": report.notes,
                "stores": [{"format": store.format.value, "path": str(store.path)} for store in report.stores],
                "counts": {kind: None if kind in report.unknown else len(found) for kind, found in by_kind.items()},
                "findings": [
                    {"kind": each.kind, "place": each.place, "detail": each.detail} for each in report.findings
                ],
            }
        )
        return
    for store in report.stores:
        click.echo(f"{store.path}  ({store.format.value})")
    rows = [
        (
            kind,
            "unknown" if kind in report.unknown else str(len(by_kind[kind])),
            f"-{report.cost(kind):.0f} of {weight}" if by_kind[kind] else "",
        )
        for kind, weight in WEIGHTS.items()
    ]
    print_table([("finding", "left"), ("count", "right"), ("score", "right")], rows)
    for kind, found in by_kind.items():
        for each in found[:_SHOWN_PER_KIND]:
            click.secho(f"  {kind}", fg="yellow", nl=False)
            click.echo(f"  {each.place}: {each.detail}")
        if len(found) > _SHOWN_PER_KIND:
            click.echo(f"  {kind}  … and {len(found) - _SHOWN_PER_KIND} more (--json lists all)")
    click.echo(f"score: {report.score} of 100, {format_count(report.notes, 'note')}")
