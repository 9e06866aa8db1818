"""The first tables, and row-level security on PostgreSQL.

The tables are spelled out here and not taken from `schema`: a migration must do the same for ever.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_LIVE = sa.text("NOT deleted")
_TENANT_TABLES = ("repos", "entries", "revisions", "audit")


def upgrade() -> None:
    """Create all tables."""
    _create_accounts()
    _create_contents()
    if op.get_bind().dialect.name == "postgresql":
        for table in _TENANT_TABLES:
            op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
            op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
            op.execute(
                f"CREATE POLICY {table}_of_tenant ON {table} USING ("
                "current_setting('reverie.tenant', true) = '*' "
                "OR tenant_id::text = current_setting('reverie.tenant', true))"
            )


def downgrade() -> None:
    """Drop all tables."""
    for table in ("audit", "revisions", "entries", "repos", "tokens", "members", "tenants"):
        op.drop_table(table)


def _create_accounts() -> None:
    op.create_table(
        "tenants",
        sa.Column("id", _ID, primary_key=True, autoincrement=True),
        sa.Column("name", sa.String(100), nullable=False, unique=True),
        sa.Column("limits", sa.Text, nullable=False, server_default="{}"),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "members",
        sa.Column("id", _ID, primary_key=True, autoincrement=True),
        _tenant(),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("subject", sa.String(300), unique=True),
        sa.Column("scope", sa.String(10), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.UniqueConstraint("tenant_id", "name", name="members_by_name"),
    )
    op.create_table(
        "tokens",
        sa.Column("id", _ID, primary_key=True, autoincrement=True),
        _tenant(),
        sa.Column("member_id", _ID, sa.ForeignKey("members.id", ondelete="CASCADE")),
        sa.Column("hash", sa.String(64), nullable=False, unique=True),
        sa.Column("repo", sa.String(200)),
        sa.Column("scope", sa.String(10), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger),
        sa.Column("revoked_at", sa.BigInteger),
    )


def _create_contents() -> None:
    op.create_table(
        "repos",
        sa.Column("id", _ID, primary_key=True, autoincrement=True),
        _tenant(),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("epoch", sa.String(16), nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("live_entries", sa.Integer, nullable=False),
        sa.Column("live_bytes", sa.BigInteger, nullable=False),
        sa.UniqueConstraint("tenant_id", "name", name="repos_by_name"),
    )
    op.create_table(
        "entries",
        _tenant(),
        sa.Column("repo_id", _ID, sa.ForeignKey("repos.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("path", sa.String(1024), primary_key=True),
        sa.Column("folded", sa.String(2048), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("author", sa.String(200), nullable=False),
        sa.Column("is_author_verified", sa.Boolean, nullable=False),
        sa.Column("trust", sa.String(10), nullable=False),
        sa.Column("deleted", sa.Boolean, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
    )
    op.create_index(
        "live_entries_by_folded_path",
        "entries",
        ["repo_id", "folded"],
        unique=True,
        sqlite_where=_LIVE,
        postgresql_where=_LIVE,
    )
    op.create_index("entries_by_version", "entries", ["repo_id", "version"])
    op.create_table(
        "revisions",
        _tenant(),
        sa.Column("repo_id", _ID, sa.ForeignKey("repos.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("path", sa.String(1024), primary_key=True),
        sa.Column("revision", sa.Integer, primary_key=True),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("text", sa.Text),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("author", sa.String(200), nullable=False),
        sa.Column("is_author_verified", sa.Boolean, nullable=False),
        sa.Column("trust", sa.String(10), nullable=False),
        sa.Column("deleted", sa.Boolean, nullable=False),
        sa.Column("written_at", sa.BigInteger, nullable=False),
        sa.Column("redacted_at", sa.BigInteger),
        sa.Column("redacted_by", sa.String(200)),
    )
    op.create_table(
        "audit",
        sa.Column("id", _ID, primary_key=True, autoincrement=True),
        _tenant(),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("actor", sa.String(200), nullable=False),
        sa.Column("action", sa.String(40), nullable=False),
        sa.Column("repo", sa.String(200)),
        sa.Column("detail", sa.Text, nullable=False),
    )
    op.create_index("audit_by_tenant", "audit", ["tenant_id", "id"])


def _tenant() -> sa.Column[int]:
    return sa.Column("tenant_id", _ID, sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False)
