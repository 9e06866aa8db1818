"""What the settings of the team server change: where it listens, and what it answers."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from reverie.apps.cli.serve import build_provider, database_url, listen_address
from reverie.apps.server.database import open_database, sqlite_url
from reverie.apps.server.limits import default_limits
from reverie.apps.server.retention import prune
from reverie.apps.worker.steps import JobSteps
from reverie.errors import Refused
from reverie.messages.message import Usage
from reverie.settings import Settings
from reverie.settings.load import Secrets
from reverie.testing.build import reply
from tests.apps.server.kit import Served, entry
from tests.apps.worker.kit import Fleet

PROVIDER = {
    "server.oidc_issuer": "https://issuer.example",
    "server.oidc_audience": "reverie",
    "server.oidc_jwks": "keys.json",
}


def run_server(settings: Settings) -> object:
    """Address, database and identity provider."""
    server = settings.server
    provider = build_provider(server)
    secrets = Secrets({"REVERIE_DATABASE_URL": "postgresql://one", "OTHER_URL": "postgresql://two"})
    return listen_address(server, None, None), database_url(server, secrets), provider and provider.options


def ask_server(settings: Settings) -> object:
    """The statuses of some requests, and how many texts are kept."""
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(sqlite_url(Path(folder)))
        try:
            return asyncio.run(_ask(Served(database, default_limits(settings.server)), settings.server.max_body_bytes))
        finally:
            database.close()


def limit_jobs(settings: Settings) -> object:
    """How many jobs may run, and whether one may ask a model after others have cost two dollars."""
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(sqlite_url(Path(folder)))
        try:
            fleet = Fleet(database, Path(folder), limits=default_limits(settings.server))
            limits = fleet.runner.read_limits(fleet.tenant_id)
            steps = JobSteps(database, fleet.tenant_id, "key", limits.job_usd_per_day, lambda: 1_000)
            usage = Usage(input_tokens=2_000_000)
            steps.write("dream:0", "", replace(reply("Done.", usage=usage), model="claude-haiku-4-5"))
            with suppress(Refused):
                steps.check_budget()
            return limits.jobs_at_once, steps.problem
        finally:
            database.close()


def prune_server(settings: Settings) -> object:
    """How much of what is a month old is removed."""
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(sqlite_url(Path(folder)))
        try:
            fleet = Fleet(database, Path(folder))
            fleet.push({"a.md": "First.", "b.md": "First."})
            fleet.push({"a.md": "Second.", "b.md": None})
            return prune(database, settings.server, int(fleet.time.timestamp()) + 30 * 86_400)
        finally:
            database.close()


async def _ask(served: Served, max_body_bytes: int) -> object:
    served.max_body_bytes = max_body_bytes
    client = served.write_client()
    answers = [
        await client.push({"a.md": entry("short")}),
        await client.push({"a.md": entry("longer than ten bytes")}),
        await client.push({"b.md": entry("twenty more bytes, ok")}),
        await client.push({"a.md": entry("a")}, "acme/other"),
    ]
    kept = len(await client.versions("a.md"))
    answers += [await client.pull() for _ in range(3)]
    return [answer.status_code for answer in answers], kept
