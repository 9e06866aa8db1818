"""Starts the page on loopback and prints its address."""

from __future__ import annotations

import secrets
import webbrowser
from collections.abc import Callable

import uvicorn

from reverie.apps.inspect.app import build_app
from reverie.apps.inspect.page import Inspected
from reverie.apps.loopback import LOOPBACK, listen


def run(inspected: Inspected, port: int, announce: Callable[[str], None], *, opens_browser: bool) -> None:
    """Serve until interrupted; the address has a token that works once."""
    listening = listen(port)
    port = listening.getsockname()[1]
    token = secrets.token_urlsafe(24)
    url = f"http://{LOOPBACK}:{port}/?token={token}"
    app = build_app(inspected, port=port, token=token)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off", server_header=False))
    announce(url)
    if opens_browser:
        webbrowser.open(url)
    try:
        server.run(sockets=[listening])
    finally:
        inspected.close()
