"""Alembic's folder: `env` connects it with our database, `versions` are the migrations."""
