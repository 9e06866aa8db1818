"""The body of a PUT: entries by path, checked before the database is asked anything.

Everything that can be wrong without knowing what is stored is found here: form, paths, hashes, sizes, secrets, and
memories that are private by their type.
A batch with one bad entry is refused as a whole; the answer lists every bad entry.
"""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec

from reverie.apps.server.entry_paths import find_path_problem, fold_path
from reverie.apps.server.faults import RequestFault
from reverie.apps.server.limits import Limits
from reverie.errors import Damaged
from reverie.files import secret_scan
from reverie.memory.topics.scope import find_private_reason
from reverie.memory.topics.topic import parse_topic
from reverie.values import value

_AUTHOR_CHARS_MAX = 200
_REFUSALS_LISTED_MAX = 50


class EntryDocument(msgspec.Struct, forbid_unknown_fields=True):
    """One entry as a client sends it."""

    text: str = ""
    sha256: str = ""
    author: str = ""
    trust: Literal["said", "inferred", "seen"] = "inferred"
    deleted: bool = False
    base_sha256: str | None = None
    """The hash that the client last saw on the server: empty for none or deleted; unset leaves it to If-Match."""


class BatchDocument(msgspec.Struct, forbid_unknown_fields=True):
    """A body of PUT."""

    entries: dict[str, EntryDocument]
    version: int | None = None
    """What the client believes the version to be; If-Match decides."""


@value
class NewEntry:
    """One entry of a batch that passed every check."""

    path: str
    folded: str
    text: str
    size_bytes: int
    sha256: str
    author: str
    trust: str
    deleted: bool
    base_sha256: str | None


def parse_batch(body: bytes, limits: Limits) -> list[NewEntry]:
    """Read and check a body. Raises `RequestFault`; nothing is stored before this returns."""
    try:
        document = msgspec.json.decode(body, type=BatchDocument)
    except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
        raise RequestFault(400, "malformed", f"the body is not a batch of entries: {problem}") from problem
    if len(document.entries) > limits.max_entries:
        raise RequestFault(
            413, "too_many_entries", f"the batch has {len(document.entries)} entries; the limit is {limits.max_entries}"
        )
    refused: list[dict[str, object]] = []
    entries = []
    for path, entry in document.entries.items():
        refusal = _find_problem(path, entry, limits)
        if refusal is None:
            entries.append(_accept(path, entry))
        else:
            refused.append({"path": path[:200], **refusal})
    if refused:
        raise _refusal(refused)
    _refuse_collisions(entries)
    return entries


def _accept(path: str, entry: EntryDocument) -> NewEntry:
    size = len(entry.text.encode())
    return NewEntry(
        path, fold_path(path), entry.text, size, entry.sha256, entry.author, entry.trust, entry.deleted,
        entry.base_sha256,
    )  # fmt: skip


def _find_problem(path: str, entry: EntryDocument, limits: Limits) -> dict[str, object] | None:
    if path_problem := find_path_problem(path):
        return {"rule": "path", "detail": f"the path {path_problem}"}
    if len(entry.author) > _AUTHOR_CHARS_MAX or not entry.author.isprintable():
        return {"rule": "author", "detail": f"author is not one printable line of {_AUTHOR_CHARS_MAX} characters"}
    if entry.base_sha256 is not None and not _is_hash_or_empty(entry.base_sha256):
        return {"rule": "base_sha256", "detail": "base_sha256 is neither empty nor a SHA-256 in lower-case hex"}
    if entry.deleted:
        is_empty = not entry.text and not entry.sha256
        return None if is_empty else {"rule": "deleted", "detail": "a deleted entry has no text and no sha256"}
    return _find_text_problem(entry, limits)


def _find_text_problem(entry: EntryDocument, limits: Limits) -> dict[str, object] | None:
    try:
        text = entry.text.encode()
    except UnicodeEncodeError:
        return {"rule": "text", "detail": "the text has half of a surrogate pair"}
    if b"\0" in text:
        return {"rule": "text", "detail": "the text has a NUL character"}
    if len(text) > limits.max_file_bytes:
        detail = f"the text has {len(text)} bytes; the limit is {limits.max_file_bytes}"
        return {"rule": "too_large", "detail": detail}
    if hashlib.sha256(text).hexdigest() != entry.sha256:
        return {"rule": "sha256", "detail": "sha256 is not the hash of the text"}
    if findings := secret_scan.scan(entry.text):
        detail = "possible secret; remove it, then push again"
        return {"rule": findings[0].rule, "line": findings[0].line, "detail": detail}
    if reason := _find_private_reason(entry.text):
        return {"rule": "private", "detail": reason}
    return None


def _find_private_reason(text: str) -> str:
    """Why a memory must not be shared, by its type; the same rule as on every client."""
    try:
        return find_private_reason(parse_topic("entry.md", text)).partition(";")[0]
    except Damaged:
        return ""


_STATUS = {"too_large": 413}


def _refusal(refused: list[dict[str, object]]) -> RequestFault:
    rules = {str(each["rule"]) for each in refused}
    known = {"path", "author", "base_sha256", "deleted", "text", "too_large", "sha256", "private"}
    code = next(iter(rules)) if len(rules) == 1 else "refused"
    if rules - known:
        code = "secret"
    count = f"{len(refused)} {'entry was' if len(refused) == 1 else 'entries were'} refused"
    return RequestFault(
        _STATUS.get(code, 422), code, f"{count} and nothing was stored: {refused[0]['detail']}",
        refused=refused[:_REFUSALS_LISTED_MAX],
    )  # fmt: skip


def _refuse_collisions(entries: list[NewEntry]) -> None:
    paths: dict[str, str] = {}
    for entry in entries:
        if not entry.deleted and paths.setdefault(entry.folded, entry.path) != entry.path:
            raise path_collision(entry.path, paths[entry.folded])


def path_collision(path: str, other: str) -> RequestFault:
    """Two live paths that are one file where case or Unicode form does not count."""
    message = f"{path} and {other} would be one file on a system that ignores case or Unicode form; rename one"
    return RequestFault(409, "path_collision", message, paths=[path, other])


def _is_hash_or_empty(text: str) -> bool:
    return not text or (len(text) == 64 and set(text) <= set("0123456789abcdef"))
