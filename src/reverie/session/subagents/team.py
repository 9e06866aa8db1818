"""Who belongs to a team: one file per member beside the mailboxes, naming the process that plays it.

A member whose process is gone counts no longer, so nobody waits for the dead. Members are asked to leave by a letter
(`shutdown_request`); no process ends another's.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from reverie.files import Holder, is_gone, present_holder, remove_file, write_atomic
from reverie.files.places.paths import agent_folder_name
from reverie.values import value

LEADER = "main"
"""How a team calls the session that started it."""
_SUFFIX = ".member.json"


@value
class Member:
    """One agent of a team, in a process of its own."""

    name: str
    kind: str
    """Its role; empty for a plain session."""
    session: str
    process: Holder
    is_alive: bool = True


def write_member(folder: Path, name: str, kind: str, session: str, now: datetime) -> None:
    """Say that this process plays a member of the team."""
    process = present_holder(f"teammate {name}", now)
    row = {
        "name": name,
        "kind": kind,
        "session": session,
        "process": asdict(process) | {"since": process.since.isoformat()},
    }
    write_atomic(_place(folder, name), json.dumps(row, ensure_ascii=False), durable=False)


def remove_member(folder: Path, name: str) -> None:
    """Say that nobody plays this member any more."""
    remove_file(_place(folder, name), durable=False)


def list_members(folder: Path, *, now: datetime) -> tuple[Member, ...]:
    """All members, by name; those whose process is gone are marked so."""
    members = (_read(path, now) for path in sorted(folder.glob(f"*{_SUFFIX}")))
    return tuple(member for member in members if member is not None)


def _read(path: Path, now: datetime) -> Member | None:
    try:
        row: dict[str, Any] = json.loads(path.read_bytes())
        process = row["process"]
        holder = Holder(**process | {"since": datetime.fromisoformat(process["since"])})
        return Member(str(row["name"]), str(row["kind"]), str(row["session"]), holder, not is_gone(holder, now))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _place(folder: Path, name: str) -> Path:
    return folder / f"{agent_folder_name(name)}{_SUFFIX}"
