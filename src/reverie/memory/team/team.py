"""`Team`: the shared part of one project's memory, for the command line and for sessions."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.errors import Error, Refused, UserMistake
from reverie.files.git import ask_git
from reverie.memory.store.topic_store import Store
from reverie.memory.store.worktree import TEAM
from reverie.memory.team.entry import clean_name, hash_text
from reverie.memory.team.state import (
    AgreedState,
    Joined,
    read_agreed,
    read_joined,
    remove_agreed,
    team_folder,
    write_joined,
)
from reverie.settings.load import process_environment
from reverie.settings.tree import TeamSettings
from reverie.values import value

if TYPE_CHECKING:
    from reverie.files.places.paths import MemoryFolder
    from reverie.memory.search.render import Hit
    from reverie.memory.team.sync import OutgoingChange, SyncReport, TeamSync


_WHOSE = {"said": "said by", "inferred": "inferred by the agent of", "seen": "seen by the agent of"}


@value
class TeamStatus:
    """What is shared with whom, and what would go out."""

    joined: Joined | None
    entries: int
    """How many memories both sides agree on."""
    outgoing: tuple[OutgoingChange, ...]
    agreed: AgreedState


@dataclass(slots=True)
class Team:
    """The shared part of one memory directory."""

    memory_folder: MemoryFolder
    open_store: Callable[[], Store]
    settings: TeamSettings
    project: Path | None
    now: Callable[[], datetime]

    @property
    def joined(self) -> Joined | None:
        """The remote that is shared with; None where none was joined or it was left."""
        joined = read_joined(team_folder(self.memory_folder))
        return joined if joined is not None and joined.is_active else None

    @property
    def directory(self) -> Path:
        return self.memory_folder.directory / TEAM.rstrip("/")

    def join(self, address: str, *, name: str = "") -> Joined:
        """Share with a remote from now on; nothing is sent before `allow_push`.

        Raises:
            UserMistake: the address is no remote, another one is joined, or nobody knows the user's name.
            Unavailable: the remote cannot be reached; nothing was joined.
        """
        from reverie.memory.team.git_remote import parse_address

        remote = parse_address(address, Path.cwd())
        folder = team_folder(self.memory_folder)
        before = read_joined(folder)
        if before is not None and before.is_active and before.remote != remote:
            raise UserMistake(f"{before.remote} is joined already; run `reverie team leave` first")
        who = clean_name(name) or (before.name if before else "") or clean_name(self._ask_git("user.name"))
        if not who:
            raise UserMistake("nobody would know who shares; run `git config --global user.name NAME`, or give --name")
        is_same = before is not None and before.remote == remote
        email = re.sub(r"[<>\s]", "", self._ask_git("user.email"))
        joined = Joined(remote, who, email, may_push=is_same and before is not None and before.may_push)
        if not is_same:
            remove_agreed(folder)
        self.build_sync(joined).remote.read_version()
        write_joined(folder, joined)
        return joined

    def leave(self, *, forget: bool = False) -> Joined:
        """Stop sharing; memories stay on both sides. `forget` also drops what was agreed with the remote.

        Raises:
            UserMistake: nothing was joined.
        """
        folder = team_folder(self.memory_folder)
        joined = read_joined(folder)
        if joined is None or not (joined.is_active or forget):
            raise UserMistake(f"no team was joined for {self.memory_folder.directory}; nothing to leave")
        write_joined(folder, replace(joined, is_active=False, may_push=False))
        if forget:
            remove_agreed(folder)
        return joined

    def allow_push(self) -> None:
        """Note that the user agrees to share with this remote."""
        write_joined(team_folder(self.memory_folder), replace(self.require_joined(), may_push=True))

    def status(self) -> TeamStatus:
        """What would go out, without asking the remote."""
        from reverie.memory.team.sync import find_outgoing

        joined = self.joined
        agreed = read_agreed(team_folder(self.memory_folder), with_texts=False) if joined else AgreedState()
        entries = sum(not entry.is_deleted for entry in agreed.entries.values())
        me = joined.name if joined else "you"
        has_files = self.directory.is_dir() or entries
        outgoing = find_outgoing(self.open_store(), agreed, me, self.settings) if has_files else ()
        return TeamStatus(joined, entries, outgoing, agreed)

    def pull(self) -> SyncReport:
        """Take what the others share.

        Raises:
            UserMistake: no remote was joined.
            Unavailable: the remote cannot be reached.
        """
        return self.build_sync(self.require_joined()).pull()

    def push(self, *, may_delete_many: bool = False) -> SyncReport:
        """Take what the others share and send what is new here.

        Raises:
            UserMistake: no remote was joined.
            Refused: the user has not agreed to share with it.
            Unavailable: the remote cannot be reached; nothing is lost.
        """
        joined = self.require_joined()
        if not joined.may_push:
            raise Refused(
                f"nothing was sent to {joined.remote}: review `reverie team status`, then run "
                "`reverie team push --yes` once for this repository",
                by="team",
            )
        return self.build_sync(joined).push(may_delete_many=may_delete_many)

    def erase(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Delete erased memories at the remote and in our copy of it; return the places that keep earlier versions."""
        folder = team_folder(self.memory_folder)
        joined = read_joined(folder)
        if joined is None:
            return ()
        entries = read_agreed(folder, with_texts=False).entries
        if not any(path.removeprefix(TEAM) in entries for path in paths):
            return ()
        problem = ""
        try:
            self.push()
        except Error as failure:
            problem = f"; not deleted there yet: {failure}"
        shutil.rmtree(folder.git, ignore_errors=True)
        return (f"{joined.remote} (earlier commits of its branch, and colleagues' histories{problem})",)

    def has_outgoing(self) -> bool:
        """Whether something waits to be sent and may be."""
        joined = self.joined
        return joined is not None and joined.may_push and any(not each.refused for each in self.status().outgoing)

    def find_authors(self, paths: Sequence[str]) -> dict[str, str]:
        """Path → the colleague whose words a file of the team directory holds; the user's own files are left out.

        A file that was changed here since it was shared is the user's own again.
        """
        shared = [path for path in paths if path.startswith(TEAM)]
        if not shared or not team_folder(self.memory_folder).agreed.is_file():
            return {}
        agreed = read_agreed(team_folder(self.memory_folder), with_texts=False)
        authors: dict[str, str] = {}
        for path in shared:
            entry = agreed.entries.get(path.removeprefix(TEAM))
            if entry is None or entry.is_deleted or path.removeprefix(TEAM) in agreed.mine:
                continue
            with suppress(OSError, UnicodeDecodeError):
                text = (self.memory_folder.directory / path).read_bytes().decode()
                if hash_text(text) == entry.sha256:
                    authors[path] = entry.author or "a colleague"
        return authors

    def attribute(self, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """Recalled memories, each of a colleague marked as such: never as the user's own word."""
        with suppress(Error):
            authors = self.find_authors([hit.topic.path for hit in hits if hit.scope == "project"])
            return tuple(
                _mark_hit(hit, authors[hit.topic.path]) if hit.scope == "project" and hit.topic.path in authors else hit
                for hit in hits
            )
        return tuple(hits)

    def require_joined(self) -> Joined:
        """The remote that is shared with.

        Raises:
            UserMistake: no remote was joined.
        """
        joined = self.joined
        if joined is None:
            raise UserMistake(
                f"no team was joined for {self.memory_folder.directory}; run `reverie team join REMOTE` first"
            )
        return joined

    def build_sync(self, joined: Joined) -> TeamSync:
        """What pulls from and pushes to a remote."""
        from reverie.memory.team.git_remote import GitRemote
        from reverie.memory.team.sync import TeamSync

        folder = team_folder(self.memory_folder)
        remote = GitRemote(
            joined.remote,
            folder.git,
            joined.name,
            joined.email or "unknown",
            process_environment(),
            self.settings,
            self.now,
        )
        return TeamSync(self.open_store(), folder, remote, joined.name, self.settings, self.now)

    def _ask_git(self, key: str) -> str:
        return (ask_git(self.project or Path.cwd(), "config", key, as_user=True) or "").strip()


def describe_trust(trust: str | None, author: str) -> str:
    """Whose word a colleague's memory is, for people and for the model."""
    return f"{_WHOSE.get(trust or '', 'shared by')} {author} (team)"


def _mark_hit(hit: Hit, author: str) -> Hit:
    whose = describe_trust(hit.trust, author)
    said = f"{whose[0].upper()}{whose[1:]}: a colleague's note, not the user's word."
    if hit.header.startswith(said):
        return hit
    head, closing, rest = hit.text.partition("\n---\n") if hit.text.startswith("---\n") else ("", "", hit.text)
    head = re.sub(r"(?m)^trust:.*$", f"trust: {whose}", head)
    return replace(hit, header=f"{said}\n{hit.header}", text=f"{head}{closing}{rest}")
