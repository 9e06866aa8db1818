"""Streamable HTTP on loopback: one path, a token that every request must carry.

The SDK refuses foreign `Host` and `Origin` headers, so that no web page can reach the server through a browser.
"""

from __future__ import annotations

import hmac
import secrets
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import uvicorn

from reverie.apps.loopback import LOOPBACK
from reverie.apps.mcp.server import MemoryServer
from reverie.errors import UserMistake
from reverie.files.durable import translate_os_errors, write_atomic

PATH = "/mcp"
_TOKEN_BYTES = 32
_REFUSED = b'{"error": "missing or wrong token: send `Authorization: Bearer TOKEN`"}'

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]


def read_or_create_token(path: Path) -> str:
    """The token in a file; a new one is written for its owner alone where there is none."""
    with translate_os_errors("read", path):
        token = path.read_text(encoding="ascii", errors="replace").strip() if path.exists() else ""
    if path.exists() and not token:
        raise UserMistake(f"{path} is empty; delete it, and a new token is written")
    if not token:
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomic(path, f"{token}\n", mode=0o600)
    return token


def require_token(app: AsgiApp, token: str) -> AsgiApp:
    """The application, for requests that carry the token."""
    wanted = f"Bearer {token}".encode()

    async def check_then_serve(scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers") or ())
        if scope["type"] == "http" and not hmac.compare_digest(headers.get(b"authorization", b""), wanted):
            reply = [(b"content-type", b"application/json"), (b"www-authenticate", b"Bearer")]
            await send({"type": "http.response.start", "status": 401, "headers": reply})
            await send({"type": "http.response.body", "body": _REFUSED})
            return
        await app(scope, receive, send)

    return check_then_serve


def url_of(listener: socket.socket) -> str:
    """The address that clients are given."""
    return f"http://{LOOPBACK}:{listener.getsockname()[1]}{PATH}"


def create_app(server: MemoryServer, token: str) -> AsgiApp:
    """The server as an ASGI application."""
    return require_token(server.sdk.streamable_http_app(streamable_http_path=PATH, host=LOOPBACK), token)


def build_http_server(server: MemoryServer, token: str) -> uvicorn.Server:
    """What serves it; `serve(sockets=[listen(port)])` runs until interrupted."""
    config = uvicorn.Config(
        create_app(server, token),
        log_level="critical",
        access_log=False,
        lifespan="on",
        loop="asyncio",
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)
