"""What the team server stands for."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "server:pull:etag": Requirement(
        "A pull gives all entries with hash, author and trust, or 304 when the ETag is the present one; `since` gives "
        "only what changed after an ETag, `view=hashes` no texts"
    ),
    "server:push:all-or-nothing": Requirement("A batch is stored as one version or changes nothing"),
    "server:push:conflict": Requirement(
        "A push over something that its author has not seen is refused with 412 and the present hashes; what is stored "
        "already is accepted again without a new version"
    ),
    "server:push:tombstone": Requirement(
        "A deletion stays as a tombstone, refuses an edit of the deleted text, and does not prevent a new entry"
    ),
    "server:paths": Requirement("A path that some client could not store as that file below its folder is refused"),
    "server:hash": Requirement("A text that does not have the hash that is claimed for it is refused"),
    "server:body-limit": Requirement("A body that is too large is refused; one that says so is not read"),
    "server:secrets": Requirement("An entry with a possible secret is refused by rule and line, never by text"),
    "server:private": Requirement(
        "A memory about a person or of one person's way to work is refused, whoever sends it"
    ),
    "server:limits": Requirement("A tenant stores as many entries, bytes and repositories as its limits allow"),
    "server:tenants:apart": Requirement(
        "A token sees and changes its own tenant only; on PostgreSQL the database itself keeps tenants apart"
    ),
    "server:tokens": Requirement(
        "A token works for its repository and scope until it expires or is revoked; only its hash is stored"
    ),
    "server:author": Requirement("Who wrote an entry is the member of the token, whatever the client says"),
    "server:oidc": Requirement("A token of the identity provider counts when it is valid and names a member"),
    "server:rate": Requirement("A token that asks too often is told how long to wait"),
    "server:versions": Requirement("Earlier texts are kept up to a limit and can be redacted by who may"),
    "server:audit": Requirement("Every change is recorded with who made it, without texts"),
    "server:observable": Requirement(
        "Health, figures for Prometheus and a line of JSON for each request; none holds content or a token"
    ),
    "server:openapi": Requirement("The OpenAPI document describes every route, and no request it allows ends in a 500"),
    "server:unavailable": Requirement("Without its database the server answers 503, and recovers by itself"),
    "server:commands": Requirement(
        "Tenants, tokens, members, limits and the audit log are managed from the command line"
    ),
    "server:retention": Requirement("What is older than the settings say is removed; the present texts never are"),
    "server:backup": Requirement("A backup restores into an empty database of either kind, or not at all"),
    "server:runs": Requirement("`reverie serve` prints its URL first and listens on this machine only unless told"),
    "server:replicas": Requirement("Two servers on one PostgreSQL give the same guarantees as one"),
    "server:killed": Requirement("A server killed in the middle of a batch loses no write that it acknowledged"),
}
