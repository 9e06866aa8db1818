"""Colleagues with a home each, and what they share: a bare repository, or one at a team server."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from reverie import Memory
from reverie.memory.team.watch import TeamWatcher
from reverie.memory.topics.topic import Topic, parse_topic
from reverie.memory.topics.value import MemoryType, Trust
from tests.person import Person, person_in
from tests.team_server import TeamServer

BRANCH = "reverie-memory"


@dataclass(frozen=True)
class Colleague:
    """Somebody who has joined."""

    person: Person
    project: Path
    memory: Memory

    def save(self, name: str, body: str, *, kind: MemoryType = MemoryType.project, trust: Trust = Trust.said) -> str:
        topic = Topic(name=name, description=f"about {name}", type=kind, body=body, trust=trust)
        return self.memory.keep(topic, team=True).path

    @property
    def files(self) -> dict[str, str]:
        """What the team directory holds, the index left out."""
        found = self.memory.team.directory.glob("**/*.md")
        return {path.name: path.read_text(encoding="utf-8") for path in found if path.name != "MEMORY.md"}

    def edit(self, path: str, old: str, new: str) -> None:
        """Edit a file by hand."""
        place = self.memory.directory / path
        text = place.read_text(encoding="utf-8")
        assert old in text
        place.write_text(text.replace(old, new), encoding="utf-8")

    @property
    def copies(self) -> list[str]:
        """The texts of conflict copies."""
        folder = self.memory.scope.folder.aside / ".conflicts"
        return [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*"))]

    def body(self, path: str) -> str:
        return parse_topic(path, (self.memory.directory / path).read_text(encoding="utf-8")).body


class Watched:
    """A watcher on a clock of the test."""

    def __init__(self, colleague: Colleague) -> None:
        self.now = 0.0
        self.told: list[str] = []
        self.watcher = TeamWatcher(colleague.memory.team, self.told.append, clock=lambda: self.now)

    def at(self, seconds: float) -> list[str]:
        """Step at this second; what is told then."""
        self.now = seconds
        self.told.clear()
        self.watcher.step()
        return list(self.told)


@dataclass(frozen=True)
class ServerRepo:
    """A repository at a team server, as the remote."""

    server: TeamServer
    name: str
    through: str = ""
    """The address of a proxy before it."""


Remote = Path | ServerRepo


def make_remote(folder: Path) -> Path:
    remote = folder / "remote.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(remote)], check=True)
    return remote


def join(memory: Memory, remote: Remote, name: str = "") -> None:
    """Join a remote of either kind."""
    if isinstance(remote, Path):
        memory.team.join(str(remote), name=name)
    else:
        url = remote.through or remote.server.url
        memory.team.join(url, name=name, repo=remote.name, token=remote.server.token())


def is_untouched(remote: Remote) -> bool:
    """Whether nobody ever sent something."""
    if isinstance(remote, Path):
        return git_out(remote, "for-each-ref") == ""
    return not any(b'"PUT"' in line and remote.name.encode() in line for line in remote.server.requests)


def hire(folder: Path, name: str, remote: Remote, *, pushes: bool = True) -> Colleague:
    """A new colleague with a project of their own, joined to the remote."""
    home = folder / name
    home.mkdir()
    person = person_in(home)
    project = home / "project"
    project.mkdir()
    colleague = Colleague(person, project, person.open(project))
    join(colleague.memory, remote, name)
    if pushes:
        colleague.memory.team.allow_push()
    colleague.memory.team.pull()
    return colleague


def git_out(remote: Path, *arguments: str, stdin: bytes = b"") -> str:
    done = subprocess.run(["git", *arguments], cwd=remote, check=True, capture_output=True, input=stdin)
    return done.stdout.decode("utf-8", "replace")


def write_branch(remote: Path, rows: list[tuple[str, str, bytes]], author: str = "Mallory") -> None:
    """Put a commit on the branch as somebody with other tools would: mode, path and content of each file."""
    text = [f"commit refs/heads/{BRANCH}".encode(), f"author {author} <m@example.org> 1790000000 +0000".encode()]
    text += [f"committer {author} <m@example.org> 1790000000 +0000".encode(), b"data 3\nbad"]
    if git_out(remote, "for-each-ref", f"refs/heads/{BRANCH}"):
        text.append(f"from refs/heads/{BRANCH}^0".encode())
    for mode, path, content in rows:
        text += [f'M {mode} inline "{path}"'.encode(), b"data %d" % len(content), content]
    git_out(remote, "fast-import", "--quiet", "--force", stdin=b"\n".join([*text, b""]))
