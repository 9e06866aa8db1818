"""One person's private memory on two machines, over a git remote."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from reverie import Memory
from reverie.errors import Refused, Unavailable, UserMistake
from reverie.memory.topics.topic import Topic
from reverie.memory.topics.value import MemoryType, Trust
from tests.memory.team.people import git_out, make_remote
from tests.memory.team.test_two_people import CutRemote
from tests.person import person_in
from tests.requirements import requirement

BODY = "First line.\n\nSecond line.\n\nThird line."


@dataclass(frozen=True)
class Machine:
    memory: Memory

    def save(self, name: str, *, kind: MemoryType = MemoryType.user, team: bool = False) -> str:
        topic = Topic(name=name, description=f"about {name}", type=kind, body=BODY, trust=Trust.said)
        return self.memory.keep(topic, team=team).path

    def edit(self, path: str, old: str, new: str) -> None:
        place = self.memory.directory / path
        place.write_text(place.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")

    @property
    def files(self) -> dict[str, str]:
        paths = self.memory.directory.rglob("*.md")
        names = ((str(path.relative_to(self.memory.directory)), path) for path in paths if path.name != "MEMORY.md")
        return {name: path.read_text(encoding="utf-8") for name, path in names if not name.startswith("team/")}

    @property
    def copies(self) -> list[str]:
        folder = self.memory.scope.folder.aside / ".conflicts"
        return [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*"))]


def set_up(folder: Path, name: str, remote: Path, *, pushes: bool = True) -> Machine:
    home = folder / name
    project = home / "work" / "app"
    project.mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet"], cwd=project, check=True)
    subprocess.run(["git", "remote", "add", "origin", "git@example.org:acme/app.git"], cwd=project, check=True)
    memory = person_in(home).open(project)
    memory.private_sync.join(str(remote))
    if pushes:
        memory.private_sync.allow_push()
    return Machine(memory)


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    return make_remote(tmp_path)


@pytest.fixture
def pair(tmp_path: Path, remote: Path) -> tuple[Machine, Machine]:
    return set_up(tmp_path, "desk", remote), set_up(tmp_path, "laptop", remote)


@requirement("sync:two-machines")
def test_private_memories_travel_and_are_merged(pair: tuple[Machine, Machine], remote: Path) -> None:
    desk, laptop = pair
    person, gone = desk.save("Editor"), desk.save("Gone", kind=MemoryType.feedback)
    shared = desk.save("Shared", kind=MemoryType.project, team=True)
    assert set(desk.memory.private_sync.sync().pushed) == {person, gone}
    assert set(laptop.memory.private_sync.sync().pulled) == {person, gone}
    assert laptop.files == desk.files
    assert shared not in git_out(remote, "ls-tree", "-r", "--name-only", "reverie-sync/acme/app")
    desk.edit(person, "First line", "Desk's line")
    desk.memory.forget(gone)
    laptop.edit(person, "Third line", "Laptop's line")
    desk.memory.private_sync.sync()
    assert laptop.memory.private_sync.sync().deleted == (gone,)
    desk.memory.private_sync.sync()
    assert desk.files == laptop.files
    assert "Desk's line" in desk.files[person]
    assert "Laptop's line" in desk.files[person]
    assert [hit.topic.path for hit in laptop.memory.recall("about Editor")] == [person]
    assert "(team)" not in laptop.memory.recall("about Editor")[0].header


@requirement("sync:two-machines")
def test_an_edit_that_loses_is_kept(pair: tuple[Machine, Machine]) -> None:
    desk, laptop = pair
    path = desk.save("Editor")
    desk.memory.private_sync.sync()
    laptop.memory.private_sync.sync()
    desk.edit(path, "First line", "Desk's line")
    laptop.edit(path, "First line", "Laptop's line")
    desk.memory.private_sync.sync()
    (copy,) = laptop.memory.private_sync.sync().conflicts
    assert copy.startswith(".conflicts/")
    assert "Laptop's line" in laptop.copies[0]
    assert desk.files == laptop.files


@requirement("sync:consent")
def test_nothing_is_sent_before_the_user_agreed(tmp_path: Path, remote: Path) -> None:
    desk = set_up(tmp_path, "desk", remote, pushes=False)
    desk.save("Editor")
    desk.memory.private_sync.sync()
    assert git_out(remote, "for-each-ref") == ""
    assert [each.change for each in desk.memory.private_sync.status().outgoing] == ["new"]


@requirement("sync:secrets")
def test_a_secret_is_not_sent(pair: tuple[Machine, Machine], remote: Path) -> None:
    desk, _ = pair
    path = desk.save("Key")
    secret = "AKIA" + "".join(sorted("Q7RZ3WXN5YHT2KVB"))
    desk.edit(path, "Second line", f"aws_access_key_id = {secret}")
    report = desk.memory.private_sync.sync()
    assert [(each.path, each.direction) for each in report.refused] == [(path, "out")]
    assert git_out(remote, "for-each-ref") == ""


@requirement("sync:killed")
@pytest.mark.parametrize("cut", ["before", "after"])
def test_an_exchange_that_was_cut_is_done_by_the_next(pair: tuple[Machine, Machine], cut: str) -> None:
    desk, laptop = pair
    kept, gone = desk.save("Kept"), desk.save("Gone")
    desk.memory.private_sync.sync()
    laptop.memory.private_sync.sync()
    desk.edit(kept, "First line", "Edited line")
    desk.memory.forget(gone)
    joined = desk.memory.private_sync.joined
    assert joined is not None
    sync = desk.memory.private_sync.build_sync(joined)
    with pytest.raises(Unavailable):
        replace(sync, remote=CutRemote(sync.remote, cut)).push()  # type: ignore[arg-type] # the same methods
    desk.memory.private_sync.sync()
    laptop.memory.private_sync.sync()
    assert desk.files == laptop.files
    assert list(laptop.files) == [kept]
    assert laptop.copies == desk.copies == []


@requirement("sync:commands")
def test_mistakes_name_the_next_step(pair: tuple[Machine, Machine], tmp_path: Path) -> None:
    desk, _ = pair
    (tmp_path / "other.git").mkdir()
    with pytest.raises(UserMistake, match="sync --leave"):
        desk.memory.private_sync.join(str(tmp_path / "other.git"))
    with pytest.raises(UserMistake, match="a git repository of your own"):
        desk.memory.private_sync.join("https://memory.example.org")
    with pytest.raises(UserMistake, match="reverie sync REMOTE"):
        desk.memory.user.private_sync.sync()
    assert desk.memory.user.private_sync.find_name() == "user"


@requirement("sync:mass-deletion")
def test_a_directory_that_vanished_is_not_sent(pair: tuple[Machine, Machine]) -> None:
    desk, laptop = pair
    desk.memory.directory.mkdir(parents=True, exist_ok=True)
    for number in range(12):
        (desk.memory.directory / f"{number}.md").write_text(f"Rule {number}.\n", encoding="utf-8")
    desk.memory.private_sync.sync()
    for path in desk.memory.directory.glob("*.md"):
        path.unlink()
    with pytest.raises(Refused, match=r"12 of 12 memories are missing here .*reverie sync --yes"):
        desk.memory.private_sync.sync()
    laptop.memory.private_sync.sync()
    assert len(laptop.files) == 12


@requirement("sync:erase")
def test_an_erased_memory_goes_from_the_remote_and_does_not_return(pair: tuple[Machine, Machine]) -> None:
    desk, laptop = pair
    path = desk.save("Editor")
    desk.memory.private_sync.sync()
    laptop.memory.private_sync.sync()
    (place,) = [line for line in desk.memory.erase(path).elsewhere if "earlier commits" in line]
    assert "other machines" in place
    assert laptop.memory.private_sync.sync().deleted == (path,)
