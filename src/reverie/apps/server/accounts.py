"""Who may do what: tenants, members and tokens; the principal that a request acts as.

A tenant is an organisation that holds repositories. A token belongs to a tenant, often to one of its members and to
one of its repositories. Only the hash of a token is stored: it has 256 random bits, so a plain SHA-256 is enough.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from reverie.apps.server.limits import Limits, apply_overrides
from reverie.apps.server.schema import members, tenants, tokens
from reverie.errors import UserMistake
from reverie.values import value

SCOPES = ("read", "write", "admin")
"""Each may do what those before it may."""
TOKEN_PREFIX = "rvt_"  # noqa: S105 - how a token begins, not one
DEFAULT_TENANT = "default"
_NAME = re.compile(r"[\w][\w .@+-]{0,99}")
_REPO = re.compile(r"[a-z0-9_~][a-z0-9._~-]*(/[a-z0-9_~][a-z0-9._~-]*){0,7}")
_REPO_CHARS_MAX = 200


@value
class Principal:
    """On whose behalf a request is made."""

    tenant_id: int
    tenant: str
    token_id: str
    """Names the token in logs and rate limits; nothing of the token itself."""
    member: str | None
    scope: str
    repo: str | None
    """The only repository that it may touch; None: all of the tenant."""
    limits: Limits
    expires_at: int | None = None
    revoked_at: int | None = None

    def has_scope(self, scope: str) -> bool:
        """Whether its scope includes another."""
        return SCOPES.index(self.scope) >= SCOPES.index(scope)

    @property
    def actor(self) -> str:
        """Who it is in the audit log."""
        return self.member or self.token_id


@lru_cache(10_000)
def normalise_repo(name: str) -> str | None:
    """The name of a repository as it is stored, without `.git` and in lower case; None when it is no name."""
    name = name.strip().lower().removesuffix(".git")
    is_name = len(name) <= _REPO_CHARS_MAX and _REPO.fullmatch(name)
    return name if is_name else None


def hash_token(token: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


_PRINCIPALS = """
    SELECT tokens.hash, tokens.id, tokens.scope, tokens.repo, tokens.expires_at, tokens.revoked_at,
           tenants.id, tenants.name, tenants.limits, members.name, repos.name, repos.id, repos.epoch, repos.version
    FROM tokens JOIN tenants ON tenants.id = tokens.tenant_id
    LEFT JOIN members ON members.id = tokens.member_id
    LEFT JOIN repos ON repos.tenant_id = tokens.tenant_id AND repos.name {among}
    WHERE tokens.hash {among}
