"""Starts the page on loopback and prints its address."""

from __future__ import annotations

import secrets
import socket
import webbrowser
from collections.abc import Callable

import uvicorn

from reverie.apps.inspect.app import build_app
from reverie.apps.inspect.page import Inspected
from reverie.errors import UserMistake


def run(inspected: Inspected, port: int, announce: Callable[[str], None], *, opens_browser: bool) -> None:
    """Serve until interrupted; the address has a token that works once."""
    listening = _listen(port)
    port = listening.getsockname()[1]
    token = secrets.token_urlsafe(24)
    url = f"http://127.0.0.1:{port}/?token={token}"
    app = build_app(inspected, port=port, token=token)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off", server_header=False))
    announce(url)
    if opens_browser:
        webbrowser.open(url)
    try:
        server.run(sockets=[listening])
    finally:
        inspected.close()


def _listen(port: int) -> socket.socket:
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except OSError as problem:
        listening.close()
        raise UserMistake(f"port {port} cannot be used ({problem.strerror}); choose another with --port") from problem
    return listening
