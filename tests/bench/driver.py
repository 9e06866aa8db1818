"""A peer for the test of `bench.recall.peers`: it answers with its process, the number of the case and documents."""

from __future__ import annotations

import asyncio
import os

from bench.recall.drivers.protocol import Documents, Find, serve, vectors


async def start(case: int, documents: Documents) -> Find:
    print("what a peer says of itself is no answer")

    async def find(question: str) -> list[str]:
        return [str(os.getpid()), str(case), *(key for key, text in documents if vectors[text] == vectors[question])]

    return find


if __name__ == "__main__":
    asyncio.run(serve(start))
