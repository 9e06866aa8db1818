"""One job: dream on the memories of a repository, or extract memories from transcripts into it.

The memories are those on the team server. A job copies them into a directory of its own, does there what
`reverie dream` or `reverie learn` does, and stores what changed together with the note that the job is done, in one
transaction. Killed at any moment before, nothing has happened; killed after, the next start finds the note. So a job
may be started any number of times, by any number of workers at once, and takes effect once.

Everything that a model is shown is the same at every start: the clock stands at the first one, ids are counted, and
the directory is named after the job. That is what lets `steps` find answers that were paid for.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from sqlalchemy import Connection, select, update
from sqlalchemy.dialects import postgresql, sqlite

from reverie.apps.server.accounts import Principal
from reverie.apps.server.batch import BatchDocument, EntryDocument, parse_batch
from reverie.apps.server.database import ServerDatabase
from reverie.apps.server.entries import RepoState, read_state, write_batch
from reverie.apps.server.faults import RequestFault
from reverie.apps.server.limits import Limits, apply_overrides
from reverie.apps.server.schema import entries, job_state, jobs, tenants
from reverie.apps.worker.steps import JobSteps, StoredReplies, forget_replies, read_cost
from reverie.errors import Conflict, Damaged, Refused, Unavailable, UserMistake
from reverie.files import safe_join, write_atomic
from reverie.files.locks import exclusive
from reverie.memory.team.entry import hash_text
from reverie.memory.team.rules import find_refusals
from reverie.memory.topics.topic import parse_topic
from reverie.settings import BudgetSettings
from reverie.settings.load import Configuration
from reverie.settings.tree import TeamSettings
from reverie.values import value

if TYPE_CHECKING:
    from reverie.memory.dream.dreams import Dreamt
    from reverie.memory.extraction.learn import Learned
    from reverie.memory.memory import Memory
    from reverie.models.ports import Model

KINDS = ("dream", "learn")
_STARTS_MAX = 10
"""A job that was started so often without an end takes its workers down; it fails instead."""
_PROBLEM_CHARS = 500
_STATE_FILES = ("dream.json", "proposal.json", "learnt.jsonl")
"""What a repository's next job needs to know: earlier dreams, a proposal that waits, transcripts that were read."""
_STATE_BYTES_MAX = 4_000_000


@value
class JobSpec:
    """What a job is to do; this is what waits in the queue."""

    key: str
    tenant_id: int
    repo: str
    kind: str
    model: str | None = None
    """None: by rules."""
    paths: tuple[str, ...] = ()
    """Transcripts of `learn`, where the workers can read them."""
    apply_all: bool = False
    """Of `dream`: apply what goes beyond the limits too, or the proposal that waits."""


