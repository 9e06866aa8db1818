"""A team server in this process: the real application on a socket of this machine, with a SQLite database."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

from granian.constants import HTTPModes, Interfaces
from granian.server.embed import Server

from reverie.apps.server.accounts import revoke_token
from reverie.apps.server.app import AppOptions, create_app
from reverie.apps.server.database import ALL_TENANTS, ServerDatabase, open_database, sqlite_url
from reverie.apps.server.limits import Limits
from reverie.apps.server.run import find_port
from tests.apps.server.kit import Served

LIMITS = Limits(
    max_entries=1_000,
    max_file_bytes=128_000,
    max_repository_bytes=33_554_432,
    max_repositories=1_000,
    versions_kept=20,
    requests_per_minute=0,
    jobs_at_once=0,
    job_usd_per_day=0,
)


@dataclass
class TeamServer:
    """A running server. Each test takes a repository of its own."""

    database: ServerDatabase
    url: str
    requests: list[bytes] = field(default_factory=list)
    """Lines of its log."""
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def new_repo(self) -> str:
        return f"acme/app-{next(self._numbers)}"

    def token(self, member: str | None = None, *, scope: str = "write", repo: str | None = None) -> str:
        """A token of a tenant; one for a member makes a tenant of its own, in which the name is free."""
        served = Served(self.database, LIMITS)
        return served.token(scope, member=member, repo=repo)

    def revoke_all(self) -> None:
        with self.database.writing(ALL_TENANTS) as connection:
            from sqlalchemy import select

            from reverie.apps.server.schema import tokens

            for (token_id,) in connection.execute(select(tokens.c.id)).all():
                revoke_token(connection, token_id, 1)


@contextmanager
def running_server(folder: Path, limits: Limits = LIMITS) -> Iterator[TeamServer]:
    """Serve until the block ends."""
    database = open_database(sqlite_url(folder))
    port = find_port("127.0.0.1", 0)
    team_server = TeamServer(database, f"http://127.0.0.1:{port}")
    app = create_app(AppOptions(database, limits, 204_800, write_line=team_server.requests.append))
    ready, stops = Event(), list[object]()

    def run() -> None:
        async def serve() -> None:
            server = Server(
                app,
                address="127.0.0.1",
                port=port,
                interface=Interfaces.ASGINL,
                http=HTTPModes.http1,
                websockets=False,
                log_enabled=False,
            )
            loop = asyncio.get_running_loop()
            stops.append(lambda: loop.call_soon_threadsafe(server.stop))
            serving = asyncio.create_task(server.serve())
            while not serving.done():
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    await asyncio.sleep(0.005)
                else:
                    writer.close()
                    break
            ready.set()
            await serving

        asyncio.run(serve())

    thread = Thread(target=run, name="team server", daemon=True)
    thread.start()
    assert ready.wait(30)
    try:
        yield team_server
    finally:
        for stop in stops:
            assert callable(stop)
            stop()
        thread.join(30)
        database.close()
