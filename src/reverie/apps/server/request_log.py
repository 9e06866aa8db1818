"""What is said of every request: one line of JSON in the log, and figures for Prometheus. Never content or tokens."""

from __future__ import annotations

import itertools
import re
import secrets
import time
import traceback
from collections.abc import Callable
from typing import Any

import msgspec
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class ServerMetrics:
    """The figures of one server process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "reverie_http_requests",
            "Requests by route and status",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "reverie_http_request_seconds", "Time to answer", ["route"], buckets=_SECONDS, registry=self.registry
        )
        self.active = Gauge("reverie_http_requests_active", "Requests being answered", registry=self.registry)
        self.entries_written = Counter("reverie_entries_written", "Entries stored or deleted", registry=self.registry)
        self.refusals = Counter("reverie_refusals", "Requests refused, by code", ["code"], registry=self.registry)
        self._by_labels: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request; the metrics of its labels are looked up once."""
        key = (method, route, status)
        if key not in self._by_labels:
            self._by_labels[key] = (self.requests.labels(method, route, str(status)), self.seconds.labels(route))
        requests, histogram = self._by_labels[key]
        requests.inc()
        histogram.observe(seconds)


class RequestLogger:
    """ASGI middleware around the whole application."""

    def __init__(
        self,
        app: ASGIApp,
        metrics: ServerMetrics,
        write_line: Callable[[bytes], object],
        routes: frozenset[str],
        read_seconds: Callable[[], float],
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._write_line = write_line
        self._routes = routes
        self._read_seconds = read_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        request_id = _request_id(scope)
        facts: dict[str, Any] = scope.setdefault("state", {})
        status, sent_bytes = 500, 0

        async def send_and_note(message: Message) -> None:
            nonlocal status, sent_bytes
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", request_id.encode())]
            else:
                sent_bytes += len(message.get("body", b""))
            await send(message)

        self._metrics.active.inc()
        try:
            await self._app(scope, receive, send_and_note)
        except Exception as problem:  # noqa: BLE001 - the answer was sent; what remains is to say where it failed
            facts["failure"] = describe_failure(problem)
        finally:
            self._metrics.active.dec()
        self._record(scope, facts, request_id, status, sent_bytes, time.perf_counter() - began)

    def _record(
        self, scope: Scope, facts: dict[str, Any], request_id: str, status: int, sent_bytes: int, seconds: float
    ) -> None:
        route = scope["path"] if scope["path"] in self._routes else "other"
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._metrics.count(method, route, status, seconds)
        if "code" in facts:
            self._metrics.refusals.labels(facts["code"]).inc()
        line = {
            "time": round(self._read_seconds(), 3),
            "request": request_id,
            "method": method,
            "route": route,
            "status": status,
            "milliseconds": round(seconds * 1000, 2),
            "sent_bytes": sent_bytes,
            **{key: facts[key] for key in _LOGGED if key in facts},
        }
        self._write_line(msgspec.json.encode(line) + b"\n")


_METHODS = frozenset({"GET", "HEAD", "PUT", "DELETE", "POST", "PATCH", "OPTIONS"})
_LOGGED = ("tenant", "token", "repo", "received_bytes", "entries", "version", "code", "failure")


def describe_failure(problem: BaseException) -> str:
    """Where an unexpected error was raised; its message may hold content and is left out."""
    frames = traceback.extract_tb(problem.__traceback__)
    place = f" at {frames[-1].name}:{frames[-1].lineno}" if frames else ""
    return f"{type(problem).__name__}{place}"


_PROCESS = secrets.token_hex(4)
_NUMBERS = itertools.count(1)


def _request_id(scope: Scope) -> str:
    """The caller's name for a request, or the next of this process."""
    for name, content in scope["headers"]:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(content):
            return str(content.decode())
    return f"{_PROCESS}{next(_NUMBERS):08x}"
