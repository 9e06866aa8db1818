"""The team server, `reverie serve`: entries of repositories shared over HTTP, on SQLite or PostgreSQL.

Reading order: `app` (routes and what each answers), `batch` (the body of a push, checked), `entry_paths` (which paths
are allowed), `entries` (the batch in the database: versions, conflicts, tombstones), `faults` (what a request can fail
with), `accounts` (tenants, members, tokens), `limits` (of a tenant), `rate_limit` (of a token), `lookup` (one query for
many requests), `identity_provider` (tokens of OpenID Connect), `request_log` (log lines and figures), `openapi` (the
description of the API), `schema` and `database` (tables, transactions; `migrations` run by Alembic), `run` (granian),
`backup` (backup, restore, export), `retention` (what `serve prune` removes). The commands are in `apps/cli/serve.py`;
`docs/server.md` is for whoever runs one.
"""
