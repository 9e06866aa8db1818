"""The tables of the server, one schema for SQLite and PostgreSQL.

Every row of a tenant carries `tenant_id`. On PostgreSQL row-level security holds the tenants apart as well
(`database.ServerDatabase.writing` names the tenant of each transaction). Times are seconds since 1970, UTC.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

metadata = MetaData()

_Id = BigInteger().with_variant(Integer, "sqlite")
"""SQLite numbers rows by itself only where the key is an INTEGER."""


def _id() -> Column[int]:
    return Column("id", _Id, primary_key=True, autoincrement=True)


def _tenant() -> Column[int]:
    return Column("tenant_id", _Id, ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False)


tenants = Table(
    "tenants",
    metadata,
    _id(),
    Column("name", String(100), nullable=False, unique=True),
    Column("limits", Text, nullable=False, server_default="{}"),  # what differs from the server's defaults, as JSON
    Column("created_at", BigInteger, nullable=False),
)

members = Table(
    "members",
    metadata,
    _id(),
    _tenant(),
    Column("name", String(200), nullable=False),
    Column("subject", String(300), unique=True),  # `sub` of the identity provider's tokens
    Column("scope", String(10), nullable=False),
    Column("created_at", BigInteger, nullable=False),
    UniqueConstraint("tenant_id", "name", name="members_by_name"),
)

tokens = Table(
    "tokens",
    metadata,
    _id(),
    _tenant(),
    Column("member_id", _Id, ForeignKey("members.id", ondelete="CASCADE")),
    Column("hash", String(64), nullable=False, unique=True),  # SHA-256 of the token; the token itself is not kept
    Column("repo", String(200)),  # the only repository it is for; NULL: all of the tenant
    Column("scope", String(10), nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
    Column("revoked_at", BigInteger),
)

repos = Table(
    "repos",
    metadata,
    _id(),
    _tenant(),
    Column("name", String(200), nullable=False),
    Column("epoch", String(16), nullable=False),  # new for a new or restored repository, so that no old ETag fits it
    Column("version", BigInteger, nullable=False),
    Column("live_entries", Integer, nullable=False),
    Column("live_bytes", BigInteger, nullable=False),
    UniqueConstraint("tenant_id", "name", name="repos_by_name"),
)

entries = Table(
    "entries",
    metadata,
    _tenant(),
    Column("repo_id", _Id, ForeignKey("repos.id", ondelete="CASCADE"), primary_key=True),
    Column("path", String(1024), primary_key=True),
    Column("folded", String(2048), nullable=False),  # the path as a file system that ignores case sees it
    Column("text", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("author", String(200), nullable=False),
    Column("is_author_verified", Boolean, nullable=False),
    Column("trust", String(10), nullable=False),
    Column("deleted", Boolean, nullable=False),
    Column("version", BigInteger, nullable=False),  # of the repository, when the entry last changed
    Column("revision", Integer, nullable=False),  # of the entry
    Column("updated_at", BigInteger, nullable=False),
    Index(
        "live_entries_by_folded_path",
        "repo_id",
        "folded",
        unique=True,
        sqlite_where=text("NOT deleted"),
        postgresql_where=text("NOT deleted"),
    ),
    Index("entries_by_version", "repo_id", "version"),
)

revisions = Table(
    "revisions",
    metadata,
    _tenant(),
    Column("repo_id", _Id, ForeignKey("repos.id", ondelete="CASCADE"), primary_key=True),
    Column("path", String(1024), primary_key=True),
    Column("revision", Integer, primary_key=True),
    Column("version", BigInteger, nullable=False),
    Column("text", Text),  # NULL: redacted
    Column("sha256", String(64), nullable=False),
    Column("author", String(200), nullable=False),
    Column("is_author_verified", Boolean, nullable=False),
    Column("trust", String(10), nullable=False),
    Column("deleted", Boolean, nullable=False),
    Column("written_at", BigInteger, nullable=False),
    Column("redacted_at", BigInteger),
    Column("redacted_by", String(200)),
)

audit = Table(
    "audit",
    metadata,
    _id(),
    _tenant(),
    Column("at", BigInteger, nullable=False),
    Column("actor", String(200), nullable=False),  # a member, `token 7`, or `command line`
    Column("action", String(40), nullable=False),
    Column("repo", String(200)),
    Column("detail", Text, nullable=False),  # JSON: paths, counts, ids; never text of an entry
    Index("audit_by_tenant", "tenant_id", "id"),
)

jobs = Table(
    "jobs",
    metadata,
    _tenant(),
    Column("key", String(32), primary_key=True),  # made when the job is submitted; the queue has numbers of its own
    Column("repo", String(200), nullable=False),
    Column("kind", String(10), nullable=False),
    Column("starts", Integer, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("started_at", BigInteger, nullable=False),  # first; every later start works with the same time
    Column("finished_at", BigInteger),  # written in the transaction that stores what the job changed
    Column("result", Text),  # JSON: counts, states, paths; never text of an entry
    Column("problem", Text),  # why the last start did not finish
)

job_steps = Table(
    "job_steps",
    metadata,
    _tenant(),
    Column("job_key", String(32), primary_key=True),
    Column("step", String(60), primary_key=True),
    Column("input_sha256", String(64), primary_key=True),
    Column("model", String(200), nullable=False),
    Column("reply", Text),  # JSON; NULL once the job is done
    Column("cost_usd", Float, nullable=False),
    Column("at", BigInteger, nullable=False),
    Index("job_steps_by_time", "tenant_id", "at"),
)

job_state = Table(
    "job_state",
    metadata,
    _tenant(),
    Column("repo_id", _Id, ForeignKey("repos.id", ondelete="CASCADE"), primary_key=True),
    Column("name", String(40), primary_key=True),  # a file of the memory directory's own state, such as dream.json
    Column("text", Text, nullable=False),
)

TENANT_TABLES = ("repos", "entries", "revisions", "audit", "jobs", "job_steps", "job_state")
"""Under row-level security on PostgreSQL. Tokens are looked up before the tenant is known, so they are not."""
