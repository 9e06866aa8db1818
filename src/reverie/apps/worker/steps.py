"""Paid model steps of a job: each answer is stored under job, step and input, and counts against the tenant's budget.

A job whose worker died runs again from its beginning. It asks the same questions in the same order, and what was
answered before is read here instead of being paid for again. Only the one call that was under way is lost.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from reverie.apps.server.database import ServerDatabase
from reverie.apps.server.schema import job_steps
from reverie.errors import Refused
from reverie.messages.codec import (
    decode_json,
    encode_json,
    message_from_wire,
    message_to_wire,
    usage_from_wire,
    usage_to_wire,
)
from reverie.models.messages_stream import announce
from reverie.models.ports import Event, Finished, Model, Reply, Request
from reverie.models.profiles import cost, profile
from reverie.models.request_body import encode_body, request_body

DAY_SECONDS = 86_400
_KEPT_SECONDS = 7 * DAY_SECONDS
"""How long the cost of a step is kept; its answer goes when the job is done."""


@dataclass(slots=True)
class JobSteps:
    """The stored steps of one job."""

    database: ServerDatabase
    tenant_id: int
    job_key: str
    usd_per_day: int
    """0: no limit."""
    now: Callable[[], int]
    problem: str = ""
    """Why the budget refused a step; the job goes on later."""
    _seen: Counter[tuple[str, str]] = field(default_factory=Counter)

    def name_step(self, request: Request) -> tuple[str, str]:
        """The step of a request, and the hash of all that is sent; the same question asked twice is two steps."""
        digest = hashlib.sha256(encode_body(request_body(request))).hexdigest()
        number = self._seen[request.purpose, digest]
        self._seen[request.purpose, digest] += 1
        return f"{request.purpose}:{number}", digest

    def read(self, step: str, digest: str) -> Reply | None:
        """The answer that an earlier start of the job was given."""
        query = select(job_steps.c.reply).where(
            job_steps.c.job_key == self.job_key, job_steps.c.step == step, job_steps.c.input_sha256 == digest
        )
        with self.database.reading(self.tenant_id) as connection:
            stored = connection.execute(query).scalar()
        return None if stored is None else _decode_reply(stored)

    def check_budget(self) -> None:
        """Raises `Refused` when the tenant's models have cost enough today."""
        if not self.usd_per_day:
            return
        with self.database.reading(self.tenant_id) as connection:
            spent = read_cost(connection, self.tenant_id, since=self.now() - DAY_SECONDS)
        if spent >= self.usd_per_day:
            self.problem = (
                f"jobs cost ${spent:.2f} in 24 hours, the limit is ${self.usd_per_day} (job_usd_per_day): "
                "it goes on by itself; `reverie serve limits` raises it"
            )
            raise Refused(self.problem, by="budget")

    def write(self, step: str, digest: str, reply: Reply) -> None:
        """Store an answer before anybody acts on it."""
        price = cost(reply.usage + reply.compaction_usage, profile(reply.model)) or 0.0
        dialect = postgresql if self.database.is_postgresql else sqlite
        statement = dialect.insert(job_steps).values(
            tenant_id=self.tenant_id,
            job_key=self.job_key,
            step=step,
            input_sha256=digest,
            model=reply.model[:200],
            reply=_encode_reply(reply),
            cost_usd=price,
            at=self.now(),
        )
        with self.database.writing(self.tenant_id) as connection:
            connection.execute(statement.on_conflict_do_nothing())


class StoredReplies:
    """A model that is asked only what the job has not asked it before."""

    def __init__(self, model: Model, steps: JobSteps) -> None:
        self.inner = model
        self._steps = steps

    @property
    def name(self) -> str:
        return self.inner.name

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """The stored answer, or that of the model, which is stored before it is passed on."""
        step, digest = self._steps.name_step(request)
        stored = self._steps.read(step, digest)
        if stored is not None:
            for block in stored.message.content:
                for event in announce(block):
                    yield event
            yield Finished(stored)
            return
        self._steps.check_budget()
        async with aclosing(self.inner.stream(request)) as events:
            async for event in events:
                if isinstance(event, Finished):
                    self._steps.write(step, digest, event.reply)
                yield event


def read_cost(connection: Connection, tenant_id: int, *, since: int = 0, job_key: str | None = None) -> float:
    """What the steps of a tenant, or of one job, have cost in US dollars."""
    query = select(func.coalesce(func.sum(job_steps.c.cost_usd), 0.0)).where(
        job_steps.c.tenant_id == tenant_id, job_steps.c.at >= since
    )
    if job_key is not None:
        query = query.where(job_steps.c.job_key == job_key)
    return float(connection.execute(query).scalar_one())


def forget_replies(connection: Connection, tenant_id: int, job_key: str, now: int) -> None:
    """Remove the answers of a job that is done; what they cost stays for a week."""
    connection.execute(update(job_steps).where(job_steps.c.job_key == job_key).values(reply=None))
    is_old = (job_steps.c.tenant_id == tenant_id) & (job_steps.c.at < now - _KEPT_SECONDS)
    connection.execute(delete(job_steps).where(is_old))


def _encode_reply(reply: Reply) -> str:
    document: dict[str, Any] = {
        "message": message_to_wire(reply.message),
        "usage": usage_to_wire(reply.usage),
        "compaction_usage": usage_to_wire(reply.compaction_usage),
        "stop_reason": reply.stop_reason,
        "model": reply.model,
        "message_id": reply.message_id,
        "applied_edits": list(reply.applied_edits),
    }
    return encode_json(document).decode()


def _decode_reply(stored: str) -> Reply:
    document = decode_json(stored)
    return Reply(
        message_from_wire(document["message"]),
        usage_from_wire(document["usage"]),
        document["stop_reason"],
        document["model"],
        message_id=document["message_id"],
        applied_edits=tuple(document["applied_edits"]),
        compaction_usage=usage_from_wire(document["compaction_usage"]),
    )
