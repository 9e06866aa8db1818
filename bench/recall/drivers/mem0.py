"""mem0 without a language model: texts are added as they are, found by the vectors of the model that we use too.

Runs in an environment that has mem0ai and langchain below 1; the first argument is a folder to work in. Its keyword
search needs a download at run time and stays off. Its vectors lie in qdrant's local files, a collection per case.
"""

from __future__ import annotations

import asyncio
import os
import sys

from bench.recall.drivers.protocol import LIMIT, Documents, Find, serve, vectors

os.environ |= {"HOME": sys.argv[1], "MEM0_DIR": sys.argv[1], "MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "none"}

from langchain.embeddings.base import Embeddings
from mem0 import Memory  # type: ignore[import-not-found]
from qdrant_client import QdrantClient  # type: ignore[import-not-found]

_DIMENSIONS = 384


class Given(Embeddings):
    """The vectors that came over the pipe."""

    def embed_query(self, text: str) -> list[float]:
        return vectors[text.strip()]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]


_CLIENT = QdrantClient(path=f"{sys.argv[1]}/qdrant")


async def start(case: int, documents: Documents) -> Find:
    if case:
        _CLIENT.delete_collection(f"case-{case - 1}")
    store = {"collection_name": f"case-{case}", "embedding_model_dims": _DIMENSIONS, "client": _CLIENT}
    memory = Memory.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": store},
            "embedder": {"provider": "langchain", "config": {"model": Given()}},
            "history_db_path": f"{sys.argv[1]}/{case}.db",
        }
    )
    for key, text in documents:
        memory.add([{"role": "user", "content": text}], user_id="someone", infer=False, metadata={"key": key})

    async def find(question: str) -> list[str]:
        found = memory.search(question, top_k=LIMIT, filters={"user_id": "someone"}, threshold=0.0)
        return [hit["metadata"]["key"] for hit in found["results"]]

    return find


asyncio.run(serve(start))
