"""What this machine knows of the team: the remote that was joined, and what both sides last agreed on.

Everything lies in one folder below the memory directory's own state. Texts are files named by their SHA-256 and are
written before the list that names them, so a kill at any point leaves the old state or the new one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Any

from reverie.errors import Damaged
from reverie.files import flush, read_small, remove_file, write_atomic, write_folder
from reverie.files.places.paths import MemoryFolder
from reverie.memory.team.entry import RefusedEntry, TeamEntry, clean_name, hash_text
from reverie.values import value

_MOST_BYTES = 1 << 24


@value
class TeamFolder:
    """Where the state of one memory directory's team lies."""

    directory: Path

    @property
    def joined(self) -> Path:
        return self.directory / "joined.json"

    @property
    def agreed(self) -> Path:
        return self.directory / "agreed.json"

    @property
    def sending(self) -> Path:
        return self.directory / "sending.json"

    @property
    def problems(self) -> Path:
        return self.directory / "problems.json"

    @property
    def texts(self) -> Path:
        return self.directory / "texts"

    @property
    def git(self) -> Path:
        """The objects of a git remote; derived, may be deleted."""
        return self.directory / "remote.git"

    @property
    def lock(self) -> Path:
        return self.directory / "sync.lock"


@value
class Joined:
    """The remote that was joined."""

    remote: str
    name: str
    """Under which name this person shares."""
    email: str = ""
    repo: str = ""
    """The repository at a team server; empty for a git remote."""
    is_active: bool = True
    """False after `leave`: the agreement is kept, so that joining again brings nothing back that was deleted."""
    may_push: bool = False
    """Whether the user has agreed to share with this remote."""

    @property
    def place(self) -> str:
        """The remote as people name it."""
        return f"{self.remote} ({self.repo})" if self.repo else self.remote


@value
class AgreedState:
    """What both sides last agreed on."""

    version: str = ""
    entries: Mapping[str, TeamEntry] = field(default_factory=dict)
    refused: tuple[RefusedEntry, ...] = ()
    """What the last pull did not take."""
    pulled: datetime | None = None
    mine: frozenset[str] = frozenset()
    """Paths whose text was written on this machine. A name is no proof: anybody can take one."""
    is_complete: bool = True
    """False when the last pull could not take everything; the next one asks for all of it again."""


@value
class SyncProblem:
    """Why the last exchange failed, by cause; gone once an exchange succeeds."""

    cause: str
    """`unreachable`, `token`, `permission`, `rate`, `deletions`, `conflict` or `state`."""
    message: str
    since: datetime


def team_folder(folder: MemoryFolder) -> TeamFolder:
    """Where the team state of a memory directory lies."""
    return TeamFolder(folder.state / "team")


def read_joined(folder: TeamFolder) -> Joined | None:
    """The remote that was joined, also one that was left; None where there was never one.

    Raises:
        Damaged: the file cannot be read.
    """
    content = read_small(folder.joined)
    if content is None:
        return None
    row = _parse(folder.joined, content)
    try:
        return Joined(
            str(row["remote"]),
            clean_name(str(row["name"])),
            str(row.get("email", "")),
            str(row.get("repo", "")),
            is_active=row.get("active") is True,
            may_push=row.get("may_push") is True,
        )
    except (KeyError, AttributeError) as error:
        raise _damage(folder.joined) from error


def write_joined(folder: TeamFolder, joined: Joined) -> None:
    """Keep which remote was joined."""
    write_folder(folder.directory)
    row = {
        "remote": joined.remote,
        "name": joined.name,
        "email": joined.email,
        **({"repo": joined.repo} if joined.repo else {}),
        "active": joined.is_active,
        "may_push": joined.may_push,
    }
    write_atomic(folder.joined, json.dumps(row, ensure_ascii=False, indent=2) + "\n")


def read_agreed(folder: TeamFolder, *, with_texts: bool = True) -> AgreedState:
    """What both sides agreed on; nothing where they never did.

    Without `with_texts` live entries have an empty text, which is enough to compare hashes.

    Raises:
        Damaged: the list cannot be read.
    """
    content = read_small(folder.agreed, limit_bytes=_MOST_BYTES)
    if content is None:
        return AgreedState()
    row = _parse(folder.agreed, content)
    try:
        entries = {
            path: TeamEntry(
                None if entry["deleted"] else _read_text(folder, entry["sha256"]) if with_texts else "",
                entry["sha256"],
                clean_name(entry["author"]),
                entry["trust"],
            )
            for path, entry in row["entries"].items()
        }
        refused = tuple(RefusedEntry(each["path"], each["rule"], each["line"]) for each in row["refused"])
        pulled = datetime.fromisoformat(row["pulled"]) if row["pulled"] else None
        mine = frozenset(path for path, entry in row["entries"].items() if entry.get("mine") is True)
        is_complete = row.get("complete", True) is True
        return AgreedState(str(row["version"]), entries, refused, pulled, mine, is_complete)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise _damage(folder.agreed) from error


