from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reverie.errors import UserMistake
from reverie.files.places import MemoryFolder, Places, memory_folder, validate_memory_directory
from tests.requirements import requirement

HOME = Path("/home/someone")


@requirement("places:memory-directory:validation")
@pytest.mark.parametrize(
    "value",
    [
        "",
        "memory",
        "./memory",
        "../memory",
        "~",
        "~other/memory",
        "/",
        "/home",
        "/home/",
        "/home/someone/..",
        "/home/someone",
        "~/",
        "~/.",
        "~/../..",
        "C:",
        "C:\\",
        "c:/memory/x",
        "\\\\server\\share",
        "//server/share",
        "/home/someone/mem\0ory",
        "/home/someone/\ud800",
    ],
)
def test_an_unsafe_directory_is_refused(value: str) -> None:
    with pytest.raises(UserMistake):
        validate_memory_directory(value, user_home=HOME)


@requirement("places:memory-directory:validation")
def test_a_link_to_the_root_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/")

    with pytest.raises(UserMistake, match="too close to the root"):
        validate_memory_directory(str(tmp_path / "link"), user_home=HOME)


@pytest.mark.parametrize(
    ("value", "directory"),
    [
        ("~/notes", HOME / "notes"),
        ("~/a/../b/", HOME / "b"),
        ("/data/memory", Path("/data/memory")),
        ("/data/mémoire 日本", Path("/data/mémoire 日本")),
    ],
)
def test_a_safe_directory_is_taken(value: str, directory: Path) -> None:
    assert validate_memory_directory(value, user_home=HOME) == directory


@requirement("places:memory-directory:history-aside")
def test_history_lies_aside_when_the_directory_is_in_a_work_tree(
    make_repository: Callable[[Path], Path], tmp_path: Path
) -> None:
    places = Places.at(tmp_path / "home", tmp_path / "config")
    own = make_repository(tmp_path / "memory")
    inside = make_repository(tmp_path / "repo") / ".claude" / "agent-memory" / "tester"

    assert memory_folder(places, own) == MemoryFolder(own, own)
    assert memory_folder(places, own).git == own / ".git"
    aside = memory_folder(places, inside)
    assert aside.index == inside / "MEMORY.md"
    for path in (aside.git, aside.search_index, aside.writer_lock, aside.dream_lock, aside.archived("a.md")):
        assert path.is_relative_to(places.home)
