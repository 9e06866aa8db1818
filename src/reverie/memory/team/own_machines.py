"""`PersonalSync`: one person's private memory on several machines, over a branch of a git repository.

Everything in a memory directory travels but for `team/` and what is derived or archived; the merge is that of team
memory. A repository of one's own holds a branch for each project and one for the user memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.errors import Error, Refused, UserMistake
from reverie.files.git import ask_git
from reverie.memory.store.topic_store import Store
from reverie.memory.store.worktree import TEAM
from reverie.memory.team.entry import clean_name
from reverie.memory.team.state import (
    AgreedState,
    Joined,
    TeamFolder,
    read_agreed,
    read_joined,
    remove_agreed,
    write_joined,
)
from reverie.settings.load import process_environment
from reverie.settings.tree import TeamSettings
from reverie.values import value

if TYPE_CHECKING:
    from reverie.files.places.paths import MemoryFolder
    from reverie.memory.team.git_remote import GitRemote
    from reverie.memory.team.sync import OutgoingChange, SyncReport, TeamSync

BRANCHES = "reverie-sync/"
USER_NAME = "user"
"""The name of the user memory at a remote."""
_ENTRIES_MAX = 10_000
_COMMIT_CHARS = 12


@value
class PersonalStatus:
    """Where a memory travels, and what would go out."""

    joined: Joined | None
    entries: int
    outgoing: tuple[OutgoingChange, ...]
    agreed: AgreedState


@dataclass(slots=True)
class PersonalSync:
    """One memory directory and its branch; `Joined.repo` is the name of the branch below `reverie-sync/`."""

    memory_folder: MemoryFolder
    open_store: Callable[[], Store]
    settings: TeamSettings
    project: Path | None
    """None: the user memory."""
    now: Callable[[], datetime]

    @property
    def _folder(self) -> TeamFolder:
        return TeamFolder(self.memory_folder.state / "sync")

    @property
    def joined(self) -> Joined | None:
        """The remote; None where none was named or it was left."""
        joined = read_joined(self._folder)
        return joined if joined is not None and joined.is_active else None

    def join(self, address: str, *, name: str = "") -> Joined:
        """Keep this memory at a remote from now on; nothing is sent before `allow_push`.

        Raises:
            UserMistake: the address is no git remote, or another one was named before.
            Unavailable: the remote cannot be reached; nothing was changed.
        """
        from reverie.memory.team.git_remote import parse_address
        from reverie.memory.team.http_remote import is_server_address

        if is_server_address(address):
            raise UserMistake(f"{address} is a team server; private memory needs a git repository of your own")
        remote, branch = parse_address(address, Path.cwd()), _clean_branch(name) or self.find_name()
        before = read_joined(self._folder)
        is_same = before is not None and (before.remote, before.repo) == (remote, branch)
        if before is not None and before.is_active and not is_same:
            raise UserMistake(
                f"this memory is kept as {before.repo} at {before.remote}; run `reverie sync --leave` first"
            )
        email = re.sub(r"[<>\s]", "", self._ask_git("config", "user.email"))
        who = clean_name(self._ask_git("config", "user.name")) or "unknown"
        joined = Joined(remote, who, email, branch, may_push=is_same and before is not None and before.may_push)
        self._build_remote(joined).read_version()
        if not is_same:
            remove_agreed(self._folder)
        write_joined(self._folder, joined)
        return joined

    def find_name(self) -> str:
        """What this memory is called at a remote, the same on all machines: by `origin`, or by its first commit."""
        from reverie.memory.project_repository import first_commit

        if self.project is None:
            return USER_NAME
        origin = (ask_git(self.project, "remote", "get-url", "origin") or "").strip()
        path = re.fullmatch(r"(?:\w+://[^/]+/|[^/]+:)?/*(?:.*/)?([\w.~-]+/[\w.~-]+?)(?:\.git)?/?", origin)
        if path is not None:
            return _clean_branch(path[1])
        commit = first_commit(self.project) or ""
        return _clean_branch("-".join(filter(None, (self.project.name, commit[:_COMMIT_CHARS])))) or "project"

    def allow_push(self) -> None:
        """Note that the user agrees to keep this memory at its remote."""
        write_joined(self._folder, replace(self._require_joined(), may_push=True))

    def status(self) -> PersonalStatus:
        """What would go out, without asking the remote."""
        from reverie.memory.team.sync import PERSONAL_SCOPE, find_outgoing

        joined = self.joined
        agreed = read_agreed(self._folder, with_texts=False) if joined else AgreedState()
        entries = sum(not entry.is_deleted for entry in agreed.entries.values())
        me = joined.name if joined else "you"
        outgoing: tuple[OutgoingChange, ...] = ()
        if self.memory_folder.directory.is_dir() or entries:
            outgoing = find_outgoing(self.open_store(), agreed, me, self._limits, PERSONAL_SCOPE)
        return PersonalStatus(joined, entries, outgoing, agreed)

    def sync(self, *, may_delete_many: bool = False) -> SyncReport:
        """Take what other machines have, and send what is new here if the user has agreed.

        Raises:
            UserMistake: no remote was named.
            Unavailable: it cannot be reached; nothing is lost.
            Refused: most memories are gone here, which nobody has agreed to.
        """
        joined = self._require_joined()
        exchange = self.build_sync(joined)
        return exchange.push(may_delete_many=may_delete_many) if joined.may_push else exchange.pull()

    def leave(self) -> Joined:
        """Stop; memories stay here and there."""
        joined = self._require_joined()
        write_joined(self._folder, replace(joined, is_active=False, may_push=False))
        return joined

    def erase(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Delete erased memories at the remote; return the places that keep earlier versions."""
        joined = read_joined(self._folder)
        private = [path for path in paths if not path.startswith(TEAM)]
        if joined is None or not any(path in read_agreed(self._folder, with_texts=False).entries for path in private):
            return ()
        remote = self._build_remote(joined)
        try:
            if not (joined.is_active and joined.may_push):
                raise Refused("it was left", by="sync")
            self.build_sync(joined).push()
            kept = remote.erase(private)
        except Error as failure:
            kept = (f"not deleted there yet: {failure}",)
        return (f"{joined.remote}: {'; '.join((*kept, 'your other machines until they sync, and their histories'))}",)

    def build_sync(self, joined: Joined) -> TeamSync:
        """What exchanges memories with a remote."""
        from reverie.memory.team.sync import PERSONAL_SCOPE, TeamSync

        remote = self._build_remote(joined)
        return TeamSync(self.open_store(), self._folder, remote, joined.name, self._limits, self.now, PERSONAL_SCOPE)

    @property
    def _limits(self) -> TeamSettings:
        return replace(self.settings, max_entries=max(self.settings.max_entries, _ENTRIES_MAX))

    def _build_remote(self, joined: Joined) -> GitRemote:
        from reverie.memory.team.git_remote import GitRemote

        return GitRemote(
            joined.remote,
            self._folder.git,
            joined.name,
            joined.email or "unknown",
            process_environment(),
            self._limits,
            self.now,
            f"{BRANCHES}{joined.repo}",
        )

    def _require_joined(self) -> Joined:
        joined = self.joined
        if joined is None:
            raise UserMistake(f"no remote for {self.memory_folder.directory}; run `reverie sync REMOTE` first")
        return joined

    def _ask_git(self, *arguments: str) -> str:
        return (ask_git(self.project or Path.cwd(), *arguments, as_user=True) or "").strip()


def _clean_branch(name: str) -> str:
    """A name that git takes as part of a branch."""
    parts = (re.sub(r"[^\w.~-]+", "-", part).strip(".-~") for part in name.lower().split("/"))
    cleaned = "/".join(part.replace("..", "-").removesuffix(".lock") for part in parts if part)
    return cleaned.replace("~", "-")[:200].rstrip("/.")