def write_agreed(folder: TeamFolder, state: AgreedState) -> None:
    """Keep what both sides agree on now."""
    write_folder(folder.texts)
    wanted = {entry.sha256: entry.text for entry in state.entries.values() if entry.text is not None}
    present = {path.name for path in folder.texts.iterdir()}
    new = sorted(wanted.keys() - present)
    for name in new:
        write_atomic(folder.texts / name, wanted[name] or "", durable=False)
    flush((*(folder.texts / name for name in new), folder.texts) if new else ())
    row = {
        "version": state.version,
        "pulled": state.pulled.isoformat() if state.pulled else None,
        "complete": state.is_complete,
        "entries": {
            path: {
                "sha256": entry.sha256,
                "author": entry.author,
                "trust": entry.trust,
                "deleted": entry.is_deleted,
                "mine": path in state.mine,
            }
            for path, entry in sorted(state.entries.items())
        },
        "refused": [{"path": each.path, "rule": each.rule, "line": each.line} for each in state.refused],
    }
    write_atomic(folder.agreed, json.dumps(row, ensure_ascii=False, indent=1) + "\n")
    for name in present - wanted.keys():
        with suppress(OSError):
            (folder.texts / name).unlink()


def remove_agreed(folder: TeamFolder) -> None:
    """Forget what was agreed with a remote that is joined no more."""
    for path in (folder.agreed, folder.sending, folder.problems):
        remove_file(path)


def read_sending(folder: TeamFolder) -> dict[str, tuple[str, ...]]:
    """Path → hashes of texts that were sent and never confirmed; the hash of a deletion is empty."""
    content = read_small(folder.sending, limit_bytes=_MOST_BYTES)
    if content is None:
        return {}
    try:
        return {str(path): tuple(map(str, hashes)) for path, hashes in _parse(folder.sending, content).items()}
    except (AttributeError, TypeError) as error:
        raise _damage(folder.sending) from error


def write_sending(folder: TeamFolder, sending: Mapping[str, tuple[str, ...]]) -> None:
    """Keep what is about to be sent; an answer that is lost does not turn an own text into somebody else's."""
    if sending:
        write_atomic(folder.sending, json.dumps(sending, ensure_ascii=False) + "\n")
    else:
        remove_file(folder.sending)


def read_problems(folder: TeamFolder) -> dict[str, SyncProblem]:
    """Why exchanges fail at present, by cause; nothing where the list cannot be read."""
    with suppress(Damaged, KeyError, TypeError, AttributeError, ValueError):
        rows = _parse(folder.problems, read_small(folder.problems) or b"{}")
        return {
            str(cause): SyncProblem(str(cause), str(row["message"]), datetime.fromisoformat(row["since"]))
            for cause, row in rows.items()
        }
    return {}


def write_problems(folder: TeamFolder, problems: Mapping[str, SyncProblem]) -> None:
    """Keep why exchanges fail."""
    if problems:
        rows = {cause: {"message": each.message, "since": each.since.isoformat()} for cause, each in problems.items()}
        write_folder(folder.directory)
        write_atomic(folder.problems, json.dumps(rows, ensure_ascii=False, indent=1) + "\n", durable=False)
    else:
        remove_file(folder.problems, durable=False)


def _read_text(folder: TeamFolder, sha256: str) -> str:
    """A text by its hash.

    Raises:
        Damaged: it is missing or is not that text.
    """
    path = folder.texts / Path(sha256).name
    content = read_small(path, limit_bytes=_MOST_BYTES)
    if content is None or hash_text(text := content.decode("utf-8", "replace")) != sha256:
        raise _damage(path)
    return text


def _parse(path: Path, content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise _damage(path) from error


def _damage(path: Path) -> Damaged:
    return Damaged(
        f"{path} cannot be read; run `reverie team leave --forget` and join again (memories stay as they are)",
        path=path,
    )
