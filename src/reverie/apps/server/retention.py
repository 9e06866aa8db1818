"""How long a server keeps what nobody asks for any more: earlier texts, tombstones, the audit log, jobs that ended."""

from __future__ import annotations

from sqlalchemy import and_, delete, exists, select, text

from reverie.apps.server.database import ALL_TENANTS, ServerDatabase
from reverie.apps.server.schema import audit, entries, jobs, revisions
from reverie.settings.tree import ServerSettings

_DAY_SECONDS = 86_400
_ENDED = ("succeeded", "failed", "cancelled", "aborted")


def prune(database: ServerDatabase, settings: ServerSettings, now: int) -> dict[str, int]:
    """Remove what is older than the settings say, in one transaction; returns how many rows of each kind.

    The present text of an entry is never touched. A client that was away for longer than `tombstone_days` keeps its
    copies of entries whose tombstones are gone.
    """

    def before(days: int) -> int:
        return now - days * _DAY_SECONDS

    is_present = exists().where(
        entries.c.repo_id == revisions.c.repo_id,
        entries.c.path == revisions.c.path,
        entries.c.revision == revisions.c.revision,
    )
    removed = {}
    with database.writing(ALL_TENANTS) as connection:
        if settings.tombstone_days is not None:
            is_old = and_(entries.c.deleted, entries.c.updated_at < before(settings.tombstone_days))
            removed["tombstones"] = connection.execute(delete(entries).where(is_old)).rowcount
        if settings.versions_days is not None:
            is_old = revisions.c.written_at < before(settings.versions_days)
            removed["versions"] = connection.execute(delete(revisions).where(is_old, ~is_present)).rowcount
        if settings.audit_days is not None:
            cut = before(settings.audit_days)
            removed["audit"] = connection.execute(delete(audit).where(audit.c.at < cut)).rowcount
            old_jobs = select(jobs.c.key).where(jobs.c.finished_at < cut).scalar_subquery()
            if database.is_postgresql and connection.execute(text("SELECT to_regclass('procrastinate_jobs')")).scalar():
                connection.execute(
                    text(
                        "DELETE FROM procrastinate_jobs WHERE status::text = ANY(:ended) AND args->>'key' IN "
                        "(SELECT key FROM jobs WHERE finished_at < :cut)"
                    ),
                    {"ended": list(_ENDED), "cut": cut},
                )
            removed["jobs"] = connection.execute(delete(jobs).where(jobs.c.key.in_(old_jobs))).rowcount
    return removed
