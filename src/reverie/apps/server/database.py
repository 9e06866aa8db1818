"""The database of a server: engine, transactions, migrations. SQLite for one machine, PostgreSQL for many.

A transaction is either `reading` or `writing`. One that writes holds SQLite's write lock from its beginning, so that
it never fails half-way because another process wrote; on PostgreSQL it locks the row of its repository instead.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, OperationalError, SQLAlchemyError

from reverie.apps.server.lookup import LOOKUPS_MAX
from reverie.apps.server.schema import metadata
from reverie.errors import Unavailable, UserMistake

POOL_CONNECTIONS = 8
"""Connections of one server process to PostgreSQL, and threads that use them."""
_SQLITE_WAIT_MILLISECONDS = 15_000
_STATEMENT_MILLISECONDS_MAX = 20_000
_CONNECT_SECONDS_MAX = 10
_MIGRATION_LOCK = 7_316_402
"""The advisory lock that lets one of several starting servers migrate."""
ALL_TENANTS = 0


class ServerDatabase:
    """An open database, with the newest schema."""

    def __init__(self, engine: Engine, lookup_engine: Engine) -> None:
        self.engine = engine
        self.is_postgresql = engine.dialect.name == "postgresql"
        self._lookup_engine = lookup_engine
        self._lookups: list[Connection] = []
        """Idle connections for lookups; a thread takes one out while it asks."""

    def look_up(self, query: str, lists: Sequence[Sequence[str]]) -> Sequence[Sequence[Any]]:
        """The rows of one query over all tenants, without the round trips of a transaction.

        Each `{among}` in the query stands for one of the lists, in order. The connections for it stay open: taking one
        from a pool and building the statement would cost more than the query.

        Raises:
            Unavailable: the database cannot be reached; the next call connects anew.
        """
        try:
            connection = self._lookups.pop()
        except IndexError:
            connection = self._lookup_engine.connect()
        try:
            if self.is_postgresql:
                rows = _ask_prepared(connection, query, lists)
            else:
                values = [json.dumps(values) for values in lists]
                driver: Any = connection.connection.driver_connection
                rows = driver.execute(query.format(among="IN (SELECT value FROM json_each(?))"), values).fetchall()
        except Exception as problem:
            connection.invalidate()
            connection.close()
            self._close_lookups()
            raise Unavailable(f"the database cannot be asked: {_first_line(problem)}") from problem
        self._lookups.append(connection)
        result: Sequence[Sequence[Any]] = rows
        return result

    @contextmanager
    def reading(self, tenant_id: int) -> Iterator[Connection]:
        """A transaction that reads; `ALL_TENANTS` lifts row-level security."""
        with self.engine.connect() as connection, connection.begin():
            self._name_tenant(connection, tenant_id)
            yield connection

    @contextmanager
    def snapshot(self, tenant_id: int) -> Iterator[Connection]:
        """A transaction that sees one moment, however many statements it reads with."""
        with self.engine.connect() as connection:
            if self.is_postgresql:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                self._name_tenant(connection, tenant_id)
                yield connection

    @contextmanager
    def writing(self, tenant_id: int) -> Iterator[Connection]:
        """A transaction that is durable once this returns, and had no effect if it raises."""
        with self.engine.connect() as connection:
            connection = connection.execution_options(reverie_writes=True)
            with connection.begin():
                self._name_tenant(connection, tenant_id)
                yield connection

    def _name_tenant(self, connection: Connection, tenant_id: int) -> None:
        if self.is_postgresql:
            name = "*" if tenant_id == ALL_TENANTS else str(tenant_id)
            connection.execute(_NAME_TENANT, {"name": name})

    def _close_lookups(self) -> None:
        with suppress(IndexError):
            while True:
                self._lookups.pop().close()

    def close(self) -> None:
        """Close all connections."""
        self._close_lookups()
        self.engine.dispose()
        self._lookup_engine.dispose()


def _ask_prepared(connection: Connection, query: str, lists: Sequence[Sequence[str]]) -> list[list[Any]]:
    """The rows of a query that the connection of libpq has prepared: one round trip.

    It takes a fraction of the processor time of the driver's own call, which looks up how to convert each parameter and
    column; here parameters are lists of texts, and columns are texts and integers.
    """
    from psycopg.pq import ExecStatus

    driver: Any = connection.connection.driver_connection
    if query not in connection.info:
        first, *rest = query.split("{among}")
        numbered = first + "".join(f"= ANY(${number}){piece}" for number, piece in enumerate(rest, 1))
        connection.info[query] = name = f"reverie_{len(connection.info)}".encode()
        _check_result(driver.pgconn.prepare(name, numbered.encode(), [_TEXT_ARRAY] * len(rest)), ExecStatus.COMMAND_OK)
    parameters = [_write_array(values) for values in lists]
    result = driver.pgconn.exec_prepared(connection.info[query], parameters)
    _check_result(result, ExecStatus.TUPLES_OK)
    readers = [int if result.ftype(column) in _INTEGERS else bytes.decode for column in range(result.nfields)]
    return [
        [
            None if (content := result.get_value(row, column)) is None else read(content)
            for column, read in enumerate(readers)
        ]
        for row in range(result.ntuples)
    ]


def _check_result(result: Any, expected: int) -> None:
    if result.status != expected:
        raise ConnectionError((result.error_message or b"no answer").decode("utf-8", "replace").strip())


def _write_array(values: Sequence[str]) -> bytes:
    """A list of texts as PostgreSQL writes it. Raises `ValueError` for a text that it cannot hold."""
    if any("\0" in each for each in values):
        raise ValueError("a text with a NUL")
    escaped = (each.replace("\\", r"\\").replace('"', r"\"") for each in values)
    return ("{" + ",".join(f'"{each}"' for each in escaped) + "}").encode()


_TEXT_ARRAY = 1009
_INTEGERS = (20, 21, 23)
"""Types of PostgreSQL by their numbers, which never change."""
_NAME_TENANT = text("SELECT set_config('reverie.tenant', :name, true)")


def open_database(url: str) -> ServerDatabase:
    """Connect and bring the schema up to date; several servers may do so at once.

    Raises:
        UserMistake: the URL is wrong, or names a driver that is not supported.
        Unavailable: the database cannot be reached.
    """
    database = ServerDatabase(*_create_engines(url))
    try:
        migrate(database)
    except OperationalError as problem:
        raise Unavailable(f"the database cannot be used: {_first_line(problem)}; is it running?") from problem
    except SQLAlchemyError as problem:
        raise Unavailable(f"the database cannot be migrated: {_first_line(problem)}") from problem
    return database


def sqlite_url(directory: Path) -> str:
    """The database of `--data DIR`; the folder is created, for this user alone."""
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    return f"sqlite:///{directory / 'server.db'}"


def migrate(database: ServerDatabase) -> None:
    """Run the migrations that are missing, under a lock."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    folder = str(Path(__file__).parent / "migrations")
    script = ScriptDirectory(folder, version_locations=[folder])
    with database.writing(ALL_TENANTS) as connection:
        if database.is_postgresql:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})

        def find_missing(present: Any, _context: object) -> Any:
            return script._upgrade_revs("head", present)

        with EnvironmentContext(Config(), script, fn=find_missing) as environment:
            environment.configure(connection=connection, target_metadata=metadata)
            environment.run_migrations()


