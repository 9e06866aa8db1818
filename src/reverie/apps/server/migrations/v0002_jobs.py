"""What workers keep of their jobs: results, paid model steps, and the state of dreams and extraction by repository."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_TABLES = ("jobs", "job_steps", "job_state")


def upgrade() -> None:
    """Create the tables, with row-level security on PostgreSQL."""
    op.create_table(
        "jobs",
        _tenant(),
        sa.Column("key", sa.String(32), primary_key=True),
        sa.Column("repo", sa.String(200), nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("starts", sa.Integer, nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("started_at", sa.BigInteger, nullable=False),
        sa.Column("finished_at", sa.BigInteger),
        sa.Column("result", sa.Text),
        sa.Column("problem", sa.Text),
    )
    op.create_table(
        "job_steps",
        _tenant(),
        sa.Column("job_key", sa.String(32), primary_key=True),
        sa.Column("step", sa.String(60), primary_key=True),
        sa.Column("input_sha256", sa.String(64), primary_key=True),
        sa.Column("model", sa.String(200), nullable=False),
        sa.Column("reply", sa.Text),
        sa.Column("cost_usd", sa.Float, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
    op.create_index("job_steps_by_time", "job_steps", ["tenant_id", "at"])
    op.create_table(
        "job_state",
        _tenant(),
        sa.Column("repo_id", _ID, sa.ForeignKey("repos.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("name", sa.String(40), primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
    )
    if op.get_bind().dialect.name == "postgresql":
        for table in _TABLES:
            op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
            op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
            op.execute(
                f"CREATE POLICY {table}_of_tenant ON {table} USING ("
                "current_setting('reverie.tenant', true) = '*' "
                "OR tenant_id::text = current_setting('reverie.tenant', true))"
            )


def downgrade() -> None:
    """Drop the tables."""
    for table in reversed(_TABLES):
        op.drop_table(table)


def _tenant() -> sa.Column[int]:
    return sa.Column("tenant_id", _ID, sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False)
