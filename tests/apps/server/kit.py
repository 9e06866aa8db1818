"""A server in this process and somebody who talks to it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import httpx2

from reverie.apps.server.accounts import create_member, create_token, find_tenant
from reverie.apps.server.app import AppOptions, create_app
from reverie.apps.server.database import ALL_TENANTS, ServerDatabase
from reverie.apps.server.entries import append_audit
from reverie.apps.server.identity_provider import IdentityProvider
from reverie.apps.server.limits import Limits

REPO = "acme/app"
LIMITS = Limits(
    max_entries=20,
    max_file_bytes=128_000,
    max_repository_bytes=300_000,
    max_repositories=5,
    versions_kept=5,
    requests_per_minute=0,
    jobs_at_once=2,
    job_usd_per_day=1,
)
START_SECONDS = 1_790_000_000.0


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def entry(text: str, **fields: Any) -> dict[str, Any]:
    return {"text": text, "sha256": sha(text), **fields}


def deletion(**fields: Any) -> dict[str, Any]:
    return {"deleted": True, **fields}


@dataclass
class Clock:
    seconds: float = START_SECONDS

    def __call__(self) -> float:
        return self.seconds


@dataclass
class Served:
    """An application on a database, with what it logged."""

    database: ServerDatabase
    limits: Limits = LIMITS
    provider: IdentityProvider | None = None
    max_body_bytes: int = 204_800
    clock: Clock = field(default_factory=Clock)
    lines: list[bytes] = field(default_factory=list)

    def client(self, token: str | None = None) -> Client:
        options = AppOptions(
            self.database,
            self.limits,
            self.max_body_bytes,
            self.provider,
            read_seconds=self.clock,
            write_line=self.lines.append,
        )
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        transport = httpx2.ASGITransport(create_app(options), raise_app_exceptions=False)
        return Client(httpx2.AsyncClient(transport=transport, base_url="http://server", headers=headers))

    def token(
        self, scope: str = "write", *, repo: str | None = None, tenant: str = "default", member: str | None = None,
        expires_at: int | None = None,
    ) -> str:  # fmt: skip
        now = int(self.clock())
        with self.database.writing(ALL_TENANTS) as connection:
            tenant_id = self.tenant(tenant, connection)
            member_id = None
            if member is not None:
                member_id = create_member(connection, tenant_id, member, scope=scope, subject=None, now=now)
            token, _ = create_token(
                connection, tenant_id, scope=scope, repo=repo, member_id=member_id, expires_at=expires_at, now=now
            )
        return token

    def tenant(self, name: str, connection: Any) -> int:
        from sqlalchemy import select

        from reverie.apps.server.accounts import create_tenant
        from reverie.apps.server.schema import tenants

        found = connection.execute(select(tenants.c.id).where(tenants.c.name == name)).scalar()
        if found is None and name != "default":
            created = create_tenant(connection, name, int(self.clock()))
            append_audit(connection, created, "test", "tenant.create", None, {}, 0)
            return created
        return int(found) if found is not None else find_tenant(connection, name, int(self.clock()))

    def write_client(self, **options: Any) -> Client:
        return self.client(self.token("write", **options))

    def limited(self, **limits: int) -> Served:
        return replace(self, limits=Limits(**{**{name: getattr(self.limits, name) for name in _NAMES}, **limits}))

    @property
    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines]


_NAMES = (
    "max_entries", "max_file_bytes", "max_repository_bytes", "max_repositories", "versions_kept",
    "requests_per_minute", "jobs_at_once", "job_usd_per_day",
)  # fmt: skip


@dataclass
class Client:
    """Somebody with a token."""

    http: httpx2.AsyncClient

    async def pull(self, repo: str = REPO, *, etag: str | None = None, **query: str) -> httpx2.Response:
        headers = {} if etag is None else {"if-none-match": etag}
        return await self.http.get("/team_memory", params={"repo": repo, **query}, headers=headers)

    async def push(self, entries: dict[str, Any], repo: str = REPO, *, etag: str | None = "*") -> httpx2.Response:
        headers = {} if etag is None else {"if-match": etag}
        body = json.dumps({"entries": entries}, ensure_ascii=True).encode()
        return await self.http.put("/team_memory", params={"repo": repo}, headers=headers, content=body)

    async def entries(self, repo: str = REPO) -> dict[str, Any]:
        answer = await self.pull(repo)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()["entries"]
        return found

    async def texts(self, repo: str = REPO) -> dict[str, str]:
        return {path: row["text"] for path, row in (await self.entries(repo)).items() if not row["deleted"]}

    async def versions(self, path: str, repo: str = REPO) -> list[dict[str, Any]]:
        answer = await self.http.get("/team_memory/versions", params={"repo": repo, "path": path})
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()["versions"]
        return found

    async def redact(self, path: str, repo: str = REPO) -> httpx2.Response:
        return await self.http.delete("/team_memory/versions", params={"repo": repo, "path": path})


def fault(answer: httpx2.Response) -> tuple[int, str]:
    """The status and the code of a refusal."""
    return answer.status_code, answer.json()["error"]["code"]


MakeServed = Callable[..., Served]
