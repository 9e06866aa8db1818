"""Runs the application on granian, in this process, until interrupted."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from collections.abc import Callable

from granian.constants import HTTPModes, Interfaces
from granian.server.embed import Server
from starlette.types import ASGIApp

from reverie.errors import UserMistake

_BACKLOG = 1024
_SWITCH_SECONDS = 0.001
"""How long a thread of the database waits for a busy event loop; Python's own 5 ms would be most of an answer."""


def find_port(host: str, port: int) -> int:
    """The port to listen on; 0 takes a free one. Raises `UserMistake` when the address cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as problem:
            raise UserMistake(
                f"the server cannot listen on {host}:{port}: {problem.strerror}; choose another with --port, 0 takes a "
                "free one"
            ) from problem
        number: int = probe.getsockname()[1]
        return number


def url_of(host: str, port: int) -> str:
    """The base URL of an address."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(app: ASGIApp, host: str, port: int, ready: Callable[[str], None]) -> bool:
    """Serve until SIGINT or SIGTERM; requests under way are answered first. Returns whether it was SIGINT."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    return asyncio.run(_serve(app, host, port, ready))


async def _serve(app: ASGIApp, host: str, port: int, ready: Callable[[str], None]) -> bool:
    server = Server(
        app,
        address=host,
        port=port,
        interface=Interfaces.ASGINL,
        http=HTTPModes.auto,
        websockets=False,
        backlog=_BACKLOG,
        log_enabled=False,
    )
    interrupted = asyncio.Event()
    stop: Callable[[], None] = server.stop

    def interrupt() -> None:
        interrupted.set()
        stop()

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, interrupt)
    loop.add_signal_handler(signal.SIGTERM, stop)
    serving = asyncio.create_task(server.serve())
    await _wait_until_listening(host, port, serving)
    ready(url_of(host, port))
    await serving
    return interrupted.is_set()


async def _wait_until_listening(host: str, port: int, serving: asyncio.Task[None]) -> None:
    while not serving.done():
        try:
            _, writer = await asyncio.open_connection(host, port)
        except OSError:
            await asyncio.sleep(0.01)
        else:
            writer.close()
            return
