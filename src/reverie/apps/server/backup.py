"""Copies of a server's data: a backup of everything, and an export of one repository as Markdown files.

A backup is compressed JSON, one row a line, and fits both databases: a server that began on SQLite moves to
PostgreSQL by `backup` and `restore`. It holds every text and the hashes of tokens, so it is written for this user only.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, func, insert, select, text

from reverie.apps.server.database import ALL_TENANTS, ServerDatabase
from reverie.apps.server.entries import new_epoch, read_entries, read_state
from reverie.apps.server.schema import metadata, repos
from reverie.errors import Conflict, Damaged, UserMistake
from reverie.files import safe_join, write_atomic

FORMAT = "reverie-server-backup"
FORMAT_VERSION = 1
_ROWS_AT_ONCE = 500


def write_backup(database: ServerDatabase, file: Path) -> dict[str, int]:
    """Write all rows as they are at one moment; returns how many of each table. Servers may go on writing."""
    counts: dict[str, int] = {}
    partial = file.with_name(file.name + ".partial")
    partial.touch(mode=0o600)
    try:
        with gzip.open(partial, "wt", encoding="utf-8") as out, database.snapshot(ALL_TENANTS) as connection:
            out.write(json.dumps({"format": FORMAT, "version": FORMAT_VERSION}) + "\n")
            for table in metadata.sorted_tables:
                counts[table.name] = 0
                for row in connection.execution_options(yield_per=_ROWS_AT_ONCE).execute(select(table)).mappings():
                    out.write(json.dumps([table.name, dict(row)], ensure_ascii=False) + "\n")
                    counts[table.name] += 1
            out.write(json.dumps({"end": counts}) + "\n")
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)
    return counts


def restore_backup(database: ServerDatabase, file: Path) -> dict[str, int]:
    """Fill an empty database from a backup, in one transaction; returns how many rows of each table.

    Every repository gets a new epoch: clients that saw a later state pull everything and merge.
    """
    tables = {table.name: table for table in metadata.sorted_tables}
    with database.writing(ALL_TENANTS) as connection:
        for table in tables.values():
            if connection.execute(select(func.count()).select_from(table)).scalar():
                raise Conflict(f"the database is not empty ({table.name}); restore into a new one")
        counts = _insert_rows(connection, tables, file)
        for (repo_id,) in connection.execute(select(repos.c.id)).all():
            connection.execute(repos.update().where(repos.c.id == repo_id).values(epoch=new_epoch()))
        if database.is_postgresql:
            _continue_sequences(connection, tables)
    return counts


def export_repository(database: ServerDatabase, tenant_id: int, repo: str, directory: Path) -> list[str]:
    """Write the live entries of a repository as files; returns their paths."""
    if directory.exists() and any(directory.iterdir()):
        raise UserMistake(f"{directory} is not empty; choose an empty or new directory")
    with database.snapshot(tenant_id) as connection:
        state = read_state(connection, tenant_id, repo)
        if not state.version:
            raise UserMistake(f"no repository {repo!r} in this tenant")
        entries = read_entries(connection, state)
    directory.mkdir(parents=True, exist_ok=True)
    live = {path: entry for path, entry in entries.items() if not entry["deleted"]}
    for path, entry in live.items():
        write_atomic(safe_join(directory, path), entry["text"])
    return sorted(live)


def _insert_rows(connection: Connection, tables: dict[str, Table], file: Path) -> dict[str, int]:
    counts = dict.fromkeys(tables, 0)
    waiting: list[dict[str, Any]] = []
    table = ""
    for name, row in _read_rows(file, tables, counts):
        if waiting and (name != table or len(waiting) >= _ROWS_AT_ONCE):
            connection.execute(insert(tables[table]), waiting)
            waiting = []
        table = name
        waiting.append(row)
        counts[name] += 1
    if waiting:
        connection.execute(insert(tables[table]), waiting)
    return counts


def _read_rows(file: Path, tables: dict[str, Table], counts: dict[str, int]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a backup, parents first; a file that was cut is refused at its end."""
    number, is_complete = 0, False
    try:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                document = json.loads(line)
                if number == 1:
                    if document != {"format": FORMAT, "version": FORMAT_VERSION}:
                        raise ValueError("not a backup of this version")
                elif isinstance(document, dict):
                    is_complete = _without_empty(document["end"]) == _without_empty(counts)
                else:
                    name, row = document
                    if name not in tables:
                        raise ValueError(f"unknown table {name!r}")
                    yield name, row
    except (OSError, EOFError, ValueError, KeyError, TypeError) as problem:
        if isinstance(problem, FileNotFoundError):
            raise UserMistake(f"{file} does not exist") from problem
        raise Damaged(f"{file}, line {number}: {problem}", path=file, line=number) from problem
    if not is_complete:
        raise Damaged(f"{file} ends early; nothing was restored", path=file, line=number)


def _without_empty(counts: dict[str, int]) -> dict[str, int]:
    """The tables with rows: a backup of an earlier release does not know the later ones."""
    return {name: count for name, count in counts.items() if count}


def _continue_sequences(connection: Connection, tables: dict[str, Table]) -> None:
    """Let PostgreSQL number new rows after those that were restored with their ids."""
    for table in tables.values():
        if "id" in table.c:
            connection.execute(
                text(
                    f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), "  # noqa: S608 - our own names
                    f"(SELECT COALESCE(MAX(id), 1) FROM {table.name}))"
                )
            )
