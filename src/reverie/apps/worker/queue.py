"""The queue of jobs, on procrastinate in the team server's PostgreSQL: submit, list, run, take over.

A job holds the lock of its repository, so one at a time works on it. Jobs of a worker that no longer sends its
heartbeat go back into the queue. How many jobs of a tenant run at once is kept by advisory locks of PostgreSQL, which
a worker that dies gives back by itself.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from procrastinate import App, BaseRetryStrategy, JobContext, PsycopgConnector, RetryDecision, SyncPsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job, Status
from procrastinate.schema import SchemaManager
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from reverie.apps.server.database import ALL_TENANTS, ServerDatabase
from reverie.apps.worker.job import JobPaused, JobRunner, JobSpec
from reverie.errors import BadRequest, Conflict, Error, Refused, Unauthenticated, Unavailable, UserMistake
from reverie.values import value

TASK = "reverie.job"
QUEUE = "reverie"
STATES = ("todo", "doing", "succeeded", "failed", "cancelled", "aborted")
_FAILURES_MAX = 5
"""Starts of a job that may fail for a reason that may pass."""
_RETRY_SECONDS = 15
"""After the first failure; doubles with each."""
_SLOT_SECONDS = 2.0
_BUDGET_SECONDS = 1_800.0
_RECONNECT_SECONDS = 5.0
_POLL_SECONDS = 5.0
_SCHEMA_LOCK = 7_316_403
_RESCUE_LOCK = 7_316_404
_SLOT_LOCKS = 7_316_405 << 32
_SLOTS_MAX = 1_024


class FleetRetry(BaseRetryStrategy):
    """When a job that did not finish starts again; the task itself says how long to wait."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:  # noqa: ARG002
        """None: never."""
        if isinstance(exception, RetryLater):
            return RetryDecision(retry_in={"seconds": max(1, round(exception.seconds))})
        return None


