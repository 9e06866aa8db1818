from __future__ import annotations

from pathlib import Path

import pytest

from reverie.errors import UserMistake
from reverie.files.places import Places
from reverie.memory.directories import agent_scopes, project_scope, user_scope
from reverie.settings import MemorySettings, RemoteSettings, Settings
from tests.requirements import requirement


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places.at(tmp_path / "home", tmp_path / "claude")


def chosen(places: Places, root: Path, settings: Settings) -> Path:
    return project_scope(places, settings, places.project(root), root, root.parent).folder.directory


@requirement("memory:open:in-place")
def test_the_hosts_directory_is_used_until_we_have_a_store(places: Places, tmp_path: Path) -> None:
    root = tmp_path / "app"
    ours, theirs = places.project(root).memory, places.host_project(root).memory
    assert chosen(places, root, Settings()) == ours

    theirs.mkdir(parents=True)
    assert chosen(places, root, Settings()) == ours
    (theirs / "user_role.md").write_text("I write Go.\n", encoding="utf-8")
    assert chosen(places, root, Settings()) == theirs

    ours.mkdir(parents=True)
    (ours / "a.md").write_text("Ours.\n", encoding="utf-8")
    assert chosen(places, root, Settings()) == ours


@requirement("memory:open:in-place")
def test_a_named_directory_goes_first(places: Places, tmp_path: Path) -> None:
    root, named, forced = tmp_path / "app", tmp_path / "named" / "memory", tmp_path / "forced" / "memory"

    assert chosen(places, root, Settings(memory=MemorySettings(directory=str(named)))) == named
    both = Settings(memory=MemorySettings(directory=str(named), path_override=str(forced)))
    assert chosen(places, root, both) == forced
    remote = Settings(remote=RemoteSettings(memory_dir=str(tmp_path / "mount" / "m")))
    assert chosen(places, root, remote) == tmp_path / "mount" / "m" / "projects" / places.slug(root) / "memory"
    with pytest.raises(UserMistake, match="relative"):
        chosen(places, root, Settings(memory=MemorySettings(directory="memory")))


@requirement("memory:scopes:user")
def test_the_users_own_memory_lies_in_our_home(places: Places, tmp_path: Path) -> None:
    assert user_scope(places).folder.directory == tmp_path / "home" / "memory"


@requirement("memory:scopes:agents")
def test_mentioned_agents_that_have_memories_are_searched(places: Places, tmp_path: Path) -> None:
    cwd = tmp_path / "app"
    (cwd / ".claude" / "agent-memory" / "reviewer").mkdir(parents=True)
    (tmp_path / "claude" / "agent-memory" / "plugin-writer").mkdir(parents=True)

    found = list(
        agent_scopes(places, "@agent-reviewer and @agent-plugin:writer and @agent-nobody, me@agent-x", cwd=cwd)
    )

    assert [scope.name for scope in found] == ["agent:reviewer", "agent:plugin:writer"]
    assert found[0].folder.directory == cwd / ".claude" / "agent-memory" / "reviewer"
