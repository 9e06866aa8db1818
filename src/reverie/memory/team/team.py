"""`Team`: the shared part of one project's memory, for the command line and for sessions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.errors import Conflict, Error, RateLimited, Refused, Unauthenticated, Unavailable, UserMistake
from reverie.files import read_small, remove_file, write_atomic, write_folder
from reverie.files.git import ask_git
from reverie.memory.store.topic_store import Store
from reverie.memory.store.worktree import TEAM
from reverie.memory.team.entry import TeamRemote, clean_name, hash_text
from reverie.memory.team.state import (
    AgreedState,
    Joined,
    SyncProblem,
    read_agreed,
    read_joined,
    read_problems,
    remove_agreed,
    team_folder,
    write_joined,
    write_problems,
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
    problems: tuple[SyncProblem, ...] = ()
    """Why the last exchange failed."""


@dataclass(slots=True)
class Team:
    """The shared part of one memory directory."""

    memory_folder: MemoryFolder
    open_store: Callable[[], Store]
    settings: TeamSettings
    project: Path | None
    now: Callable[[], datetime]
    tokens: Path
    """The folder of tokens for servers, below our home: never in a project or in settings."""

    @property
    def joined(self) -> Joined | None:
        """The remote that is shared with; None where none was joined or it was left."""
        joined = read_joined(team_folder(self.memory_folder))
        return joined if joined is not None and joined.is_active else None

    @property
    def directory(self) -> Path:
        return self.memory_folder.directory / TEAM.rstrip("/")

    def join(self, address: str, *, name: str = "", repo: str = "", token: str = "") -> Joined:
        """Share with a remote from now on; nothing is sent before `allow_push`.

        `repo` and `token` are for a team server: `repo` defaults to that of the token or of the remote `origin`; a
        `token` is kept in a file for this user alone, without one the variable of `team.token_env` is asked.

        Raises:
            UserMistake: the address is no remote, another one is joined, or nobody knows the user's name.
            Unavailable: the remote cannot be reached; nothing was joined.
        """
        from reverie.memory.team.http_remote import is_server_address

        if is_server_address(address):
            joined, remote = self._join_server(address, name, repo, token)
        else:
            if repo or token:
                raise UserMistake("--repo and --token are for a team server; a git remote needs neither")
            joined, remote = self._join_git(address, name)
        folder = team_folder(self.memory_folder)
        before = read_joined(folder)
        is_same = before is not None and (before.remote, before.repo) == (joined.remote, joined.repo)
        if before is not None and before.is_active and not is_same:
            raise UserMistake(f"{before.place} is joined already; run `reverie team leave` first")
        remote.read_version()
        if not is_same:
            remove_agreed(folder)
        if token:
            write_folder(self.tokens)
            self.tokens.chmod(0o700)
            write_atomic(self._token_file(joined), f"{token.strip()}\n", mode=0o600)
        write_problems(folder, {})
        joined = replace(joined, may_push=is_same and before is not None and before.may_push)
        write_joined(folder, joined)
        return joined

    def _join_git(self, address: str, name: str) -> tuple[Joined, TeamRemote]:
        from reverie.memory.team.git_remote import parse_address

        remote = parse_address(address, Path.cwd())
        email = re.sub(r"[<>\s]", "", self._ask_git("user.email"))
        joined = Joined(remote, self._find_name(name), email)
        return joined, self._build_remote(joined)

    def _join_server(self, address: str, name: str, repo: str, token: str) -> tuple[Joined, TeamRemote]:
        from reverie.memory.team.http_remote import HttpRemote, parse_server_address

        url = parse_server_address(address)
        stranger = Joined(url, "", repo=repo.strip())
        token = token.strip() or self._read_token(stranger)
        if not (token.isascii() and token.isprintable()):
            raise UserMistake("the token has characters that no token has; copy it again")
        owner = HttpRemote(url, repo, token, self.settings).identify()
        repo = repo.strip() or owner.repo or _parse_origin(self._ask_origin())
        if not repo:
            raise UserMistake(f"{url} holds many repositories; name one with --repo OWNER/NAME")
        who = clean_name(owner.member or "") or self._find_name(name)
        return Joined(url, who, repo=repo), HttpRemote(url, repo, token, self.settings)

    def _find_name(self, name: str) -> str:
        before = read_joined(team_folder(self.memory_folder))
        who = clean_name(name) or (before.name if before else "") or clean_name(self._ask_git("user.name"))
        if not who:
            raise UserMistake("nobody would know who shares; run `git config --global user.name NAME`, or give --name")
        return who

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
        remove_file(self._token_file(joined))
        write_problems(folder, {})
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
        problems = tuple(read_problems(team_folder(self.memory_folder)).values()) if joined else ()
        return TeamStatus(joined, entries, outgoing, agreed, problems)

    def pull(self) -> SyncReport:
        """Take what the others share.

        Raises:
            UserMistake: no remote was joined.
            Unavailable: the remote cannot be reached.
        """
        sync = self.build_sync(self.require_joined())
        return self._note_problems(sync.pull, _PULL_CAUSES)

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
                f"nothing was sent to {joined.place}: review `reverie team status`, then run "
                "`reverie team push --yes` once for this repository",
                by="team",
            )
        sync = self.build_sync(joined)
        return self._note_problems(lambda: sync.push(may_delete_many=may_delete_many), CAUSES)

    def _note_problems(self, exchange: Callable[[], SyncReport], settled: frozenset[str]) -> SyncReport:
        """Keep why an exchange failed for `status`; one that succeeds settles the problems of these causes."""
        folder = team_folder(self.memory_folder)
        problems = read_problems(folder)
        try:
            report = exchange()
        except Error as failure:
            cause = find_cause(failure)
            since = problems[cause].since if cause in problems else self.now()
            write_problems(folder, {**problems, cause: SyncProblem(cause, str(failure), since)})
            raise
        if problems:
            write_problems(folder, {cause: each for cause, each in problems.items() if cause not in settled})
        return report

    def erase(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Delete erased memories at the remote and in our copy of it; return the places that keep earlier versions."""
        folder = team_folder(self.memory_folder)
        joined = read_joined(folder)
        if joined is None:
            return ()
        shared = [path.removeprefix(TEAM) for path in paths]
        entries = read_agreed(folder, with_texts=False).entries
        if not any(path in entries for path in shared):
            return ()
        kept: tuple[str, ...] = ()
        try:
            self.push()
            kept = self._build_remote(joined).erase([path for path in shared if path in entries])
        except Error as failure:
            kept = (f"not deleted there yet: {failure}",)
        return (f"{joined.place}: {'; '.join((*kept, 'backups, and the histories of colleagues'))}",)

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
        from reverie.memory.team.sync import TeamSync

        remote = self._build_remote(joined)
        folder = team_folder(self.memory_folder)
        return TeamSync(self.open_store(), folder, remote, joined.name, self.settings, self.now)

    def _build_remote(self, joined: Joined) -> TeamRemote:
        if joined.repo:
            from reverie.memory.team.http_remote import HttpRemote

            return HttpRemote(joined.remote, joined.repo, self._read_token(joined), self.settings)
        from reverie.memory.team.git_remote import GitRemote

        return GitRemote(
            joined.remote,
            team_folder(self.memory_folder).git,
            joined.name,
            joined.email or "unknown",
            process_environment(),
            self.settings,
            self.now,
        )

    def read_stamps(self) -> tuple[int, ...]:
        """Changes when a remote or a token is joined anew; for a watcher that waits for it."""
        folder = team_folder(self.memory_folder)
        joined = self.joined
        places = (folder.joined, *([self._token_file(joined)] if joined is not None and joined.repo else []))
        stamps: list[int] = []
        for place in places:
            with suppress(OSError):
                stamps.append(place.stat().st_mtime_ns)
        return tuple(stamps)

    @property
    def environment_token(self) -> str:
        """The token for a server that the environment holds; empty where there is none."""
        return process_environment().get(self.settings.token_env, "").strip()

    def _read_token(self, joined: Joined) -> str:
        """The token for a server: of the environment, or the one that was kept when it was joined."""
        token = self.environment_token
        if not token and joined.repo:
            token = (read_small(self._token_file(joined)) or b"").decode("utf-8", "replace").strip()
        if not token:
            raise Unauthenticated(
                f"there is no token for {joined.remote}; set {self.settings.token_env}, or run "
                f"`reverie team join {joined.remote} --repo {joined.repo or 'OWNER/NAME'} --token-file FILE`",
                status=401,
            )
        return token

    def _token_file(self, joined: Joined) -> Path:
        key = hash_text("\n".join((str(self.memory_folder.directory), joined.remote, joined.repo)))
        return self.tokens / key[:32]

    def _ask_origin(self) -> str:
        return (ask_git(self.project or Path.cwd(), "remote", "get-url", "origin") or "").strip()

    def _ask_git(self, key: str) -> str:
        return (ask_git(self.project or Path.cwd(), "config", key, as_user=True) or "").strip()


_CAUSES: Mapping[type[Error], str] = {
    RateLimited: "rate",
    Unavailable: "unreachable",
    Refused: "deletions",
    Conflict: "conflict",
}
CAUSES = frozenset({*_CAUSES.values(), "token", "permission", "state"})
_PULL_CAUSES = frozenset({"unreachable", "token", "rate", "state"})
"""Problems that a pull shows to be over; whether one may push, only a push shows."""


def find_cause(failure: Error) -> str:
    """Why an exchange failed, in one word: what recovers differs, and so does what must wait for it."""
    if isinstance(failure, Unauthenticated):
        return "token" if failure.status == 401 else "permission"
    return next((cause for kind, cause in _CAUSES.items() if isinstance(failure, kind)), "state")


def _parse_origin(url: str) -> str:
    """`owner/name` of a git remote; empty where it has no such form."""
    match = re.fullmatch(r"(?:\w+://[^/]+/|[^/]+:)/*([\w.~/-]+/[\w.~-]+?)(?:\.git)?/?", url)
    return match[1] if match else ""


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