def _create_engines(url: str) -> tuple[Engine, Engine]:
    """The engine of transactions and that of lookups."""
    try:
        parsed = make_url(url)
    except ArgumentError as problem:
        raise UserMistake(
            "--database is not a database URL; write postgresql://USER:PASSWORD@HOST/NAME or sqlite:///FILE"
        ) from problem
    if parsed.get_backend_name() == "sqlite":
        engine = _create_sqlite(parsed)
        return engine, engine.execution_options(reverie_looks_up=True)
    if parsed.get_backend_name() not in ("postgresql", "postgres"):
        raise UserMistake(f"--database names {parsed.get_backend_name()}; only PostgreSQL and SQLite are supported")
    parsed = parsed.set(drivername="postgresql+psycopg")
    engine = _create_postgresql(parsed, POOL_CONNECTIONS)
    lookup_engine = _create_postgresql(parsed, LOOKUPS_MAX, "-c reverie.tenant=*", isolation_level="AUTOCOMMIT")
    return engine, lookup_engine


def _create_postgresql(url: URL, connections: int, options: str = "", **further: Any) -> Engine:
    return create_engine(
        url,
        hide_parameters=True,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=_CONNECT_SECONDS_MAX,
        connect_args={
            "connect_timeout": _CONNECT_SECONDS_MAX,
            "options": f"-c statement_timeout={_STATEMENT_MILLISECONDS_MAX} {options}",
        },
        **further,
    )


def _create_sqlite(url: URL) -> Engine:
    engine = create_engine(url, hide_parameters=True, connect_args={"check_same_thread": False})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # transactions begin where we say so, below
        for pragma in (
            f"busy_timeout={_SQLITE_WAIT_MILLISECONDS}",
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        if not options.get("reverie_looks_up", False):
            connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get("reverie_writes", False) else "BEGIN")

    return engine


def _first_line(problem: Exception) -> str:
    cause = getattr(problem, "orig", None) or problem
    return str(cause).partition("\n")[0]
