"""basic-memory's full-text search (its default mode without an embedding model), on its own SQLite index.

Runs in an environment that has basic-memory; the first argument is a folder to work in. Every case has a database of
its own, since in a shared one the words of all cases would decide how telling a word is.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

from bench.recall.drivers.protocol import LIMIT, Documents, Find, serve

os.environ["BASIC_MEMORY_HOME"] = os.environ["HOME"] = sys.argv[1]

from basic_memory import db  # type: ignore[import-not-found]
from basic_memory.models import Base  # type: ignore[import-not-found]
from basic_memory.repository.search_index_row import SearchIndexRow  # type: ignore[import-not-found]
from basic_memory.repository.sqlite_search_repository import (  # type: ignore[import-not-found]
    SQLiteSearchRepository,
)

_open = AsyncExitStack()


async def start(case: int, documents: Documents) -> Find:
    path = Path(sys.argv[1]) / f"{case}.db"
    await _open.aclose()
    opened = db.engine_session_factory(path, db.DatabaseType.FILESYSTEM)
    engine, sessions = await _open.enter_async_context(opened)
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    repository = SQLiteSearchRepository(sessions, project_id=1)
    await repository.init_search_index()
    now = datetime.now(UTC)
    rows = [
        SearchIndexRow(
            project_id=1,
            id=number,
            type="entity",
            file_path=f"{number}.md",
            created_at=now,
            updated_at=now,
            permalink=f"note-{number}",
            title=f"note {number}",
            content_stems=text,
            content_snippet=text,
            entity_id=number,
        )
        for number, (_, text) in enumerate(documents, start=1)
    ]
    await repository.bulk_index_items(rows)

    async def find(question: str) -> list[str]:
        hits = await repository.search(search_text=question, limit=LIMIT, allow_relaxed=True)
        return [documents[hit.id - 1][0] for hit in hits]

    return find


asyncio.run(serve(start))