class RetryLater(Exception):
    """Tells the queue to start a job again."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


@value
class WorkerOptions:
    """How one worker runs."""

    concurrency: int = 4
    """Jobs at the same time."""
    stalled_seconds: float = 60.0
    """Without a heartbeat for so long a worker counts as dead."""
    stops_when_empty: bool = False


@dataclass(slots=True)
class JobQueue:
    """The queue of one database.

    Raises:
        UserMistake: the database is SQLite, which has no queue.
    """

    database: ServerDatabase
    runner: JobRunner | None = None
    """What runs jobs; only a worker has one."""
    write_line: Callable[[str], None] = lambda _line: None
    """Takes one line of JSON for each start of a job."""
    _slots: Engine = field(init=False)
    _is_stopping: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        if not self.database.is_postgresql:
            raise UserMistake(
                "jobs need a server on PostgreSQL: name it with --database or REVERIE_DATABASE_URL; "
                "on one machine `reverie dream` and `reverie learn` do the same without a queue"
            )
        self._slots = create_engine(self.database.engine.url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
        self._install_schema()

    @property
    def _address(self) -> str:
        url = self.database.engine.url.set(drivername="postgresql")
        return url.render_as_string(hide_password=False)

    def submit(self, specs: Sequence[JobSpec]) -> list[int | None]:
        """Put jobs into the queue; returns the number of each, None where the same one waits already."""
        app = self._create_app(SyncPsycopgConnector(conninfo=self._address))
        with app.open():
            waiting = {_identify(job.task_kwargs) for job in app.job_manager.list_jobs(queue=QUEUE, status="todo")}
            fresh = [spec for spec in specs if _identify(_arguments(spec)) not in waiting]
            added = app.job_manager.batch_defer_jobs(jobs=[_build_job(spec) for spec in fresh]) if fresh else []
        numbers = {spec.key: job.id for spec, job in zip(fresh, added, strict=True)}
        return [numbers.get(spec.key) for spec in specs]

    def list_jobs(self, tenant_id: int, state: str | None, limit: int) -> list[dict[str, Any]]:
        """The newest jobs of a tenant, each with its result or its last problem."""
        query = text(
            "SELECT p.id, p.status::text AS state, p.attempts, p.scheduled_at, p.args, "
            "j.started_at, j.finished_at, j.result, j.problem "
            "FROM procrastinate_jobs p LEFT JOIN jobs j ON j.key = p.args->>'key' "
            "WHERE p.queue_name = :queue AND (p.args->>'tenant_id')::bigint = :tenant "
            "AND (CAST(:state AS text) IS NULL OR p.status::text = :state) ORDER BY p.id DESC LIMIT :limit"
        )
        values = {"queue": QUEUE, "tenant": tenant_id, "state": state, "limit": limit}
        with self.database.reading(ALL_TENANTS) as connection:
            rows = connection.execute(query, values).mappings().all()
        return [
            {
                "id": row["id"],
                "kind": row["args"]["kind"],
                "repo": row["args"]["repo"],
                "model": row["args"]["model"],
                "state": row["state"],
                "attempts": row["attempts"],
                "started_at": row["started_at"],
                "finished_at": row["finished_at"],
                "result": None if row["result"] is None else json.loads(row["result"]),
                "problem": row["problem"],
            }
            for row in rows
        ]

    def count_jobs(self) -> dict[str, int]:
        """How many jobs of all tenants are in each state."""
        query = text("SELECT status::text, count(*) FROM procrastinate_jobs WHERE queue_name = :queue GROUP BY 1")
        with self.database.reading(ALL_TENANTS) as connection:
            return {row[0]: row[1] for row in connection.execute(query, {"queue": QUEUE})}

    def retry(self, tenant_id: int, job_id: int, now: Any) -> None:
        """Start a job that failed once more."""
        self._require(tenant_id, job_id, "failed")
        with self._open() as app:
            app.job_manager.retry_job_by_id(job_id, now)

    def cancel(self, tenant_id: int, job_id: int) -> None:
        """Take a job that has not begun out of the queue."""
        self._require(tenant_id, job_id, "todo")
        with self._open() as app:
            app.job_manager.cancel_job_by_id(job_id)

    def close(self) -> None:
        """Close the connections of this queue; the database stays open."""
        self._slots.dispose()

    async def run(self, options: WorkerOptions, announce: Callable[[], None] = lambda: None) -> None:
        """Run jobs until a signal comes; the first lets running jobs finish, the second ends at once."""
        assert self.runner is not None
        loop = asyncio.get_running_loop()
        task: asyncio.Task[None] | None = None

        def stop() -> None:
            if self._is_stopping:
                os._exit(130)
            self._is_stopping = True
            if task is not None:
                task.cancel()

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop)
        while not self._is_stopping:
            task = asyncio.create_task(self._run_once(options, announce))
            try:
                await task
                if options.stops_when_empty:
                    if self._has_due():  # it waited for a job of the same repository that has ended since
                        announce = _stay_silent
                        continue
                    return
                problem = "the connection to the database ended"
            except asyncio.CancelledError:
                return
            except (ConnectorException, psycopg.Error, SQLAlchemyError, OSError) as lost:
                problem = f"{lost} {lost.__cause__ or ''}".strip().partition("\n")[0]
            sys.stderr.write(f"reverie: {problem}; connecting again\n")
            with suppress(asyncio.CancelledError):
                task = asyncio.create_task(asyncio.sleep(_RECONNECT_SECONDS))
                await task

    def _has_due(self) -> bool:
        query = text(
            "SELECT EXISTS (SELECT 1 FROM procrastinate_jobs p WHERE queue_name = :queue AND status = 'todo' "
            "AND (scheduled_at IS NULL OR scheduled_at <= now()) AND NOT EXISTS "
            "(SELECT 1 FROM procrastinate_jobs o WHERE o.lock = p.lock AND (o.status = 'doing' OR "
            "(o.status = 'todo' AND o.id < p.id))))"
        )
        with self.database.reading(ALL_TENANTS) as connection:
            return bool(connection.execute(query, {"queue": QUEUE}).scalar())

    async def _run_once(self, options: WorkerOptions, announce: Callable[[], None]) -> None:
        logging.getLogger("procrastinate").setLevel(logging.CRITICAL)
        connector = PsycopgConnector(conninfo=self._address, min_size=1, max_size=3, timeout=10.0)
        app = self._create_app(connector)
        async with app.open_async():
            rescue = asyncio.create_task(self._rescue_forever(app, options.stalled_seconds))
            announce()
            try:
                await app.run_worker_async(
                    queues=[QUEUE],
                    concurrency=options.concurrency,
                    wait=not options.stops_when_empty,
                    install_signal_handlers=False,
                    fetch_job_polling_interval=_POLL_SECONDS,
                    update_heartbeat_interval=options.stalled_seconds / 4,
                    stalled_worker_timeout=options.stalled_seconds,
                )
            finally:
                rescue.cancel()
                await asyncio.gather(rescue, return_exceptions=True)

    async def _rescue_forever(self, app: App, stalled_seconds: float) -> None:
        """Put jobs of dead workers back into the queue, as one of all workers at a time."""
        while True:
            faults = (ConnectorException, psycopg.Error, SQLAlchemyError, OSError)
            with suppress(*faults), self._slots.connect() as connection:
                query = text("SELECT pg_try_advisory_lock(:key)")
                if connection.execute(query, {"key": _RESCUE_LOCK}).scalar():
                    await _rescue(app, stalled_seconds)
            await asyncio.sleep(stalled_seconds / 4)

    def _run_job(self, context: JobContext, arguments: Mapping[str, Any]) -> None:
        """One start of one job, in a thread of its own; raises what `FleetRetry` reads."""
        assert self.runner is not None
        spec = JobSpec(**{**arguments, "paths": tuple(arguments["paths"])})
        line = {"job": context.job.id, "kind": spec.kind, "tenant": spec.tenant_id, "repo": spec.repo}
        try:
            with self._hold_slot(spec.tenant_id, self.runner.read_limits(spec.tenant_id).jobs_at_once):
                result = self.runner.run(spec)
        except JobPaused as pause:
            with suppress(SQLAlchemyError):
                self.runner.note_pause(spec, str(pause))
            self._log(line, "paused", problem=str(pause))
            raise RetryLater(str(pause), _BUDGET_SECONDS) from pause
        except RetryLater:
            raise
        except (Error, OSError, SQLAlchemyError) as problem:
            raise self._judge(spec, problem, line) from problem
        except Exception as problem:
            self._log(line, "failed", problem=f"{type(problem).__name__}: {problem}")
            with suppress(SQLAlchemyError):
                self.runner.note_failure(spec, f"{type(problem).__name__}: {problem}")
            raise
        self._log(line, result["state"], cost_usd=result["cost_usd"])

    def _judge(self, spec: JobSpec, problem: Exception, line: Mapping[str, Any]) -> Exception:
        """What a failure means: another start later, or the end."""
        assert self.runner is not None
        failures = 1
        with suppress(SQLAlchemyError):
            failures = self.runner.note_failure(spec, str(problem))
        is_final = isinstance(problem, (UserMistake, Refused, Unauthenticated, BadRequest))
        if is_final or (failures >= _FAILURES_MAX and not isinstance(problem, SQLAlchemyError)):
            self._log(line, "failed", problem=str(problem))
            return problem
        seconds = _RETRY_SECONDS * 2 ** min(failures - 1, 8) * (0.75 + random.random() / 2)
        if isinstance(problem, Conflict):
            seconds = 1 + 4 * random.random()
        elif isinstance(problem, Unavailable) and problem.retry_after_seconds:
            seconds = max(seconds, problem.retry_after_seconds)
        self._log(line, "retry", problem=str(problem), seconds=round(seconds))
        return RetryLater(str(problem), seconds)

    @contextmanager
    def _hold_slot(self, tenant_id: int, slots: int) -> Iterator[None]:
        """One of the places of a tenant; all taken: the job goes back into the queue for a moment."""
        if not slots:
            yield
            return
        with self._slots.connect() as connection:
            for slot in range(min(slots, _SLOTS_MAX)):
                key = _SLOT_LOCKS + tenant_id * _SLOTS_MAX + slot
                if connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": key}).scalar():
                    yield
                    return
        raise RetryLater("all places of the tenant are taken (jobs_at_once)", _SLOT_SECONDS * (0.5 + random.random()))

    def _log(self, line: Mapping[str, Any], state: str, **further: Any) -> None:
        self.write_line(json.dumps({**line, "state": state, **further}, ensure_ascii=False))

    def _require(self, tenant_id: int, job_id: int, state: str) -> None:
        query = text("SELECT status::text, args->>'tenant_id' FROM procrastinate_jobs WHERE id = :id")
        with self.database.reading(ALL_TENANTS) as connection:
            row = connection.execute(query, {"id": job_id}).first()
        if row is None or row[1] != str(tenant_id):
            raise UserMistake(f"no job {job_id} in this tenant; `reverie worker jobs` lists them")
        if row[0] != state:
            raise UserMistake(f"job {job_id} is {row[0]}, not {state}")

    @contextmanager
    def _open(self) -> Iterator[App]:
        app = self._create_app(SyncPsycopgConnector(conninfo=self._address))
        with app.open():
            yield app

    def _create_app(self, connector: PsycopgConnector | SyncPsycopgConnector) -> App:
        app = App(connector=connector)

        @app.task(name=TASK, queue=QUEUE, retry=FleetRetry(), pass_context=True)
        def run_job(context: JobContext, /, **arguments: Any) -> None:
            self._run_job(context, arguments)

        return app

    def _install_schema(self) -> None:
        """Create the tables of the queue, or bring them up to date; their version is the comment of one of them."""
        with self.database.engine.connect() as connection, connection.begin():
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _SCHEMA_LOCK})
            found = connection.execute(
                text("SELECT obj_description(to_regclass('procrastinate_jobs')), to_regclass('procrastinate_jobs')")
            ).one()
            migrations = _list_migrations()
            newest = migrations[-1].name
            if found[1] is None:
                scripts = [SchemaManager.get_schema()]
            else:
                scripts = [path.read_text("utf-8") for path in migrations if path.name > (found[0] or newest)]
            for script in scripts:
                connection.exec_driver_sql(script.replace("%", "%%"))
            if scripts:
                connection.exec_driver_sql(f"COMMENT ON TABLE procrastinate_jobs IS '{newest}'")


def _stay_silent() -> None:
    """It was announced before."""


async def _rescue(app: App, stalled_seconds: float) -> None:
    for job in await app.job_manager.get_stalled_jobs(queue=QUEUE, seconds_since_heartbeat=stalled_seconds):
        with suppress(ConnectorException):  # it ended meanwhile
            await app.job_manager.retry_job(job)


def _list_migrations() -> list[Path]:
    paths = sorted(Path(SchemaManager.get_migrations_path()).glob("*.sql"))
    return [path for path in paths if re.match(r"\d\d\.\d\d\.\d\d_\d\d_", path.name)]


def _arguments(spec: JobSpec) -> dict[str, Any]:
    return {
        "key": spec.key,
        "tenant_id": spec.tenant_id,
        "repo": spec.repo,
        "kind": spec.kind,
        "model": spec.model,
        "paths": list(spec.paths),
        "apply_all": spec.apply_all,
    }


def _identify(arguments: Mapping[str, Any]) -> str:
    """What makes two jobs the same: everything but the key."""
    return json.dumps({name: value for name, value in arguments.items() if name != "key"}, sort_keys=True)


def _build_job(spec: JobSpec) -> Job:
    lock = f"{spec.tenant_id}/{spec.repo}"
    return Job(
        queue=QUEUE,
        lock=lock,
        queueing_lock=None,
        task_name=TASK,
        task_kwargs=_arguments(spec),
        status=Status.TODO.value,
    )