"""
"""Runs for every few requests, so it is sent to the driver as it stands: the database and the driver know it by its
words, which are the same however many tokens and repositories are asked for."""


def read_principals(
    look_up: Callable[[str, Sequence[Sequence[str]]], Sequence[Sequence[Any]]],
    wanted: Sequence[tuple[str, str]],
    defaults: Limits,
) -> dict[tuple[str, str], tuple[Principal, tuple[int, str, int] | None]]:
    """By token hash and repository: the principal, and the row of the repository if there is one.

    Many requests are answered by one query (`lookup`); `look_up` is `ServerDatabase.look_up`.
    """
    hashes = list({token_hash for token_hash, _ in wanted})
    rows = look_up(_PRINCIPALS, [list({repo for _, repo in wanted}), hashes])
    principals: dict[str, Principal] = {}
    states: dict[tuple[str, str], tuple[int, str, int]] = {}
    for row in rows:
        token_hash = row[0]
        if token_hash not in principals:
            limits = apply_overrides(defaults, row[8])
            principals[token_hash] = Principal(
                row[6], row[7], f"token {row[1]}", row[9], row[2], row[3], limits, row[4], row[5]
            )
        if row[10] is not None:
            states[token_hash, row[10]] = (row[11], row[12], row[13])
    return {
        (token_hash, repo): (principals[token_hash], states.get((token_hash, repo)))
        for token_hash, repo in wanted
        if token_hash in principals
    }


def read_member(connection: Connection, subject: str, defaults: Limits) -> Principal | None:
    """The principal of a member by the subject that an identity provider vouches for."""
    query = (
        select(members.c.id, members.c.name, members.c.scope, tenants.c.id, tenants.c.name, tenants.c.limits)
        .select_from(members.join(tenants))
        .where(members.c.subject == subject)
    )
    row = connection.execute(query).first()
    if row is None:
        return None
    return Principal(row[3], row[4], f"member {row[0]}", row[1], row[2], None, apply_overrides(defaults, row[5]))


def create_tenant(connection: Connection, name: str, now: int) -> int:
    """Add an organisation. Raises `UserMistake` for a bad name or one that is taken."""
    _check_name(name, "tenant")
    try:
        result = connection.execute(insert(tenants).values(name=name, limits="{}", created_at=now))
    except IntegrityError as problem:
        raise UserMistake(f"there is a tenant {name!r} already") from problem
    key = result.inserted_primary_key
    assert key is not None
    return int(key[0])


def find_tenant(connection: Connection, name: str, now: int) -> int:
    """The id of a tenant; the one called `default` is created when it is first needed."""
    found = connection.execute(select(tenants.c.id).where(tenants.c.name == name)).scalar()
    if found is not None:
        return int(found)
    if name == DEFAULT_TENANT:
        return create_tenant(connection, name, now)
    raise UserMistake(f"no tenant {name!r}; `reverie serve tenants` lists them, `--add NAME` creates one")


def create_member(
    connection: Connection, tenant_id: int, name: str, *, scope: str, subject: str | None, now: int
) -> int:
    """Add a person to a tenant. Raises `UserMistake` when the name or the subject is taken."""
    _check_name(name, "member")
    row = {"tenant_id": tenant_id, "name": name, "scope": scope, "subject": subject, "created_at": now}
    try:
        result = connection.execute(insert(members).values(**row))
    except IntegrityError as problem:
        raise UserMistake(f"there is a member {name!r}, or one with this subject, already") from problem
    key = result.inserted_primary_key
    assert key is not None
    return int(key[0])


def find_member(connection: Connection, tenant_id: int, name: str) -> int:
    """The id of a member of a tenant."""
    query = select(members.c.id).where(members.c.tenant_id == tenant_id, members.c.name == name)
    found = connection.execute(query).scalar()
    if found is None:
        raise UserMistake(f"no member {name!r} in this tenant; add one with `reverie serve members --add NAME`")
    return int(found)


def remove_member(connection: Connection, tenant_id: int, name: str) -> None:
    """Remove a person and all of their tokens; what they wrote stays."""
    member = find_member(connection, tenant_id, name)
    connection.execute(delete(tokens).where(tokens.c.member_id == member))
    connection.execute(delete(members).where(members.c.id == member))


def create_token(
    connection: Connection,
    tenant_id: int,
    *,
    scope: str,
    repo: str | None,
    member_id: int | None,
    expires_at: int | None,
    now: int,
) -> tuple[str, int]:
    """A new token, which is shown once and never stored, and its id."""
    token = TOKEN_PREFIX + secrets.token_urlsafe(32)
    result = connection.execute(
        insert(tokens).values(
            tenant_id=tenant_id, member_id=member_id, hash=hash_token(token), repo=repo, scope=scope, created_at=now,
            expires_at=expires_at,
        )
    )  # fmt: skip
    key = result.inserted_primary_key
    assert key is not None
    return token, int(key[0])


def revoke_token(connection: Connection, token_id: int, now: int) -> int:
    """Make a token useless from now on; returns its tenant."""
    row = connection.execute(select(tokens.c.tenant_id).where(tokens.c.id == token_id)).first()
    if row is None:
        raise UserMistake(f"no token {token_id}; `reverie serve tokens` lists them")
    connection.execute(
        update(tokens).where(tokens.c.id == token_id, tokens.c.revoked_at.is_(None)).values(revoked_at=now)
    )
    return int(row[0])


def list_tokens(connection: Connection, tenant_id: int | None) -> list[dict[str, Any]]:
    """All tokens of a tenant, or of all; of each only what does not help to guess it."""
    query = (
        select(
            tokens.c.id, tenants.c.name.label("tenant"), members.c.name.label("member"), tokens.c.repo,
            tokens.c.scope, tokens.c.created_at, tokens.c.expires_at, tokens.c.revoked_at,
        )
        .select_from(tokens.join(tenants).outerjoin(members, members.c.id == tokens.c.member_id))
        .order_by(tokens.c.id)
    )  # fmt: skip
    if tenant_id is not None:
        query = query.where(tokens.c.tenant_id == tenant_id)
    return [dict(row) for row in connection.execute(query).mappings()]


def _check_name(name: str, what: str) -> None:
    if not _NAME.fullmatch(name):
        raise UserMistake(f"{name!r} is not a name for a {what}: letters, digits and . @ + - _, at most 100")
