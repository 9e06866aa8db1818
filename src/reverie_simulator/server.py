"""Run the simulator as a server: in the foreground for a person, or in a thread for a program."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

import uvicorn

from reverie.errors import Unavailable, UserMistake
from reverie_simulator.app import create_app
from reverie_simulator.simulation import Simulation

LOOPBACK = "127.0.0.1"
STOP_SECONDS_MAX = 10.0
_CLOSING_PASSES = 5


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises `UserMistake` when the address cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as problem:
        listener.close()
        raise UserMistake(
            f"The simulator cannot listen on {host}:{port}: {problem.strerror}. Choose another with --port; 0 takes a "
            "free one."
        ) from problem
    listener.listen(128)
    return listener


def url_of(listener: socket.socket) -> str:
    """The base URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run_until_interrupted(simulation: Simulation, listener: socket.socket, ready: Callable[[str], None]) -> None:
    """Serve in this thread; `ready` is told the URL once requests are taken. Ctrl-C raises `KeyboardInterrupt`."""
    simulation.provider.counter.warm()
    ready(url_of(listener))
    _serve(_server(simulation), listener)


class BackgroundServer:
    """The simulator in a thread of this process: `with BackgroundServer(simulation) as server: server.url`."""

    def __init__(self, simulation: Simulation, *, host: str = LOOPBACK, port: int = 0) -> None:
        self.simulation = simulation
        self._listener = listen(host, port)
        self.url = url_of(self._listener)
        self._loop = asyncio.new_event_loop()
        self._stopped = asyncio.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        # The socket listens already: a request that comes before the thread is ready waits in its queue.
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(STOP_SECONDS_MAX)
        self._listener.close()
        if self._thread.is_alive():
            raise Unavailable("The simulator did not stop.")

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve_until_stopped())

    async def _serve_until_stopped(self) -> None:
        # uvicorn's own loop looks ten times a second whether it is to stop; tests that start many servers feel that.
        server = _server(self.simulation)
        server.config.load()
        server.lifespan = server.config.lifespan_class(server.config)
        await server.startup(sockets=[self._listener])
        await self._stopped.wait()
        server.force_exit = True
        await server.shutdown(sockets=[self._listener])
        # A connection with a response under way would outlive its loop as an unclosed socket.
        # One that was accepted last appears a moment later.
        for _ in range(_CLOSING_PASSES):
            for connection in list(server.server_state.connections):
                connection.transport.abort()
            await asyncio.sleep(0)


def _server(simulation: Simulation) -> uvicorn.Server:
    config = uvicorn.Config(
        create_app(simulation),
        log_level="critical",
        access_log=False,
        lifespan="off",
        loop="asyncio",
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)


def _serve(server: uvicorn.Server, listener: socket.socket) -> None:
    asyncio.run(server.serve(sockets=[listener]))
