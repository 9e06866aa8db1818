"""A fleet in one process: a database with repositories, and a runner of jobs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from reverie.apps.server.accounts import Principal, find_tenant
from reverie.apps.server.batch import BatchDocument, EntryDocument, parse_batch
from reverie.apps.server.database import ALL_TENANTS, ServerDatabase
from reverie.apps.server.entries import read_entries, read_state, write_batch
from reverie.apps.server.limits import Limits, default_limits
from reverie.apps.worker.job import JobRunner, JobSpec
from reverie.models.ports import Model
from reverie.settings import Settings
from reverie.settings.load import Configuration, Secrets

DUPLICATES = {
    "deploys.md": ("Deploys", "Deploys of the importer go out on Tuesday from the release branch, after the tests."),
    "deploy-day.md": (
        "Deploy day",
        "Deploys of the importer go out on Tuesday from the release branch, after the tests.",
    ),
    "compose.md": ("Compose", "The integration tests need the database of docker compose."),
}


def topic(name: str, body: str) -> str:
    return f"---\nname: {name}\ndescription: {body}\ntype: project\ntrust: inferred\n---\n\n{body}\n"


@dataclass
class Fleet:
    database: ServerDatabase
    folder: Path
    model: Callable[[], Model] | None = None
    limits: Limits = field(default_factory=lambda: default_limits(Settings().server))
    time: datetime = datetime(2026, 11, 17, 12, 0, tzinfo=UTC)

    @property
    def tenant_id(self) -> int:
        with self.database.writing(ALL_TENANTS) as connection:
            return find_tenant(connection, "default", 0)

    @property
    def runner(self) -> JobRunner:
        home = self.folder / "home"
        configuration = Configuration(Settings(home=str(home)), {}, (), home, home, home, Secrets({}))

        def make_model(_configuration: Configuration, _name: str) -> Model:
            assert self.model is not None
            return self.model()

        return JobRunner(self.database, configuration, self.limits, self.folder / "work", lambda: self.time, make_model)

    def spec(self, repo: str = "acme/app", kind: str = "dream", **further: Any) -> JobSpec:
        key = hashlib.sha256(repr((repo, kind, sorted(further.items()))).encode()).hexdigest()[:32]
        return JobSpec(**{"key": key, "tenant_id": self.tenant_id, "repo": repo, "kind": kind, **further})

    def push(self, texts: dict[str, str | None], repo: str = "acme/app") -> None:
        """As a colleague would, over whatever is there."""
        from reverie.memory.team.entry import hash_text

        entries = {
            path: EntryDocument(deleted=True) if text is None else EntryDocument(text, hash_text(text), "ada")
            for path, text in texts.items()
        }
        import msgspec

        batch = parse_batch(msgspec.json.encode(BatchDocument(entries)), self.limits)
        principal = Principal(self.tenant_id, "", "test", None, "write", None, self.limits)
        with self.database.writing(principal.tenant_id) as connection:
            write_batch(connection, principal, repo, batch, if_match="*", now=int(self.time.timestamp()))

    def push_duplicates(self, repo: str = "acme/app") -> None:
        self.push({path: topic(*words) for path, words in DUPLICATES.items()}, repo)

    def texts(self, repo: str = "acme/app") -> dict[str, str]:
        with self.database.reading(self.tenant_id) as connection:
            entries = read_entries(connection, read_state(connection, self.tenant_id, repo))
        return {path: entry["text"] for path, entry in entries.items() if not entry["deleted"]}

    def version(self, repo: str = "acme/app") -> int:
        with self.database.reading(self.tenant_id) as connection:
            return read_state(connection, self.tenant_id, repo).version

    def wait(self, **delta: float) -> None:
        self.time += timedelta(**delta)
