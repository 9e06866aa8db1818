"""A team server that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.team_server import TeamServer, running_server


@pytest.fixture(scope="session")
def team_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TeamServer]:
    with running_server(tmp_path_factory.mktemp("team-server")) as server:
        yield server
