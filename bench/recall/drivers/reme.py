"""ReMe's keyword index (BM25 with its own tokenizer), the part of ReMe that searches without an embedding service.

Runs in an environment that has reme-ai; the first argument is a folder to work in.
"""

from __future__ import annotations

import asyncio
import os
import sys

from bench.recall.drivers.protocol import LIMIT, Documents, Find, serve

os.chdir(sys.argv[1])

from reme.components.keyword_index.bm25_index import BM25Index  # type: ignore[import-not-found]  # noqa: E402
from reme.components.tokenizer import RegexTokenizer  # type: ignore[import-not-found]  # noqa: E402


async def start(_: int, documents: Documents) -> Find:
    tokenizer = RegexTokenizer()
    await tokenizer.start()
    index = BM25Index()
    index.tokenizer = tokenizer
    await index.add_docs(dict(documents))

    async def find(question: str) -> list[str]:
        return list(await index.retrieve(question, limit=LIMIT))

    return find


asyncio.run(serve(start))
