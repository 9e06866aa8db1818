"""A proxy on this machine that loses connections: a real network between a client and a server."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from urllib.parse import urlsplit

KINDS = ("never", "before", "answer", "middle")
"""Never; before the request reaches the server; after it acted, before its answer; in the middle of the answer."""


@dataclass
class CuttingProxy:
    """Passes connections on, until `choose_cut` says otherwise for one."""

    target: str
    choose_cut: Callable[[], str] = lambda: "never"
    url: str = ""
    cuts: int = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        cut = self.choose_cut()
        self.cuts += cut != "never"
        try:
            if cut == "before":
                return
            address = urlsplit(self.target)
            try:
                there = await asyncio.open_connection(address.hostname, address.port)
            except OSError:
                return  # the server is away: so are we
            try:
                tasks = (
                    asyncio.create_task(self._pass_on(reader, there[1])),
                    asyncio.create_task(self._pass_back(there[0], writer, cut)),
                )
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            finally:
                there[1].close()
        finally:
            writer.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(65_536):
            writer.write(piece)
            await writer.drain()

    async def _pass_back(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, cut: str) -> None:
        while piece := await reader.read(65_536):
            if cut == "answer":
                return
            writer.write(piece[: len(piece) // 2] if cut == "middle" else piece)
            await writer.drain()
            if cut == "middle":
                return


def cut_at_random(dice: random.Random, share: float) -> Callable[[], str]:
    """Cuts that share of all connections, each in one of the ways."""
    return lambda: dice.choice(KINDS[1:]) if dice.random() < share else "never"


@contextmanager
def running_proxy(target: str, choose_cut: Callable[[], str] = lambda: "never") -> Iterator[CuttingProxy]:
    """Pass on until the block ends."""
    proxy, ready, ends = CuttingProxy(target, choose_cut), Event(), list[Callable[[], object]]()

    async def serve() -> None:
        server = await asyncio.start_server(proxy.handle, "127.0.0.1", 0)
        proxy.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        loop, end = asyncio.get_running_loop(), asyncio.Event()
        ends.append(lambda: loop.call_soon_threadsafe(end.set))
        ready.set()
        async with server:
            await end.wait()

    thread = Thread(target=asyncio.run, args=(serve(),), name="proxy", daemon=True)
    thread.start()
    assert ready.wait(30)
    try:
        yield proxy
    finally:
        for end in ends:
            end()
        thread.join(30)
