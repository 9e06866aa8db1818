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
    is_active: bool = True
    """False after `leave`: the agreement is kept, so that joining again brings nothing back that was deleted."""
    may_push: bool = False
    """Whether the user has agreed to share with this remote."""


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
        return AgreedState(str(row["version"]), entries, refused, pulled, mine)
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
    remove_file(folder.agreed)


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
