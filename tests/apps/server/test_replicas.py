"""Whole servers on one database, killed and restarted while clients write: no acknowledged write is lost."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import pytest

from reverie.apps.server.database import open_database
from tests.apps.server.kit import Client, Served, entry, sha
from tests.apps.server.replica import Replica
from tests.postgresql import create_database, start_cluster
from tests.requirements import requirement

pytestmark = [pytest.mark.server, pytest.mark.timeout(600)]


@dataclass
class Fleet:
    """Servers on one database."""

    database_url: str
    home: Path
    replicas: list[Replica] = field(default_factory=list)
    clients: list[Client] = field(default_factory=list)

    def start(self, count: int) -> None:
        """Start servers, and a client for each."""
        self.replicas = [Replica(self.database_url, self.home) for _ in range(count)]
        for replica in self.replicas:
            replica.start()
        database = open_database(self.database_url)
        token = Served(database).token("write")
        database.close()
        headers = {"authorization": f"Bearer {token}"}
        self.clients = [
            Client(httpx2.AsyncClient(base_url=replica.url, headers=headers, timeout=30)) for replica in self.replicas
        ]

    async def stop(self) -> None:
        for client in self.clients:
            await client.http.aclose()
        for replica in self.replicas:
            replica.stop()


@pytest.fixture
async def fleet(database_url: str, tmp_path: Path) -> AsyncIterator[Fleet]:
    started = Fleet(database_url, tmp_path)
    yield started
    await started.stop()


@requirement("server:replicas")
async def test_two_servers_accept_one_writer_at_each_version(fleet: Fleet) -> None:
    fleet.start(2)
    clients = fleet.clients
    await clients[0].push({"a.md": entry("0")})

    for round_number in range(1, 15):
        base = sha(str(round_number - 1))
        texts = [str(round_number), f"{round_number} other"]
        answers = await asyncio.gather(
            *(
                client.push(
                    {"a.md": entry(text, base_sha256=base), f"{text}.md": entry("x", base_sha256="")}, etag=None
                )
                for client, text in zip(clients, texts, strict=True)
            )
        )
        assert sorted(answer.status_code for answer in answers) == [200, 412]
        pulled = [await client.pull() for client in clients]
        assert pulled[0].content == pulled[1].content
        assert (await clients[1].pull(etag=pulled[0].headers["etag"])).status_code == 304
        # Whoever won, the next round begins from the same text.
        etag = pulled[0].headers["etag"]
        await clients[1].push({"a.md": entry(str(round_number))}, etag=etag)


@dataclass
class Writer:
    """Counts one entry up, through whichever server answers; remembers what was acknowledged."""

    name: str
    clients: list[Client]
    dice: random.Random
    acknowledged: int = 0
    sent: int = 0

    async def write(self, until: asyncio.Event) -> None:
        while not until.is_set():
            await self._write_next()

    async def _write_next(self) -> None:
        text = f"{self.name} {self.sent + 1}"
        base = sha(f"{self.name} {self.sent}") if self.sent else ""
        batch = {
            f"{self.name}.md": entry(text, base_sha256=base),
            f"{self.name}-twin.md": entry(text, base_sha256=base),
        }
        client = self.dice.choice(self.clients)
        try:
            answer = await client.push(batch, etag=None)
        except httpx2.TransportError:
            await asyncio.sleep(0.02)
            return  # unknown whether it was stored: the same batch is sent again
        if answer.status_code == 503:
            await asyncio.sleep(0.05)
            return
        assert answer.status_code == 200, answer.text
        self.sent += 1
        self.acknowledged = self.sent


@requirement("server:killed", "server:replicas")
async def test_servers_killed_in_the_middle_of_batches_lose_nothing(fleet: Fleet, thorough: bool) -> None:
    fleet.start(2)
    dice, clients = random.Random(5), fleet.clients
    writers = [Writer(f"writer{number}", clients, random.Random(number)) for number in range(6)]
    until = asyncio.Event()
    work = [asyncio.create_task(writer.write(until)) for writer in writers]

    for _ in range(40 if thorough else 6):
        await asyncio.sleep(dice.uniform(0.2, 0.6))
        replica = dice.choice(fleet.replicas)
        await asyncio.to_thread(replica.kill)
        await asyncio.to_thread(replica.start)
    until.set()
    await asyncio.gather(*work)

    texts = await clients[0].texts()
    assert sum(writer.acknowledged for writer in writers) > 50
    for writer in writers:
        stored = int(texts[f"{writer.name}.md"].split()[1])
        assert stored in (writer.acknowledged, writer.acknowledged + 1)
        assert texts[f"{writer.name}-twin.md"] == texts[f"{writer.name}.md"], "half of a batch was stored"


@requirement("server:unavailable", "server:killed")
async def test_a_database_killed_and_restarted_loses_nothing(tmp_path: Path) -> None:
    if "REVERIE_TEST_DATABASE" in os.environ:
        pytest.skip("the named PostgreSQL is not ours to kill")
    cluster = start_cluster(tmp_path / "cluster")
    fleet = Fleet(create_database(cluster.get_uri()), tmp_path)
    fleet.start(1)
    clients = fleet.clients
    writers = [Writer(f"writer{number}", clients, random.Random(number)) for number in range(3)]
    until = asyncio.Event()
    work = [asyncio.create_task(writer.write(until)) for writer in writers]
    try:
        for _ in range(2):
            await asyncio.sleep(1)
            os.kill(cluster.get_pid(), signal.SIGQUIT)  # immediate shutdown: as after a power cut
            await _wait_for_health(clients[0], 503)
            await asyncio.sleep(0.5)
            await asyncio.to_thread(cluster.ensure_postgres_running)
            await _wait_for_health(clients[0], 200)
        await asyncio.sleep(1)
        until.set()
        await asyncio.gather(*work)
        texts = await clients[0].texts()
    finally:
        await fleet.stop()
        cluster.cleanup()

    for writer in writers:
        stored = int(texts[f"{writer.name}.md"].split()[1])
        assert writer.acknowledged > 5
        assert stored in (writer.acknowledged, writer.acknowledged + 1)


async def _wait_for_health(client: Client, status: int) -> None:
    async with asyncio.timeout(30):
        while (await client.http.get("/healthz")).status_code != status:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)
