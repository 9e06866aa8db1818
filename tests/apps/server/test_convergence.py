"""Clients with the real sync against whole servers, killed and cut off: the short form of `bench.team.convergence`."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.team.convergence import run_storm

from tests.requirements import requirement

pytestmark = [pytest.mark.server, pytest.mark.timeout(600)]


@requirement("team:http:convergence", "server:replicas", "server:killed")
def test_clients_converge_and_lose_nothing_while_servers_and_connections_die(
    database_url: str, tmp_path: Path, *, thorough: bool
) -> None:
    replicas = 1 if database_url.startswith("sqlite") else 2
    seconds = 120 if thorough else 8
    result = run_storm(database_url, tmp_path, replicas=replicas, clients=6, files=12, seconds=seconds, seed=3)

    assert result.problems == [], str(result)
    assert result.counts["exchanges"] >= 12, str(result)
