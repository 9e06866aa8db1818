"""The shared entries of a repository in the database: read, write a batch, earlier texts, redaction.

A batch is one transaction and one version of its repository. Writers of one repository wait for each other; readers
see the state before or after a batch, never in between. Nothing here knows HTTP but the faults that it raises.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, delete, func, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from reverie.apps.server.accounts import Principal
from reverie.apps.server.batch import NewEntry, path_collision
from reverie.apps.server.faults import RequestFault
from reverie.apps.server.limits import Limits
from reverie.apps.server.schema import audit, entries, repos, revisions
from reverie.values import value

UNKNOWN_AUTHOR = "unknown"
_CONFLICTS_LISTED_MAX = 1_000


@value
class RepoState:
    """Where a repository stands; one that nobody wrote to is at version 0."""

    id: int = 0
    epoch: str = ""
    version: int = 0

    @property
    def etag(self) -> str:
        """Changes with every batch; also when the repository was restored from a backup."""
        return f'"{self.epoch}.{self.version}"' if self.version else '"0"'


@value
class WriteResult:
    """What a batch changed."""

    state: RepoState
    changed: tuple[str, ...]


def read_state(connection: Connection, tenant_id: int, repo: str) -> RepoState:
    """The present state of a repository."""
    query = select(repos.c.id, repos.c.epoch, repos.c.version)
    row = connection.execute(query.where(repos.c.tenant_id == tenant_id, repos.c.name == repo)).first()
    return RepoState() if row is None else RepoState(*row)


def read_entries(
    connection: Connection, state: RepoState, *, since: int = 0, has_text: bool = True
) -> dict[str, dict[str, Any]]:
    """The entries that changed after a version, tombstones included, as the wire has them."""
    columns = [
        entries.c.path, entries.c.sha256, entries.c.author, entries.c.is_author_verified, entries.c.trust,
        entries.c.deleted, entries.c.version,
    ]  # fmt: skip
    if has_text:
        columns.append(entries.c.text)
    query = select(*columns).where(entries.c.repo_id == state.id, entries.c.version > since).order_by(entries.c.path)
    return {
        row[0]: {
            "sha256": row[1],
            "author": row[2],
            "author_verified": row[3],
            "trust": row[4],
            "deleted": row[5],
            "version": row[6],
            **({"text": row[7]} if has_text else {}),
        }
        for row in connection.execute(query)
    }


def write_batch(
    connection: Connection,
    principal: Principal,
    repo: str,
    batch: Sequence[NewEntry],
    *,
    if_match: str | None,
    now: int,
) -> WriteResult:
    """Store a batch as one version, or raise `RequestFault`; an entry that is stored already changes nothing."""
    state, live_entries, live_bytes = _lock_repo(connection, principal, repo)
    stored = _read_stored(connection, state.id, batch)
    _check_precondition(state, stored, batch, if_match)
    changes = [entry for entry in batch if not _is_stored(stored.get(entry.path), entry)]
    if not changes:
        return WriteResult(state, ())
    _check_collisions(stored, changes)
    before = [row for entry in changes if (row := stored.get(entry.path)) is not None and not row["deleted"]]
    live = [entry for entry in changes if not entry.deleted]
    live_entries += len(live) - len(before)
    live_bytes += sum(entry.size_bytes for entry in live) - sum(row["size"] for row in before)
    _check_limits(principal.limits, live_entries, live_bytes, is_growing=len(live) > len(before) or bool(live))
    version = state.version + 1
    connection.execute(
        update(repos)
        .where(repos.c.id == state.id)
        .values(version=version, live_entries=live_entries, live_bytes=live_bytes)
    )
    _store(connection, principal, state.id, version, changes, stored, now)
    paths = tuple(entry.path for entry in changes)
    detail = {"version": version, "written": [entry.path for entry in live], "deleted": _deleted(changes)}
    append_audit(connection, principal.tenant_id, principal.actor, "write", repo, detail, now)
    return WriteResult(RepoState(state.id, state.epoch, version), paths)


def read_revisions(connection: Connection, state: RepoState, path: str) -> list[dict[str, Any]]:
    """The kept texts of an entry, newest first; a redacted one has no text."""
    query = (
        select(revisions)
        .where(revisions.c.repo_id == state.id, revisions.c.path == path)
        .order_by(revisions.c.revision.desc())
    )
    return [
        {
            "revision": row["revision"],
            "version": row["version"],
            "text": row["text"],
            "sha256": row["sha256"],
            "author": row["author"],
            "author_verified": row["is_author_verified"],
            "trust": row["trust"],
            "deleted": row["deleted"],
            "written_at": row["written_at"],
            "redacted": row["redacted_at"] is not None,
        }
        for row in connection.execute(query).mappings()
    ]


def redact_revisions(connection: Connection, principal: Principal, repo: str, path: str, *, now: int) -> int:
    """Remove the text and the hash of all earlier revisions of an entry; of a deleted entry, of all.

    Without the admin scope only what the same person wrote may be redacted.
    """
    if not read_state(connection, principal.tenant_id, repo).version:
        return 0
    state, _, _ = _lock_repo(connection, principal, repo)
    is_kept = [revisions.c.repo_id == state.id, revisions.c.path == path, revisions.c.redacted_at.is_(None)]
    current = connection.execute(
        select(entries.c.revision).where(
            entries.c.repo_id == state.id, entries.c.path == path, entries.c.deleted.is_(False)
        )
    ).scalar()
    if current is not None:
        is_kept.append(revisions.c.revision < current)
    if not principal.has_scope("admin"):
        is_own = (revisions.c.author == principal.member) & revisions.c.is_author_verified
        others = connection.execute(select(func.count()).select_from(revisions).where(*is_kept, ~is_own)).scalar()
        if principal.member is None or others:
            message = "texts of other authors can be redacted with the admin scope only"
            raise RequestFault(403, "forbidden", message)
    redacted = connection.execute(
        update(revisions).where(*is_kept).values(text=None, sha256="", redacted_at=now, redacted_by=principal.actor)
    ).rowcount
    connection.execute(
        update(entries)
        .where(entries.c.repo_id == state.id, entries.c.path == path, entries.c.deleted.is_(True))
        .values(sha256="")
    )
    detail = {"path": path, "revisions": redacted}
    append_audit(connection, principal.tenant_id, principal.actor, "redact", repo, detail, now)
    return redacted


def append_audit(
    connection: Connection, tenant_id: int, actor: str, action: str, repo: str | None, detail: object, now: int
) -> None:
    """Record who did what, in the transaction that does it."""
    connection.execute(
        insert(audit).values(
            tenant_id=tenant_id, at=now, actor=actor, action=action, repo=repo, detail=json.dumps(detail)
        )
    )


def _deleted(changes: Sequence[NewEntry]) -> list[str]:
    return [entry.path for entry in changes if entry.deleted]


def _lock_repo(connection: Connection, principal: Principal, repo: str) -> tuple[RepoState, int, int]:
    """The row of a repository, created if need be, locked until the transaction ends."""
    query = (
        select(repos.c.id, repos.c.epoch, repos.c.version, repos.c.live_entries, repos.c.live_bytes)
        .where(repos.c.tenant_id == principal.tenant_id, repos.c.name == repo)
        .with_for_update()
    )
    row = connection.execute(query).first()
    if row is None:
        _create_repo(connection, principal, repo)
        row = connection.execute(query).one()
    return RepoState(row[0], row[1], row[2]), row[3], row[4]


def _create_repo(connection: Connection, principal: Principal, repo: str) -> None:
    count = connection.execute(
        select(func.count()).select_from(repos).where(repos.c.tenant_id == principal.tenant_id)
    ).scalar_one()
    if count >= principal.limits.max_repositories:
        message = f"the organisation has {count} repositories, which is its limit; ask its administrator"
        raise RequestFault(413, "too_many_repositories", message)
    row = {"tenant_id": principal.tenant_id, "name": repo, "epoch": new_epoch(), "version": 0}
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement = dialect.insert(repos).values(**row, live_entries=0, live_bytes=0)
    connection.execute(statement.on_conflict_do_nothing())


def new_epoch() -> str:
    """What makes the ETags of a repository differ from those of its earlier life."""
    return secrets.token_hex(4)


def _read_stored(connection: Connection, repo_id: int, batch: Sequence[NewEntry]) -> dict[str, dict[str, Any]]:
    """The stored entries with a path of the batch, or with one that a file system could take for it."""
    columns = (entries.c.path, entries.c.folded, entries.c.sha256, entries.c.size, entries.c.trust,
               entries.c.deleted, entries.c.version, entries.c.revision)  # fmt: skip
    query = select(*columns).where(
        entries.c.repo_id == repo_id,
        or_(
            entries.c.path.in_([entry.path for entry in batch]),
            entries.c.folded.in_([entry.folded for entry in batch]),
        ),
    )
    return {row["path"]: dict(row) for row in connection.execute(query).mappings()}


def _is_stored(row: dict[str, Any] | None, entry: NewEntry) -> bool:
    if row is None:
        return False  # a deletion of what was never there is kept as a tombstone: somebody may still push it
    if entry.deleted:
        return bool(row["deleted"])
    return bool(row["sha256"] == entry.sha256 and not row["deleted"] and row["trust"] == entry.trust)


def _check_precondition(
    state: RepoState, stored: dict[str, dict[str, Any]], batch: Sequence[NewEntry], if_match: str | None
) -> None:
    headers = {"etag": state.etag}
    if if_match is not None and if_match != "*" and state.etag not in _split_etags(if_match):
        message = "the repository changed since this ETag; pull, merge, and push again"
        raise RequestFault(412, "changed", message, headers=headers, version=state.version)
    without_base = [entry.path for entry in batch if entry.base_sha256 is None]
    if if_match is None and without_base and state.version:
        message = "send If-Match with the ETag of the last pull, or base_sha256 with every entry"
        raise RequestFault(428, "precondition_required", message, headers=headers, version=state.version)
    conflicts = {
        entry.path: {"sha256": _present_hash(row), "deleted": row["deleted"], "version": row["version"]}
        for entry in batch
        if entry.base_sha256 is not None
        if (row := stored.get(entry.path, _ABSENT)) and _present_hash(row) != entry.base_sha256
        if not _is_stored(row, entry)
    }
    if conflicts:
        message = f"{len(conflicts)} of {len(batch)} entries changed on the server; pull, merge, and push again"
        listed = dict(list(conflicts.items())[:_CONFLICTS_LISTED_MAX])
        raise RequestFault(412, "changed", message, headers=headers, version=state.version, conflicts=listed)


def _present_hash(row: dict[str, Any]) -> str:
    """The hash that a writer must have seen; that of a tombstone is of the text it stands for."""
    return "" if row["deleted"] else row["sha256"]


def _hash_of_deleted(before: dict[str, Any] | None) -> str:
    """What a tombstone keeps of a text, so that a client which still has a copy of it knows that it was deleted."""
    return "" if before is None else before["sha256"]


_ABSENT: dict[str, Any] = {"sha256": "", "deleted": False, "version": 0, "trust": ""}


def _split_etags(header: str) -> list[str]:
    return [etag.strip().removeprefix("W/") for etag in header.split(",")]


def is_same_etag(header: str | None, etag: str) -> bool:
    """Whether If-None-Match names an ETag."""
    return header is not None and (header.strip() == "*" or etag in _split_etags(header))


def _check_collisions(stored: dict[str, dict[str, Any]], changes: Sequence[NewEntry]) -> None:
    removed = {entry.path for entry in changes if entry.deleted}
    live = {row["folded"]: path for path, row in stored.items() if not row["deleted"] and path not in removed}
    for entry in changes:
        if not entry.deleted and live.get(entry.folded, entry.path) != entry.path:
            raise path_collision(entry.path, live[entry.folded])


def _check_limits(limits: Limits, live_entries: int, live_bytes: int, *, is_growing: bool) -> None:
    if not is_growing:
        return
    if live_entries > limits.max_entries:
        message = f"the repository would have {live_entries} entries; the limit is {limits.max_entries}: delete some"
        raise RequestFault(413, "too_many_entries", message, limit=limits.max_entries)
    if live_bytes > limits.max_repository_bytes:
        message = f"the repository would have {live_bytes} bytes; the limit is {limits.max_repository_bytes}"
        raise RequestFault(413, "repository_full", message, limit=limits.max_repository_bytes)


def _store(
    connection: Connection,
    principal: Principal,
    repo_id: int,
    version: int,
    changes: Sequence[NewEntry],
    stored: dict[str, dict[str, Any]],
    now: int,
) -> None:
    rows: list[dict[str, Any]] = []
    for entry in changes:
        author = principal.member or entry.author or UNKNOWN_AUTHOR
        before = stored.get(entry.path)
        rows.append(
            {
                "tenant_id": principal.tenant_id,
                "repo_id": repo_id,
                "path": entry.path,
                "revision": 1 if before is None else before["revision"] + 1,
                "version": version,
                "text": entry.text,
                "sha256": entry.sha256,
                "author": author,
                "is_author_verified": principal.member is not None,
                "trust": entry.trust,
                "deleted": entry.deleted,
            }
        )
    connection.execute(insert(revisions), [{**row, "written_at": now} for row in rows])
    connection.execute(
        delete(entries).where(entries.c.repo_id == repo_id, entries.c.path.in_([row["path"] for row in rows]))
    )
    sizes = {entry.path: (entry.folded, entry.size_bytes) for entry in changes}
    connection.execute(
        insert(entries),
        [
            {
                **row,
                "sha256": _hash_of_deleted(stored.get(row["path"])) if row["deleted"] else row["sha256"],
                "folded": sizes[row["path"]][0],
                "size": sizes[row["path"]][1],
                "updated_at": now,
            }
            for row in rows
        ],
    )
    for row in rows:
        oldest = row["revision"] - principal.limits.versions_kept
        if oldest > 0:
            connection.execute(
                delete(revisions).where(
                    revisions.c.repo_id == repo_id, revisions.c.path == row["path"], revisions.c.revision <= oldest
                )
            )
