"""`reverie worker`: run jobs of the team server; its subcommands submit and list them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reverie.amounts import format_count
from reverie.apps.cli.options import Common, as_json
from reverie.apps.cli.serve import ServeTarget, missing_extra, normalise, print_rows, tenant_option
from reverie.errors import UserMistake

if TYPE_CHECKING:
    from reverie.apps.worker.job import JobRunner
    from reverie.apps.worker.queue import JobQueue

_database_option = click.option(
    "--database", metavar="URL", help="PostgreSQL of the team server (default: REVERIE_DATABASE_URL)."
)
_SHOWN = 50


@click.group("worker", invoke_without_command=True)
@click.option("--concurrency", type=click.IntRange(1, 64), default=4, show_default=True, metavar="N",
              help="Jobs at the same time.")  # fmt: skip
@click.option("--stalled", type=click.FloatRange(2, 3_600), default=60, show_default=True, metavar="SECONDS",
              help="Take over the jobs of workers without a sign of life for so long.")  # fmt: skip
@click.option("--once", is_flag=True, help="Stop when no job is due.")
@click.option("--work", metavar="DIR", help="Directory of running jobs, the same path on all machines.")
@_database_option
@click.pass_context
def command(
    ctx: click.Context, concurrency: int, stalled: float, once: bool, work: str | None, database: str | None
) -> None:
    """Run jobs of the team server until interrupted: dreams and extraction of its repositories.

    Any number of workers may run, on any number of machines. Interrupt once to finish running jobs, twice to stop at
    once: whatever was running is done by another worker, and nothing is done or paid twice.

    \b
    Examples:
      reverie worker
      reverie worker submit dream --all
      reverie worker jobs
    """
    ctx.obj = ServeTarget(ctx.obj, None, database)
    if ctx.invoked_subcommand is not None:
        return
    import asyncio

    with _open_queue(ctx.obj, Path(work) if work else None) as queue:
        from reverie.apps.worker.queue import WorkerOptions

        options = WorkerOptions(concurrency, stalled, stops_when_empty=once)
        asyncio.run(queue.run(options, lambda: _say(f"worker ready, {format_count(concurrency, 'job')} at a time")))


@command.command("submit")
@click.argument("kind", type=click.Choice(["dream", "learn"]))
@click.argument("paths", nargs=-1, metavar="[TRANSCRIPT…]")
@click.option("--repo", "repos", multiple=True, metavar="REPO", help="Repository, such as owner/name; repeatable.")
@click.option("--all", "is_all", is_flag=True, help="All repositories of the tenant.")
@click.option(
    "--model", metavar="NAME", help="Let this model work; the keys are those of the workers (default: rules)."
)
@click.option("--yes", is_flag=True, help="Of dream: also apply changes that need approval.")
@tenant_option
@_database_option
@as_json
@click.pass_obj
def submit(
    target: ServeTarget,
    *,
    kind: str,
    paths: tuple[str, ...],
    repos: tuple[str, ...],
    is_all: bool,
    model: str | None,
    yes: bool,
    tenant: str,
    database: str | None,
    as_json: bool,
) -> None:
    """Submit a dream, or extraction from transcripts, for repositories of the team server.

    A job that waits already is not added again. Transcripts are files or directories that the workers can read.

    \b
    Examples:
      reverie worker submit dream --repo acme/app
      reverie worker submit dream --all --model claude-haiku-4-5
      reverie worker submit learn --repo acme/app /srv/transcripts/acme-app
    """
    if is_all == bool(repos):
        raise UserMistake("name repositories with --repo, or all of them with --all")
    if (kind == "learn") != bool(paths):
        raise UserMistake("learn needs transcripts, dream has none: `reverie worker submit learn --repo R PATH…`")
    if yes and kind != "dream":
        raise UserMistake("--yes belongs to dream")
    with _open_queue(_target(target, database)) as queue:
        from reverie.apps.worker.job import JobSpec
        from reverie.settings.load import fresh_marker

        tenant_id, names = _find_repos(queue, tenant, None if is_all else [normalise(repo) for repo in repos], kind)
        places = tuple(str(_existing(path)) for path in paths)
        specs = [JobSpec(fresh_marker(), tenant_id, name, kind, model, places, yes) for name in names]
        numbers = queue.submit(specs)
    rows = [{"id": number, "repo": name} for name, number in zip(names, numbers, strict=True)]
    added = [row for row in rows if row["id"] is not None]
    if as_json:
        from reverie.apps.cli.output import print_json

        print_json({"submitted": added, "waiting": [row["repo"] for row in rows if row["id"] is None]})
        return
    for row in added[:_SHOWN]:
        click.echo(f"job {row['id']}  {kind} {row['repo']}")
    _say(f"{len(added)} submitted" + (f", {len(rows) - len(added)} waiting already" if len(added) < len(rows) else ""))


@command.command("jobs")
@click.option("--state", type=click.Choice(["todo", "doing", "succeeded", "failed", "cancelled", "aborted"]),
              help="Only jobs in this state.")  # fmt: skip
@click.option("--retry", type=int, metavar="ID", help="Start a failed job again.")
@click.option("--cancel", type=int, metavar="ID", help="Take a waiting job out of the queue.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=_SHOWN, show_default=True, metavar="N",
              help="Newest jobs that are listed.")  # fmt: skip
@tenant_option
@_database_option
@as_json
@click.pass_obj
def list_jobs(
    target: ServeTarget,
    *,
    state: str | None,
    retry: int | None,
    cancel: int | None,
    limit: int,
    tenant: str,
    database: str | None,
    as_json: bool,
) -> None:
    """List jobs of a tenant, the newest first, each with its result or its last problem.

    \b
    Examples:
      reverie worker jobs
      reverie worker jobs --state failed --json
      reverie worker jobs --retry 17
    """
    from reverie.settings.load import system_now

    with _open_queue(_target(target, database)) as queue:
        tenant_id, _ = _find_repos(queue, tenant, [], "")
        if retry is not None:
            queue.retry(tenant_id, retry, system_now())
        if cancel is not None:
            queue.cancel(tenant_id, cancel)
        rows = queue.list_jobs(tenant_id, state, limit)
    if as_json:
        from reverie.apps.cli.output import print_json

        print_json(rows)
        return
    for row in rows:
        row["outcome"] = _describe(row)
    print_rows(rows, ("id", "kind", "repo", "state", "attempts", "finished_at", "outcome"), as_json=False)


def _describe(row: dict[str, Any]) -> str:
    result = row["result"]
    if result is None:
        return row["problem"] or ""
    if row["kind"] == "learn":
        return f"{result['saved']} saved, {result['updated']} updated of {format_count(result['messages'], 'message')}"
    counts = f"{result['merged']} merged, {result['archived']} archived, {result['changed']} changed"
    if result["state"] == "proposed":
        return f"needs approval (submit again with --yes): {counts}"
    return counts if result["state"] == "completed" else "nothing to consolidate"


def _target(target: ServeTarget, database: str | None) -> ServeTarget:
    return ServeTarget(target.common, None, database or target.database)


@contextmanager
def _open_queue(target: ServeTarget, work: Path | None = None) -> Iterator[JobQueue]:
    """The queue of the database that is meant, with what runs jobs."""
    database = target.open()
    try:
        try:
            from reverie.apps.worker.queue import JobQueue
        except ImportError as problem:
            raise missing_extra(problem) from problem
        queue = JobQueue(database, _build_runner(target.common, database, work), _write_line)
        try:
            yield queue
        finally:
            queue.close()
    finally:
        database.close()


def _build_runner(common: Common, database: Any, work: Path | None) -> JobRunner:
    import tempfile

    from reverie.apps.server.limits import default_limits
    from reverie.apps.worker.job import JobRunner
    from reverie.models.from_settings import model
    from reverie.settings.load import system_now

    configuration = common.configuration()
    directory = (work or Path(tempfile.gettempdir()) / "reverie-worker").expanduser().absolute()
    limits = default_limits(configuration.settings.server)
    return JobRunner(database, configuration, limits, directory, system_now, model)


def _find_repos(queue: JobQueue, tenant: str, names: list[str] | None, kind: str) -> tuple[int, list[str]]:
    """The id of a tenant, and the repositories that are meant; None: all."""
    from sqlalchemy import select

    from reverie.apps.server.accounts import find_tenant
    from reverie.apps.server.database import ALL_TENANTS
    from reverie.apps.server.schema import repos
    from reverie.settings.load import system_now

    with queue.database.writing(ALL_TENANTS) as connection:
        tenant_id = find_tenant(connection, tenant, int(system_now().timestamp()))
        query = select(repos.c.name).where(repos.c.tenant_id == tenant_id).order_by(repos.c.name)
        known = [row[0] for row in connection.execute(query)]
    if names is None:
        return tenant_id, known
    unknown = [name for name in names if name not in known]
    if unknown and kind == "dream":
        raise UserMistake(f"no repository {unknown[0]!r} in the tenant {tenant!r}; nothing was submitted")
    return tenant_id, list(dict.fromkeys(names))


def _existing(path: str) -> Path:
    place = Path(path).expanduser().resolve()
    if not place.exists():
        raise UserMistake(f"{place} does not exist; name transcripts that the workers can read")
    return place


def _write_line(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _say(message: str) -> None:
    click.echo(f"reverie: {message}", err=True)