@dataclass(slots=True)
class JobRunner:
    """Runs jobs of one database on this machine."""

    database: ServerDatabase
    configuration: Configuration
    limits: Limits
    """Of a tenant for which nothing else was set."""
    directory: Path
    """Where jobs have their directories; the same on all machines, since models are shown paths."""
    now: Callable[[], datetime]
    make_model: Callable[[Configuration, str], Model]

    def run(self, spec: JobSpec) -> dict[str, Any]:
        """Do a job, unless it is done; returns its result.

        Raises:
            UserMistake, Refused: it cannot be done, now or later.
            Unavailable, Conflict: it may be done later.
            JobPaused: the tenant's budget is spent.
        """
        started_at, result = self._begin(spec)
        if result is not None:
            return result
        place = self.directory / spec.key
        with exclusive(place.with_suffix(".lock"), label=f"job {spec.key}", now=self.now()):
            try:
                return self._run_in(place, spec, started_at)
            finally:
                shutil.rmtree(place, ignore_errors=True)

    def note_failure(self, spec: JobSpec, problem: str) -> int:
        """Remember why a start of a job did not finish; returns how often that happened."""
        with self.database.writing(spec.tenant_id) as connection:
            row = jobs.c.key == spec.key
            values = {"failures": jobs.c.failures + 1, "problem": problem[:_PROBLEM_CHARS]}
            connection.execute(update(jobs).where(row).values(values))
            return int(connection.execute(select(jobs.c.failures).where(row)).scalar() or 0)

    def note_pause(self, spec: JobSpec, problem: str) -> None:
        """Remember why a job waits; that is no failure."""
        with self.database.writing(spec.tenant_id) as connection:
            values = {"starts": jobs.c.starts - 1, "problem": problem[:_PROBLEM_CHARS]}
            connection.execute(update(jobs).where(jobs.c.key == spec.key).values(values))

    def _begin(self, spec: JobSpec) -> tuple[int, dict[str, Any] | None]:
        """When the job first started, and its result if it is done."""
        dialect = postgresql if self.database.is_postgresql else sqlite
        now = int(self.now().timestamp())
        row = {"key": spec.key, "tenant_id": spec.tenant_id, "repo": spec.repo, "kind": spec.kind, "started_at": now}
        with self.database.writing(spec.tenant_id) as connection:
            if connection.execute(select(tenants.c.id).where(tenants.c.id == spec.tenant_id)).first() is None:
                raise UserMistake(f"the organisation of {spec.repo!r} was removed")
            insert = dialect.insert(jobs).values(**row, starts=0, failures=0)
            connection.execute(insert.on_conflict_do_nothing())
            mine = jobs.c.key == spec.key
            connection.execute(update(jobs).where(mine, jobs.c.finished_at.is_(None)).values(starts=jobs.c.starts + 1))
            stored = connection.execute(select(jobs).where(mine)).mappings().one()
        if stored["finished_at"] is not None:
            return stored["started_at"], json.loads(stored["result"])
        if stored["starts"] > _STARTS_MAX:
            raise UserMistake(
                f"started {_STARTS_MAX} times without an end; last problem: {stored['problem'] or 'none'}"
            )
        return stored["started_at"], None

    def _run_in(self, place: Path, spec: JobSpec, started_at: int) -> dict[str, Any]:
        from reverie.memory.memory import Memory

        shutil.rmtree(place, ignore_errors=True)  # of a start that was killed
        limits = self.read_limits(spec.tenant_id)
        configuration = self._configure(place)
        first = datetime.fromtimestamp(started_at, UTC)
        steps = JobSteps(
            self.database, spec.tenant_id, spec.key, limits.job_usd_per_day, lambda: int(self.now().timestamp())
        )
        with Memory(place / "memory", settings=configuration.settings, now=lambda: first) as memory:
            base = self._read_copy(memory, spec)
            run = _dream if spec.kind == "dream" else _learn
            session = JobSession(configuration, place / "project", spec, first, steps, self.make_model)
            try:
                result = asyncio.run(run(memory, session))
            except Refused:
                if not steps.problem:
                    raise
            if steps.problem:
                raise JobPaused(steps.problem)
            return self._store(memory, spec, limits, base, result)

    def _configure(self, place: Path) -> Configuration:
        """The settings of this machine with a home of the job's own: no hooks, nobody's files, no second budget."""
        settings = self.configuration.settings
        home, config_home = place / "home", place / "config"
        (place / "project").mkdir(parents=True, mode=0o700)
        changed = replace(
            settings,
            home=str(home),
            config_home=str(config_home),
            hooks=type(settings)().hooks,
            memory=replace(settings.memory, history=False, daily_log=False),
            budget=BudgetSettings(1.0, math.inf),
        )
        return replace(
            self.configuration, settings=changed, home=home, config_home=config_home, project=place / "project",
            origins={},
        )  # fmt: skip

    def read_limits(self, tenant_id: int) -> Limits:
        """The limits of a tenant."""
        with self.database.reading(tenant_id) as connection:
            overrides = connection.execute(select(tenants.c.limits).where(tenants.c.id == tenant_id)).scalar_one()
        return apply_overrides(self.limits, overrides)

    def _read_copy(self, memory: Memory, spec: JobSpec) -> dict[str, dict[str, Any]]:
        """Write the repository's memories and the state of earlier jobs into the directory; returns the rows."""
        columns = (entries.c.path, entries.c.text, entries.c.sha256, entries.c.author, entries.c.updated_at)
        with self.database.snapshot(spec.tenant_id) as connection:
            state = read_state(connection, spec.tenant_id, spec.repo)
            if not state.id and spec.kind == "dream":
                raise UserMistake(f"no repository {spec.repo!r} in this organisation")
            query = select(*columns).where(entries.c.repo_id == state.id, entries.c.deleted.is_(False))
            rows = {row["path"]: dict(row) for row in connection.execute(query).mappings()}
            kept = connection.execute(select(job_state).where(job_state.c.repo_id == state.id)).mappings().all()
        for path, row in rows.items():
            # Nobody needs the copy after a crash, so it is not flushed.
            place = safe_join(memory.directory, path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(row["text"].encode())
            os.utime(place, (row["updated_at"], row["updated_at"]))
        for stored in kept:
            if stored["name"] in _STATE_FILES:
                write_atomic(memory.scope.folder.state / stored["name"], stored["text"])
        return rows

    def _store(
        self, memory: Memory, spec: JobSpec, limits: Limits, base: Mapping[str, Mapping[str, Any]], result: JobResult
    ) -> dict[str, Any]:
        """Store what changed and that the job is done, together."""
        changes, refused = _find_changes(memory, base, memory.settings.team, spec.kind)
        body = msgspec.json.encode(BatchDocument(changes))
        name = f"{spec.kind} job {spec.key[:8]}"
        principal = Principal(spec.tenant_id, "", name, None, "write", spec.repo, limits)
        now = int(self.now().timestamp())
        try:
            batch = parse_batch(body, limits) if changes else []
            with self.database.writing(spec.tenant_id) as connection:
                done = self._find_result(connection, spec)
                if done is not None:
                    return done
                if batch:
                    write_batch(connection, principal, spec.repo, batch, if_match=None, now=now)
                state = read_state(connection, spec.tenant_id, spec.repo)
                self._write_state(connection, memory, spec, state)
                document = {
                    **result,
                    "version": state.version,
                    "written": sorted(path for path, entry in changes.items() if not entry.deleted),
                    "deleted": sorted(path for path, entry in changes.items() if entry.deleted),
                    "not_stored": refused,
                    "cost_usd": round(read_cost(connection, spec.tenant_id, job_key=spec.key), 6),
                }
                forget_replies(connection, spec.tenant_id, spec.key, now)
                values = {"finished_at": now, "result": json.dumps(document), "problem": None}
                connection.execute(update(jobs).where(jobs.c.key == spec.key).values(**values))
        except RequestFault as fault:
            if fault.status in (409, 412):
                raise Conflict(f"the memories of {spec.repo} changed while the job ran; it starts again") from fault
            raise UserMistake(f"the result of the job was refused: {fault}") from fault
        return document

    def _find_result(self, connection: Connection, spec: JobSpec) -> dict[str, Any] | None:
        """The result of a job that another worker finished first; its row stays locked."""
        query = select(jobs.c.finished_at, jobs.c.result).where(jobs.c.key == spec.key).with_for_update()
        row = connection.execute(query).one()
        return None if row[0] is None else dict(json.loads(row[1]))

    def _write_state(self, connection: Connection, memory: Memory, spec: JobSpec, state: RepoState) -> None:
        if not state.id:
            return
        dialect = postgresql if self.database.is_postgresql else sqlite
        connection.execute(job_state.delete().where(job_state.c.repo_id == state.id))
        for name in _STATE_FILES:
            place = memory.scope.folder.state / name
            if place.is_file() and place.stat().st_size <= _STATE_BYTES_MAX:
                row = {"tenant_id": spec.tenant_id, "repo_id": state.id, "name": name}
                connection.execute(dialect.insert(job_state).values(**row, text=place.read_text("utf-8")))


class JobPaused(Exception):
    """The job waits for room or money and goes on by itself; that is no failure."""


JobResult = dict[str, Any]


@value
class JobSession:
    """What the work of a job has at hand besides its memory."""

    configuration: Configuration
    project: Path
    spec: JobSpec
    first: datetime
    steps: JobSteps
    make_model: Callable[[Configuration, str], Model]

    def open_model(self, name: str) -> Model:
        """A model whose answers are stored."""
        return StoredReplies(self.make_model(self.configuration, name), self.steps)


async def _dream(memory: Memory, session: JobSession) -> JobResult:
    dreams, spec = memory.dreams, session.spec
    waiting = dreams.proposal() if spec.apply_all else None
    if waiting is not None:
        done = dreams.settle(waiting.steps)
    elif spec.model is None:
        done = await dreams.run("all" if spec.apply_all else "limits")
    else:
        done = await _dream_with_model(memory, session, spec.model)
    if done.state not in {"completed", "unchanged", "proposed"} and not session.steps.problem:
        raise Unavailable(f"the dream {done.state}: {done.detail}")
    return {
        "state": done.state,
        "merged": done.merged,
        "archived": done.retired,
        "changed": done.changed,
        "contradictions": len(done.contradictions),
        "needs_approval": list(done.over) if done.state == "proposed" else [],
        "detail": done.detail,
    }


async def _dream_with_model(memory: Memory, session: JobSession, name: str) -> Dreamt:
    from reverie.apps.dream_session import open_dream_session
    from reverie.session import wiring

    ids = _count_ids(session.spec.key)
    options = replace(
        wiring.build_options(session.configuration, session.project, name, is_interactive=False),
        make_model=session.open_model,
        now=lambda: session.first,
        new_id=lambda: next(ids),
        user_home=session.configuration.home,
    )
    async with open_dream_session(options) as forks:
        return await memory.dreams.run("all" if session.spec.apply_all else "limits", forks=forks)


def _count_ids(key: str) -> Iterator[str]:
    """Ids that are the same at every start of the job."""
    space, number = uuid.uuid5(uuid.NAMESPACE_OID, key), 0
    while True:
        number += 1
        yield str(uuid.uuid5(space, str(number)))


async def _learn(memory: Memory, session: JobSession) -> JobResult:
    spec = session.spec
    learned: Learned = await memory.learn(
        spec.paths, model=None if spec.model is None else session.open_model(spec.model)
    )
    if learned.failed and spec.model is not None and not session.steps.problem:
        session_name, reason = learned.failed[0]
        raise Unavailable(f"{len(learned.failed)} sessions were not read, first {session_name}: {reason}")
    return {
        "state": "completed",
        "sessions": learned.sessions,
        "messages": learned.messages,
        "saved": len(learned.saved),
        "updated": len(learned.updated),
        "refused": len(learned.refused),
        "failed": [{"session": name, "reason": reason} for name, reason in learned.failed],
    }


def _find_changes(
    memory: Memory, base: Mapping[str, Mapping[str, Any]], settings: TeamSettings, kind: str
) -> tuple[dict[str, EntryDocument], list[dict[str, Any]]]:
    """What differs from what was copied, and what of it may not be shared, with the rule and never the text."""
    from reverie.memory.store.worktree import ARCHIVE, CONFLICTS, is_topic_path, list_tracked

    changes: dict[str, EntryDocument] = {}
    refused: list[dict[str, Any]] = []
    present = set()
    for path in list_tracked(memory.scope.folder):
        if not is_topic_path(path) or path.startswith((f"{ARCHIVE}/", f"{CONFLICTS}/")):
            continue
        present.add(path)
        text = (memory.directory / path).read_text("utf-8", "surrogateescape")
        row = base.get(path)
        if row is not None and row["text"] == text:
            continue
        faults = find_refusals(path, text, settings, direction="out")
        if faults:
            refused += [{"path": path, "rule": fault.rule, "line": fault.line or None} for fault in faults]
            continue
        digest = hash_text(text)
        author = "extraction" if row is None and kind == "learn" else kind if row is None else row["author"]
        changes[path] = EntryDocument(
            text, digest, author, _read_trust(path, text), base_sha256="" if row is None else row["sha256"]
        )
    # Where an edit is refused, another memory may live on in it: nothing is deleted then.
    for path in () if refused else base.keys() - present:
        changes[path] = EntryDocument(deleted=True, author=base[path]["author"], base_sha256=base[path]["sha256"])
    return changes, refused


def _read_trust(path: str, text: str) -> Any:
    try:
        return parse_topic(path, text).trust or "inferred"
    except Damaged:
        return "inferred"
