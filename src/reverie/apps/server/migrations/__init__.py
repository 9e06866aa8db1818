"""The migrations of the database, in order; Alembic runs those that are missing: `v0001_first_tables`, `v0002_jobs`."""
