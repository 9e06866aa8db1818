"""basic-memory's full-text search (its default mode without an embedding model), on its own SQLite index.

Runs in an environment that has basic-memory; the first argument is a folder to work in.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

os.environ["BASIC_MEMORY_HOME"] = os.environ["HOME"] = sys.argv[1]
# Found as the script's own folder otherwise, which holds a file of the same name as the package.
sys.path = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).resolve().parent]

from basic_memory import db  # type: ignore[import-not-found]  # noqa: E402
from basic_memory.models import Base  # type: ignore[import-not-found]  # noqa: E402
from basic_memory.repository.search_index_row import SearchIndexRow  # type: ignore[import-not-found]  # noqa: E402
from basic_memory.repository.sqlite_search_repository import (  # type: ignore[import-not-found]  # noqa: E402
    SQLiteSearchRepository,
)


async def main() -> None:
    path = Path(sys.argv[1]) / "basic-memory.db"
    async with db.engine_session_factory(path, db.DatabaseType.FILESYSTEM) as (engine, sessions):
        async with engine.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)
        repository = SQLiteSearchRepository(sessions, project_id=1)
        await repository.init_search_index()
        documents = json.loads(sys.stdin.readline())
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
        for line in sys.stdin:
            hits = await repository.search(search_text=json.loads(line), limit=5, allow_relaxed=True)
            print(json.dumps([documents[hit.id - 1][0] for hit in hits]), flush=True)


asyncio.run(main())
