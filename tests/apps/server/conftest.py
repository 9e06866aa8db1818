"""Databases of both kinds, each test with one of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie.apps.server.database import ServerDatabase, open_database, sqlite_url
from tests.apps.server.kit import Served
from tests.postgresql import create_database, drop_database, start_postgresql


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of a PostgreSQL server that all test processes share."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    return start_postgresql(folder / "postgresql")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.server)])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield sqlite_url(tmp_path / "data")
        return
    server = request.getfixturevalue("postgresql")
    url = create_database(server)
    yield url
    drop_database(server, url)


@pytest.fixture
def database(database_url: str) -> Iterator[ServerDatabase]:
    opened = open_database(database_url)
    yield opened
    opened.close()


@pytest.fixture
def served(database: ServerDatabase) -> Served:
    return Served(database)
