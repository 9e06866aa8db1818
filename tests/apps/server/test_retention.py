"""What `reverie serve prune` removes, and what stays."""

from __future__ import annotations

from pathlib import Path

from reverie.apps.server.database import open_database, sqlite_url
from reverie.apps.server.retention import prune
from reverie.apps.server.schema import audit, entries, jobs, revisions
from reverie.settings import Settings
from tests.apps.worker.kit import Fleet
from tests.requirements import requirement


@requirement("server:retention")
def test_old_rows_go_and_present_texts_stay(tmp_path: Path) -> None:
    database = open_database(sqlite_url(tmp_path))
    fleet = Fleet(database, tmp_path)
    fleet.push_duplicates()
    fleet.runner.run(fleet.spec())
    before = fleet.texts()
    server, now = Settings().server, int(fleet.time.timestamp())

    assert prune(database, server, now) == {"tombstones": 0, "versions": 0, "audit": 0, "jobs": 0}
    removed = prune(database, server, now + 401 * 86_400)

    assert removed["tombstones"] == 1
    assert removed["jobs"] == 1
    assert fleet.texts() == before
    with database.reading(0) as connection:
        rows = {
            table.name: len(connection.execute(table.select()).all()) for table in (entries, revisions, audit, jobs)
        }
    database.close()
    assert rows == {"entries": 2, "revisions": 2, "audit": 0, "jobs": 0}
