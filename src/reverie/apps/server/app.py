"""The ASGI application: routes, authentication, limits of a request, and what each answers.

It keeps no state but connections, rate limits and figures, so any number of processes can serve one database.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from reverie import __version__
from reverie.apps.server.accounts import (
    TOKEN_PREFIX,
    Principal,
    hash_token,
    normalise_repo,
    read_member,
    read_principals,
)
from reverie.apps.server.batch import parse_batch
from reverie.apps.server.database import ALL_TENANTS, POOL_CONNECTIONS, ServerDatabase
from reverie.apps.server.entries import (
    RepoState,
    is_same_etag,
    read_entries,
    read_revisions,
    read_state,
    redact_revisions,
    write_batch,
)
from reverie.apps.server.faults import RequestFault
from reverie.apps.server.identity_provider import IdentityProvider
from reverie.apps.server.limits import Limits
from reverie.apps.server.lookup import BatchedLookup
from reverie.apps.server.openapi import build_document
from reverie.apps.server.rate_limit import RateLimit
from reverie.apps.server.request_log import RequestLogger, ServerMetrics, describe_failure
from reverie.errors import Unavailable
from reverie.values import value

Result = TypeVar("Result")

_PULL_PATH = "/team_memory"
_OUTCOME = "authorised"
"""Where what was found out about a request waits for its endpoint, an error included."""
_RETRY_SECONDS = 2
_STDERR = 2
_PARAMETERS_MAX = 20
_DIGITS_MAX = 18
_CACHED_QUERY_BYTES = 300


@value
class AppOptions:
    """What an application is built from."""

    database: ServerDatabase
    limits: Limits
    max_body_bytes: int
    provider: IdentityProvider | None = None
    read_seconds: Callable[[], float] = time.time  # noqa: TID251 - tests pass another
    write_line: Callable[[bytes], object] | None = None
    """Takes lines of the log; None writes to standard error."""


def create_app(options: AppOptions) -> ASGIApp:
    """The application, with its log around it."""
    server = _TeamServer(options)
    routes = {
        _PULL_PATH: {"GET": server.pull, "PUT": server.push},
        "/team_memory/versions": {"GET": server.list_versions, "DELETE": server.redact_versions},
        "/whoami": {"GET": server.whoami},
        "/healthz": {"GET": server.check_health},
        "/metrics": {"GET": server.show_metrics},
        "/openapi.json": {"GET": server.show_openapi},
    }
    app = Starlette(
        routes=[
            Route(path, _Endpoint(by_method).answer, methods=list(by_method)) for path, by_method in routes.items()
        ],
        exception_handlers={
            RequestFault: _answer_fault,
            HTTPException: _answer_http_exception,
            ClientDisconnect: _answer_disconnect,
            DBAPIError: _answer_database_error,
            PoolTimeout: _answer_database_error,
            Unavailable: _answer_database_error,
            Exception: _answer_failure,
        },
    )
    write_line = options.write_line or _write_to_stderr
    return RequestLogger(
        _UnchangedPulls(app, server), server.metrics, write_line, frozenset(routes), options.read_seconds
    )


class _Endpoint:
    """The functions of one path, by method."""

    def __init__(self, by_method: Mapping[str, Callable[[Request], Awaitable[Response]]]) -> None:
        self._by_method = by_method

    async def answer(self, request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        return await self._by_method[method](request)


class _UnchangedPulls:
    """Answers pulls that find nothing new, which most are, before routes and middleware cost three times as much.

    Every other pull goes on with what was found out about it, an error included.
    """

    def __init__(self, app: ASGIApp, server: _TeamServer) -> None:
        self._app = app
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_pull = scope["type"] == "http" and scope["method"] == "GET" and scope["path"] == _PULL_PATH
        etag = _find_header(scope, b"if-none-match") if is_pull else None
        if etag is not None:
            try:
                outcome = await self._server.authorise(scope, "read")
            except Exception as problem:  # noqa: BLE001 - raised again where errors are answered
                scope["state"][_OUTCOME] = problem
            else:
                state = outcome[2]
                if is_same_etag(etag, state.etag):
                    headers = [(name.encode(), content.encode()) for name, content in _headers(state).items()]
                    await send({"type": "http.response.start", "status": 304, "headers": headers})
                    await send({"type": "http.response.body", "body": b""})
                    return
                scope["state"][_OUTCOME] = outcome
        await self._app(scope, receive, send)


class _TeamServer:
    """Answers the requests of one process."""

    def __init__(self, options: AppOptions) -> None:
        self.metrics = ServerMetrics()
        self._options = options
        self._database = options.database
        self._executor = ThreadPoolExecutor(POOL_CONNECTIONS, thread_name_prefix="database")
        self._lookup = BatchedLookup(self._read_principals, self._executor)
        self._rates = RateLimit()
        self._openapi = msgspec.json.encode(build_document(options.max_body_bytes))

    async def pull(self, request: Request) -> Response:
        """All entries of a repository, or those that changed since an ETag; 304 when nothing did."""
        principal, repo, state = await self.authorise(request.scope, "read")
        if is_same_etag(request.headers.get("if-none-match"), state.etag):
            return Response(status_code=304, headers=_headers(state))
        view = _parameters(request.scope).get("view", "full")
        if view not in ("full", "hashes"):
            raise RequestFault(400, "malformed", "view is neither full nor hashes")
        since = _parameters(request.scope).get("since")

        def read() -> tuple[RepoState, int, dict[str, Any]]:
            with self._database.snapshot(principal.tenant_id) as connection:
                state = read_state(connection, principal.tenant_id, repo)
                first = _parse_since(since, state)
                return state, first, read_entries(connection, state, since=first, has_text=view == "full")

        state, first, entries = await self._run(read)
        document = {"version": state.version, "since": first, "entries": entries}
        request.scope["state"].update(entries=len(entries), version=state.version)
        return _json(document, headers=_headers(state))

    async def push(self, request: Request) -> Response:
        """Store a batch of entries, all of them or none."""
        principal, repo, _ = await self.authorise(request.scope, "write")
        body = await self._read_body(request)
        now = int(self._options.read_seconds())
        if_match = request.headers.get("if-match")

        def write() -> tuple[RepoState, tuple[str, ...]]:
            batch = parse_batch(body, principal.limits)
            with self._database.writing(principal.tenant_id) as connection:
                result = write_batch(connection, principal, repo, batch, if_match=if_match, now=now)
            return result.state, result.changed

        state, changed = await self._run(write)
        self.metrics.entries_written.inc(len(changed))
        request.scope["state"].update(entries=len(changed), version=state.version)
        return _json({"version": state.version, "changed": changed}, headers=_headers(state))

    async def list_versions(self, request: Request) -> Response:
        """The kept texts of one entry."""
        principal, repo, _ = await self.authorise(request.scope, "read")
        path = _path_parameter(request)

        def read() -> list[dict[str, Any]]:
            with self._database.reading(principal.tenant_id) as connection:
                return read_revisions(connection, read_state(connection, principal.tenant_id, repo), path)

        return _json({"path": path, "versions": await self._run(read)})

    async def redact_versions(self, request: Request) -> Response:
        """Remove earlier texts of one entry; of a deleted entry, all."""
        principal, repo, _ = await self.authorise(request.scope, "write")
        path = _path_parameter(request)
        now = int(self._options.read_seconds())

        def redact() -> int:
            with self._database.writing(principal.tenant_id) as connection:
                return redact_revisions(connection, principal, repo, path, now=now)

        return _json({"path": path, "redacted": await self._run(redact)})

    async def whoami(self, request: Request) -> Response:
        """What the token of the request may do."""
        principal = (await self._identify(request.scope, ""))[0]
        return _json(
            {
                "tenant": principal.tenant,
                "member": principal.member,
                "scope": principal.scope,
                "repo": principal.repo,
                "limits": {
                    **{name: getattr(principal.limits, name) for name in principal.limits.__slots__},  # type: ignore[attr-defined]
                    "max_body_bytes": self._options.max_body_bytes,
                },
            }
        )

    async def check_health(self, request: Request) -> Response:  # noqa: ARG002
        """Whether this process reaches its database."""

        def ask() -> None:
            with self._database.engine.connect() as connection:
                connection.execute(text("SELECT 1"))

        await self._run(ask)
        return _json({"status": "ok", "version": __version__, "database": self._database.engine.dialect.name})

    async def show_metrics(self, request: Request) -> Response:  # noqa: ARG002
        """ServerMetrics for Prometheus."""
        return Response(generate_latest(self.metrics.registry), media_type=CONTENT_TYPE_LATEST)

    async def show_openapi(self, request: Request) -> Response:  # noqa: ARG002
        """The description of this API."""
        return Response(self._openapi, media_type="application/json")

    async def authorise(self, scope: Scope, needed: str) -> tuple[Principal, str, RepoState]:
        """Who asks, for which repository, and its state; raises what the request may not do."""
        facts = scope["state"]
        outcome: tuple[Principal, str, RepoState] | Exception | None = facts.pop(_OUTCOME, None)
        if isinstance(outcome, Exception):
            raise outcome
        if outcome is not None:
            return outcome
        repo = normalise_repo(_parameters(scope).get("repo", ""))
        principal, state = await self._identify(scope, repo or "")
        if repo is None:
            raise RequestFault(400, "malformed", "repo is missing or not the name of a repository, such as owner/name")
        if principal.repo is not None and principal.repo != repo:
            raise RequestFault(403, "forbidden", f"this token is not for the repository {repo}")
        if not principal.has_scope(needed):
            message = f"this token has the scope {principal.scope}; {needed} is required"
            raise RequestFault(403, "forbidden", message)
        facts["repo"] = repo
        return principal, repo, state

    async def _identify(self, scope: Scope, repo: str) -> tuple[Principal, RepoState]:
        kind, _, token = (_find_header(scope, b"authorization") or "").partition(" ")
        token = token.strip()
        if kind.lower() != "bearer" or not token:
            raise _unauthorised("send a token: Authorization: Bearer TOKEN")
        if token.startswith(TOKEN_PREFIX):
            principal, state = await self._identify_by_token(token, repo)
        else:
            principal, state = await self._identify_by_provider(token, repo)
        facts = scope["state"]
        facts["tenant"], facts["token"] = principal.tenant, principal.token_id
        wait = self._rates.take(principal.token_id, principal.limits.requests_per_minute, time.monotonic())
        if wait:
            message = f"more than {principal.limits.requests_per_minute} requests per minute with this token"
            raise RequestFault(429, "rate_limited", message, headers={"retry-after": str(int(wait) + 1)})
        return principal, state

    async def _identify_by_token(self, token: str, repo: str) -> tuple[Principal, RepoState]:
        answer = await self._lookup.load((hash_token(token), repo))
        if answer is None:
            raise _unauthorised("this token is not known")
        principal, row = answer
        if principal.revoked_at is not None:
            raise _unauthorised("this token was revoked")
        if principal.expires_at is not None and principal.expires_at <= self._options.read_seconds():
            raise _unauthorised("this token has expired")
        return principal, RepoState() if row is None else RepoState(*row)

    async def _identify_by_provider(self, token: str, repo: str) -> tuple[Principal, RepoState]:
        provider = self._options.provider
        if provider is None or token.count(".") != 2:
            raise _unauthorised("this token is not known")

        def read() -> tuple[Principal | None, RepoState]:
            subject = provider.read_subject(token)
            if subject is None:
                raise _unauthorised("this token is not valid: signature, issuer, audience or lifetime")
            with self._database.reading(ALL_TENANTS) as connection:
                principal = read_member(connection, subject, self._options.limits)
                if principal is None:
                    return None, RepoState()
                return principal, read_state(connection, principal.tenant_id, repo)

        principal, state = await self._run(read)
        if principal is None:
            raise RequestFault(403, "forbidden", "you are not a member; an administrator adds you with your subject")
        return principal, state

    def _read_principals(
        self, wanted: Sequence[tuple[str, str]]
    ) -> Mapping[tuple[str, str], tuple[Principal, tuple[int, str, int] | None]]:
        return read_principals(self._database.look_up, wanted, self._options.limits)

    async def _read_body(self, request: Request) -> bytes:
        """The body, unless it is too large: one that says so in its headers is not read at all."""
        limit = self._options.max_body_bytes
        message = f"the body is larger than {limit} bytes; send smaller batches"
        too_large = RequestFault(413, "body_too_large", message, headers={"connection": "close"}, limit=limit)
        length = request.headers.get("content-length", "0")
        if not _is_number(length) or int(length) > limit:
            raise too_large
        if request.headers.get("content-encoding", "identity").lower() != "identity":
            raise RequestFault(415, "encoding", "send the body without Content-Encoding")
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > limit:
                raise too_large
        request.scope["state"]["received_bytes"] = len(body)
        return bytes(body)

    async def _run(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)


@lru_cache(10_000)
def _parse_query(query: bytes) -> Mapping[str, str]:
    """The parameters of a request; the same few come thousands of times."""
    return dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=_PARAMETERS_MAX))


def _find_header(scope: Scope, wanted: bytes) -> str | None:
    """The first header of a name, which is in lower case."""
    for name, content in scope["headers"]:
        if name == wanted:
            text: str = content.decode("latin-1")
            return text
    return None


def _parameters(scope: Scope) -> Mapping[str, str]:
    query: bytes = scope["query_string"]
    try:
        return _parse_query(query) if len(query) <= _CACHED_QUERY_BYTES else _parse_query.__wrapped__(query)
    except ValueError as problem:
        raise RequestFault(400, "malformed", f"the query has more than {_PARAMETERS_MAX} parameters") from problem


def _path_parameter(request: Request) -> str:
    path = _parameters(request.scope).get("path")
    if not path or "\0" in path:
        raise RequestFault(400, "malformed", "path is missing or not a path")
    return path


def _parse_since(since: str | None, state: RepoState) -> int:
    """The version after which entries are wanted; 0 for all, also when `since` is of another life of the repository."""
    if since is None:
        return 0
    epoch, _, version = since.strip('"').rpartition(".")
    if epoch != state.epoch or not _is_number(version) or int(version) > state.version:
        return 0
    return int(version)


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) <= _DIGITS_MAX


def _unauthorised(message: str) -> RequestFault:
    return RequestFault(401, "unauthorised", message, headers={"www-authenticate": "Bearer"})


def _headers(state: RepoState) -> dict[str, str]:
    return {"etag": state.etag, "cache-control": "private, no-cache"}


def _json(document: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(document), status, headers, media_type="application/json")


def _answer(request: Request, fault: RequestFault) -> Response:
    request.scope.setdefault("state", {})["code"] = fault.code
    return _json(fault.document, status=fault.status, headers=fault.headers)


async def _answer_fault(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, RequestFault)
    return _answer(request, problem)


async def _answer_http_exception(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    headers = dict(problem.headers or {})
    return _answer(request, RequestFault(problem.status_code, "http", problem.detail, headers=headers))


async def _answer_disconnect(request: Request, problem: Exception) -> Response:  # noqa: ARG001
    return _answer(request, RequestFault(400, "disconnected", "the body ended early"))


async def _answer_database_error(request: Request, problem: Exception) -> Response:
    request.scope.setdefault("state", {})["failure"] = describe_failure(problem)
    message = "the database or the identity provider cannot be reached; send the request again later"
    headers = {"retry-after": str(_RETRY_SECONDS)}
    return _answer(request, RequestFault(503, "unavailable", message, headers=headers))


async def _answer_failure(request: Request, problem: Exception) -> Response:  # noqa: ARG001
    return _answer(request, RequestFault(500, "internal", "the server failed; its log names the request"))


def _write_to_stderr(line: bytes) -> None:
    os.write(_STDERR, line)
