"""The OpenAPI document of the server, served at `/openapi.json`."""

from __future__ import annotations

from typing import Any

from reverie import __version__

_HASH = {"type": "string", "pattern": "^([0-9a-f]{64})?$"}
_TRUST = {"type": "string", "enum": ["said", "inferred", "seen"]}
_REPO = {
    "name": "repo",
    "in": "query",
    "required": True,
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
    "description": "The repository, such as owner/name; case and a final .git do not count.",
}
_PATH = {
    "name": "path",
    "in": "query",
    "required": True,
    "schema": {"type": "string", "minLength": 1, "maxLength": 512},
    "description": "The path of an entry.",
}


def build_document(max_body_bytes: int) -> dict[str, Any]:
    """The document of a server with this limit for bodies."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Reverie team memory",
            "version": __version__,
            "description": f"Entries of a repository, shared by a team. A body has at most {max_body_bytes} bytes.",
        },
        "security": [{"token": []}],
        "paths": {
            "/team_memory": {"get": _pull(), "put": _push()},
            "/team_memory/versions": {"get": _list_versions(), "delete": _redact_versions()},
            "/whoami": {"get": _operation("whoami", "What the token may do", {"200": _json("Whoami")}, [])},
            "/healthz": {"get": _open_operation("health", "Whether the server reaches its database", "Health")},
            "/metrics": {"get": _open_operation("metrics", "ServerMetrics for Prometheus", None)},
            "/openapi.json": {"get": _open_operation("openapi", "This document", "Anything")},
        },
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": _schemas(),
        },
    }


def _pull() -> dict[str, Any]:
    parameters = [
        _REPO,
        _header("If-None-Match", "The ETag of the last pull; 304 when nothing changed."),
        _query("since", {"type": "string"}, "An ETag: only entries that changed after it."),
        _query("view", {"type": "string", "enum": ["full", "hashes"]}, "hashes leaves the texts out."),
    ]
    answers = {"200": {**_json("Repository"), "headers": _ETAG}, "304": {"description": "Nothing changed."}}
    return _operation("pull", "All entries, or those that changed", answers, parameters)


def _push() -> dict[str, Any]:
    parameters = [
        _REPO,
        _header("If-Match", "The ETag of the last pull; not needed when every entry has base_sha256."),
    ]
    answers = {
        "200": {**_json("Written"), "headers": _ETAG},
        "409": _fault("Two paths that are one file where case or Unicode form does not count."),
        "412": _fault("The repository or some entries changed since; error.conflicts lists the entries."),
        "413": _fault("The body, an entry or the repository is too large."),
        "415": _fault("The body is compressed."),
        "422": _fault("Entries were refused: path, hash or a possible secret; error.refused lists them."),
        "428": _fault("Neither If-Match nor base_sha256 was sent."),
    }
    operation = _operation("push", "Store a batch of entries, all or none", answers, parameters)
    operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": _ref("Batch")}}}
    return operation


def _list_versions() -> dict[str, Any]:
    return _operation("list_versions", "The kept texts of an entry", {"200": _json("Versions")}, [_REPO, _PATH])


def _redact_versions() -> dict[str, Any]:
    return _operation("redact_versions", "Remove earlier texts", {"200": _json("Redacted")}, [_REPO, _PATH])


def _operation(name: str, summary: str, answers: dict[str, Any], parameters: list[dict[str, Any]]) -> dict[str, Any]:
    faults = {
        "400": _fault("The request is malformed."),
        "401": _fault("The token is missing, unknown, revoked or expired."),
        "403": _fault("The token is not for this repository, or its scope is too small."),
        "429": _fault("Too many requests with this token; Retry-After says how long to wait."),
        "503": _fault("The database cannot be reached; Retry-After says how long to wait."),
    }
    return {"operationId": name, "summary": summary, "parameters": parameters, "responses": {**answers, **faults}}


def _open_operation(name: str, summary: str, schema: str | None) -> dict[str, Any]:
    answer = {"description": "OK", "content": {"text/plain": {}}} if schema is None else _json(schema)
    return {
        "operationId": name,
        "summary": summary,
        "security": [],
        "responses": {"200": answer, "503": _fault("The database cannot be reached.")},
    }


_ETAG = {"ETag": {"schema": {"type": "string"}, "description": "The state of the repository."}}


def _header(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "in": "header", "required": False, "schema": {"type": "string"}, "description": description}


def _query(name: str, schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": schema, "description": description}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _json(name: str) -> dict[str, Any]:
    return {"description": "OK", "content": {"application/json": {"schema": _ref(name)}}}


def _fault(description: str) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": _ref("Fault")}}}


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "properties": properties}


def _schemas() -> dict[str, Any]:
    text, number, switch = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
    entry = {
        "text": text, "sha256": _HASH, "author": {"type": "string", "maxLength": 200}, "trust": _TRUST,
        "deleted": switch,
    }  # fmt: skip
    new = {**_object([], **entry, base_sha256={"oneOf": [_HASH, {"type": "null"}]}), "additionalProperties": False}
    stored = _object(
        ["sha256", "author", "author_verified", "trust", "deleted", "version"],
        **entry,
        author_verified=switch,
        version=number,
    )
    version = _object(
        ["revision", "version", "text", "sha256", "author", "trust", "deleted", "written_at", "redacted"],
        **{**entry, "text": {"type": ["string", "null"]}},
        revision=number,
        version=number,
        author_verified=switch,
        written_at=number,
        redacted=switch,
    )
    batch = {"type": "object", "additionalProperties": new}
    return {
        "Batch": {
            **_object(["entries"], entries=batch, version={"type": ["integer", "null"]}),
            "additionalProperties": False,
        },
        "Repository": _object(
            ["version", "since", "entries"],
            version=number,
            since=number,
            entries={"type": "object", "additionalProperties": stored},
        ),
        "Written": _object(["version", "changed"], version=number, changed={"type": "array", "items": text}),
        "Versions": _object(["path", "versions"], path=text, versions={"type": "array", "items": version}),
        "Redacted": _object(["path", "redacted"], path=text, redacted=number),
        "Whoami": _object(["tenant", "member", "scope", "repo", "limits"], tenant=text, scope=text),
        "Health": _object(["status", "version", "database"], status=text, version=text, database=text),
        "Fault": _object(["error"], error=_object(["code", "message"], code=text, message=text)),
        "Anything": {"type": "object"},
    }
