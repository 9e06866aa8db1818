"""A team server as the remote of a team, over HTTP (`reverie serve`; docs/server.md has the protocol).

A pull asks with the ETag of the last one and gets 304, or what changed since. A push sends batches of at most 200 KB,
each with the hash of every entry as it was last seen: a batch is stored as a whole, or refused with 412 when somebody
else changed one of its entries. A batch whose answer was lost is sent again, which changes nothing where it was stored.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from reverie.errors import Conflict, Interrupted, RateLimited, Unauthenticated, Unavailable, UserMistake
from reverie.memory.team.entry import (
    RefusedEntry,
    SentChanges,
    TeamEntry,
    TeamSnapshot,
    hash_text,
    live_entry,
    tombstone,
)
from reverie.memory.team.rules import find_path_fault
from reverie.memory.topics.value import Trust
from reverie.models.connection import is_loopback, load_certificates
from reverie.settings.tree import TeamSettings
from reverie.values import value

if TYPE_CHECKING:
    import httpx2

Document = TypeVar("Document", bound=msgspec.Struct)

BODY_BYTES_MAX = 200_000
_ANSWER_BYTES_MAX = 1 << 27
_CONNECT_SECONDS_MAX = 10.0
_TRIES = 2
"""A connection that breaks in the middle of an answer is tried again at once; what is away altogether is not."""
_MESSAGE_CHARS = 300
_TRUSTS = frozenset(map(str, Trust))
_FULL = {
    "too_many_entries": "the server holds as many entries as it may",
    "repository_full": "the server holds as many bytes as it may",
    "too_many_repositories": "the organisation holds as many repositories as it may",
}


class _EntryAnswer(msgspec.Struct):
    """An entry as a server sends it."""

    sha256: str
    text: str = ""
    author: str = ""
    trust: str = ""
    deleted: bool = False


class _PullAnswer(msgspec.Struct):
    """The answer to a pull."""

    since: int
    entries: dict[str, _EntryAnswer]


class _PushAnswer(msgspec.Struct):
    """The answer to a batch."""

    changed: list[str]


class TokenOwner(msgspec.Struct):
    """For whom and what a token is."""

    tenant: str
    scope: str
    member: str | None = None
    repo: str | None = None


class _Refusal(msgspec.Struct):
    path: str
    rule: str
    line: int = 0
    detail: str = ""


class _Fault(msgspec.Struct):
    """Why a request was refused."""

    code: str = ""
    message: str = ""
    refused: list[_Refusal] = []
    paths: list[str] = []


class _FaultAnswer(msgspec.Struct):
    error: _Fault


@value
class _Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def fault(self) -> _Fault:
        try:
            return msgspec.json.decode(self.body, type=_FaultAnswer).error
        except msgspec.MsgspecError:
            return _Fault()


def is_server_address(address: str) -> bool:
    """Whether an address names a team server rather than a git repository."""
    text = address.strip().rstrip("/")
    return re.match(r"https?://", text, re.IGNORECASE) is not None and not text.endswith(".git")


def parse_server_address(address: str) -> str:
    """The base URL of a team server as it is kept.

    Raises:
        UserMistake: it holds a password, or the token would travel unencrypted.
    """
    text = address.strip().rstrip("/").removesuffix("/team_memory")
    parts = urlsplit(text)
    if not parts.hostname or parts.query or parts.fragment:
        raise UserMistake(f"{address!r} is not the address of a server; write https://HOST")
    if parts.username or parts.password:
        raise UserMistake("the address contains a password, which would be stored; give a token with --token-file")
    if parts.scheme.lower() == "http" and not is_loopback(text):
        raise UserMistake(
            f"{text} would receive your token unencrypted; write https:// (a proxy before the server provides it), "
            "or reach it through a tunnel on this machine"
        )
    return text


@dataclass(slots=True)
class HttpRemote:
    """One repository at a team server."""

    url: str
    repo: str
    token: str = field(repr=False)
    settings: TeamSettings

    def identify(self) -> TokenOwner:
        """For whom and what the token is.

        Raises:
            Unavailable: no team server answers, or it does not accept the token.
        """
        with self._connect() as client:
            answer = self._ask(client, "GET", "/whoami")
        return self._decode(answer, TokenOwner)

    def read_version(self) -> str:
        """The ETag of the repository."""
        with self._connect() as client:
            # Whatever the state is, "*" is equal to it: the answer is a 304 without entries.
            answer = self._ask(client, "GET", "/team_memory", {"repo": self.repo}, headers={"if-none-match": "*"})
        return answer.headers.get("etag", "")

    def fetch(self, known: Mapping[str, TeamEntry], version: str) -> TeamSnapshot | None:
        """What the server holds; None when it is still at `version`."""
        headers = {"if-none-match": version} if version else {}
        query = {"repo": self.repo, **({"since": version} if version else {})}
        with self._connect() as client:
            answer = self._ask(client, "GET", "/team_memory", query, headers=headers)
        if answer.status == 304:
            return None
        document = self._decode(answer, _PullAnswer)
        etag = answer.headers.get("etag", "")
        if not etag or (document.since and document.since != _read_number(version)):
            raise self._stranger(answer)
        entries: dict[str, TeamEntry] = dict(known) if document.since else {}
        refused: list[RefusedEntry] = []
        for path, row in document.entries.items():
            fault = find_path_fault(path)
            if not fault and not row.deleted and hash_text(row.text) != row.sha256:
                fault = "a text that does not have its SHA-256"
            if fault:
                refused.append(RefusedEntry(path if path.isprintable() else ascii(path), fault))
                entries.pop(path, None)
            else:
                entries[path] = _read_entry(row, known.get(path))
        refused += self._drop_surplus(entries, known)
        return TeamSnapshot(etag, entries, tuple(refused))

    def send(self, snapshot: TeamSnapshot, changes: Mapping[str, TeamEntry]) -> SentChanges:
        """Send the changes in batches, deletions first: they make room."""
        rows = {path: _write_entry(entry, snapshot.entries.get(path)) for path, entry in changes.items()}
        order = sorted(rows, key=lambda path: (not rows[path].get("deleted", False), not rows[path]["base_sha256"]))
        sending = _Sending(snapshot.version)
        with self._connect() as client:
            for batch in _split(order, rows):
                self._send_batch(client, batch, rows, sending)
        return SentChanges(sending.version, tuple(sending.refused))

    def erase(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Redact the earlier texts of entries at the server."""
        kept: dict[str, None] = {}
        with self._connect() as client:
            for path in paths:
                try:
                    self._ask(client, "DELETE", "/team_memory/versions", {"repo": self.repo, "path": path})
                except Unavailable as problem:
                    kept[f"versions of {path}: {problem}"] = None
        return tuple(kept)

    def _send_batch(
        self, client: httpx2.Client, batch: Sequence[str], rows: Mapping[str, dict[str, Any]], sending: _Sending
    ) -> None:
        """Send one batch; where the server refuses entries of it, name them and send the rest."""
        paths = [path for path in batch if not (sending.full and _is_new(rows[path]))]
        sending.refuse(set(batch) - set(paths), sending.full)
        while paths:
            body = msgspec.json.encode({"entries": {path: rows[path] for path in paths}})
            query = {"repo": self.repo}
            answer = self._ask(client, "PUT", "/team_memory", query, content=body, passes=(409, 412, 413, 422))
            if answer.status == 200:
                sending.note_stored(answer.headers.get("etag", ""), self._decode(answer, _PushAnswer).changed)
                return
            fault = answer.fault
            if answer.status == 412:
                raise Conflict(f"others keep changing {self.repo} at {self.url}; run `reverie team push` again")
            named = {each.path: each for each in fault.refused if each.path in paths}
            if named:
                sending.refused += [_describe_refusal(each) for each in named.values()]
                paths = [path for path in paths if path not in named]
            elif fault.paths and fault.paths[0] in paths:
                sending.refuse(fault.paths[:1], _shorten(fault.message))
                paths.remove(fault.paths[0])
            elif len(paths) > 1:
                half = len(paths) // 2
                self._send_batch(client, paths[:half], rows, sending)
                self._send_batch(client, paths[half:], rows, sending)
                return
            else:
                rule = _FULL.get(fault.code, _shorten(fault.message) or f"the server answered {answer.status}")
                sending.refuse(paths, rule)
                if fault.code in _FULL and _is_new(rows[paths[0]]):
                    sending.full = rule
                return

    def _drop_surplus(self, entries: dict[str, TeamEntry], known: Mapping[str, TeamEntry]) -> list[RefusedEntry]:
        """Leave out what is more than this machine takes; those that are known stay."""
        live = sorted((path for path, entry in entries.items() if not entry.is_deleted), key=lambda p: p not in known)
        surplus = live[self.settings.max_entries :]
        for path in surplus:
            del entries[path]
        return [RefusedEntry(path, f"more than {self.settings.max_entries:,} entries") for path in surplus]

    @contextmanager
    def _connect(self) -> Iterator[httpx2.Client]:
        try:
            import httpx2
        except ImportError:
            raise UserMistake("httpx2 is not installed; run `pip install 'reverie[team]'`") from None
        seconds = self.settings.timeout_seconds
        with httpx2.Client(
            verify=load_certificates(),
            timeout=httpx2.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS_MAX)),
            trust_env=not is_loopback(self.url),
            headers={"authorization": f"Bearer {self.token}", "accept-encoding": "identity"},
        ) as client:
            yield client

    def _ask(
        self,
        client: httpx2.Client,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        passes: Sequence[int] = (),
    ) -> _Answer:
        """One request; every status but success, 304 and those of `passes` is raised."""
        import httpx2

        deadline = time.monotonic() + self.settings.timeout_seconds
        for attempt in range(_TRIES):
            try:
                with client.stream(method, self.url + path, params=query, headers=headers, content=content) as response:
                    answer = _Answer(response.status_code, response.headers, self._read(response, deadline))
                    break
            except (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError) as problem:
                if attempt + 1 == _TRIES:
                    raise Interrupted(f"the connection to {self.url} broke: {problem or 'closed'}") from problem
            except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as problem:
                reason = str(problem) or type(problem).__name__
                raise Unavailable(f"cannot reach {self.url}: {reason}; check the address and the network") from problem
        if answer.status in (200, 304, *passes):
            return answer
        raise self._failure(answer)

    def _read(self, response: httpx2.Response, deadline: float) -> bytes:
        body = bytearray()
        for piece in response.iter_bytes():
            body += piece
            if len(body) > _ANSWER_BYTES_MAX:
                raise Unavailable(f"{self.url} sends more than {_ANSWER_BYTES_MAX:,} bytes; nothing was taken")
            if time.monotonic() > deadline:
                seconds = self.settings.timeout_seconds
                raise Unavailable(f"{self.url} took longer than {seconds:g} s (team.timeout_seconds)")
        return bytes(body)

    def _failure(self, answer: _Answer) -> Unavailable:
        status, message = answer.status, _shorten(answer.fault.message)
        wait = answer.headers.get("retry-after", "")
        seconds = float(wait) if wait.isdecimal() else None
        if 300 <= status < 400 or status in (404, 405) or (status in (401, 403) and not answer.fault.code):
            return self._stranger(answer)
        if status == 401:
            again = f"run `reverie team join {self.url} --repo {self.repo} --token-file FILE` with a new token"
            return Unauthenticated(f"{self.url} does not accept the token: {message}; {again}", status=status)
        if status == 403:
            return Unauthenticated(f"{self.url} does not allow it: {message}; ask who runs the server", status=status)
        if status == 429:
            return RateLimited(f"{self.url}: {message}", status=status, retry_after_seconds=seconds)
        return Unavailable(
            f"{self.url} answered {status}{': ' if message else ''}{message}",
            status=status,
            retry_after_seconds=seconds,
        )

    def _stranger(self, answer: _Answer) -> Unavailable:
        place = answer.headers.get("location")
        where = f" (it leads to {_shorten(place)})" if place else ""
        return Unavailable(
            f"no team server answers at {self.url}{where}; check the address, or for a git repository write "
            f"git+{self.url}",
            status=answer.status,
        )

    def _decode(self, answer: _Answer, kind: type[Document]) -> Document:
        try:
            return msgspec.json.decode(answer.body, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
            raise self._stranger(answer) from problem


@dataclass(slots=True)
class _Sending:
    """How far a push got."""

    version: str
    refused: list[RefusedEntry] = field(default_factory=list)
    full: str = ""
    """Why new entries are not stored any more."""
    _is_alone: bool = True

    def note_stored(self, etag: str, changed: Sequence[str]) -> None:
        """Follow the version as long as nobody else wrote in between; what they wrote is pulled next time."""
        is_next = bool(changed) and _read_number(etag) == _read_number(self.version) + 1
        is_next = is_next and (not _read_number(self.version) or _read_epoch(etag) == _read_epoch(self.version))
        if self._is_alone and is_next:
            self.version = etag
        elif changed or etag != self.version:
            self._is_alone = False

    def refuse(self, paths: Sequence[str] | set[str], rule: str) -> None:
        self.refused += [RefusedEntry(path, rule, 0, "out") for path in sorted(paths)]


def _split(order: Sequence[str], rows: Mapping[str, dict[str, Any]]) -> Iterator[list[str]]:
    """Paths in batches whose bodies fit; an entry that is too large alone is left to the server's judgement."""
    batch: list[str] = []
    room = BODY_BYTES_MAX
    for path in order:
        size = len(msgspec.json.encode({path: rows[path]}))
        if batch and size > room:
            yield batch
            batch, room = [], BODY_BYTES_MAX
        batch.append(path)
        room -= size
    if batch:
        yield batch


def _is_new(row: Mapping[str, Any]) -> bool:
    return not row.get("deleted", False) and not row["base_sha256"]


def _write_entry(entry: TeamEntry, base: TeamEntry | None) -> dict[str, Any]:
    """An entry as it is sent, with the hash that both sides last agreed on."""
    row: dict[str, Any] = {"base_sha256": "" if base is None or base.is_deleted else base.sha256}
    if entry.text is None:
        return {**row, "author": entry.author, "deleted": True}
    trust = {"trust": entry.trust} if entry.trust in _TRUSTS else {}
    return {**row, **trust, "text": entry.text, "sha256": entry.sha256, "author": entry.author}


def _read_entry(row: _EntryAnswer, known: TeamEntry | None) -> TeamEntry:
    if row.deleted:
        return tombstone(row.sha256 or ("" if known is None else known.sha256), row.author)
    return live_entry(row.text, row.author, row.trust if row.trust in _TRUSTS else "")


def _describe_refusal(refusal: _Refusal) -> RefusedEntry:
    is_secret = "secret" in refusal.detail
    rule = f"possible secret ({refusal.rule})" if is_secret else _shorten(refusal.detail) or refusal.rule
    return RefusedEntry(refusal.path, rule, refusal.line, "out")


def _read_number(etag: str) -> int:
    """The version in an ETag, `"EPOCH.NUMBER"`; 0 for a repository that nobody wrote to."""
    number = etag.strip('"').rpartition(".")[2]
    return int(number) if number.isdecimal() and len(number) <= 18 else 0


def _read_epoch(etag: str) -> str:
    """Which life of the repository an ETag is of: a restored one begins a new life."""
    return etag.strip('"').rpartition(".")[0]


def _shorten(message: str) -> str:
    """A sentence of the server as it may be shown: one printable line."""
    flat = " ".join("".join(char if char.isprintable() else " " for char in message).split())
    return flat[:_MESSAGE_CHARS]
