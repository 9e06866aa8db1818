"""A PostgreSQL for the tests of workers."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.postgresql import create_database, drop_database, start_postgresql


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of a PostgreSQL server that all test processes share."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    return start_postgresql(folder / "postgresql")


@pytest.fixture
def database_url(postgresql: str) -> Iterator[str]:
    url = create_database(postgresql)
    yield url
    drop_database(postgresql, url)
