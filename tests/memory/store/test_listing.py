from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.files.places.paths import MemoryFolder
from reverie.memory.store.inotify import InotifyWatch
from reverie.memory.store.listing import TrackedListing
from reverie.memory.store.tracked import list_tracked
from tests.requirements import requirement

_PLACES = (
    "a.md",
    "b.md",
    "sub/c.md",
    "sub/deep/d.md",
    "other/c.md",
    "logs/e.md",
    "f.txt",
    ".archive/g.archived",
    ".h.md",
)
_FOLDERS = ("sub", "sub/deep", "other", ".archive", "logs")


def write(place: Path, text: str) -> None:
    if place.parent.is_dir() and not place.is_dir():
        place.write_text(text, encoding="utf-8")


def rewrite_in_place(place: Path) -> None:
    if place.is_file():
        with place.open("r+b") as file:
            file.write(b"!")


def replace_by_another(place: Path) -> None:
    if place.parent.is_dir() and not place.is_dir():
        draft = place.with_name("draft.tmp")
        draft.write_text("replaced", encoding="utf-8")
        draft.replace(place)


def set_back_the_time(place: Path) -> None:
    if place.is_file():
        os.utime(place, ns=(1, 1))


def remove(place: Path) -> None:
    if place.is_file() or place.is_symlink():
        place.unlink()


def make_folder(place: Path) -> None:
    if not place.is_file() and not place.is_symlink():
        place.mkdir(parents=True, exist_ok=True)


def remove_folder(place: Path) -> None:
    if place.is_symlink():
        place.unlink()
    else:
        shutil.rmtree(place, ignore_errors=True)


def link_elsewhere(place: Path) -> None:
    if place.parent.is_dir() and not os.path.lexists(place):
        place.symlink_to(place.parent)


def move_away(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        away = place.with_name(f"{place.name}-moved")
        shutil.rmtree(away, ignore_errors=True)
        place.rename(away)


def make_a_repository(place: Path) -> None:
    if place.is_dir():
        (place / ".git").touch()


def remove_the_repository(place: Path) -> None:
    (place / ".git").unlink(missing_ok=True)


_ON_FILES: tuple[Callable[[Path], None], ...] = (
    lambda place: write(place, "text"),
    lambda place: write(place, "another text"),
    rewrite_in_place,
    replace_by_another,
    set_back_the_time,
    remove,
    link_elsewhere,
)
_ON_FOLDERS: tuple[Callable[[Path], None], ...] = (
    make_folder,
    remove_folder,
    move_away,
    link_elsewhere,
    make_a_repository,
    remove_the_repository,
)
_edits = st.lists(
    st.tuples(st.sampled_from(_ON_FILES), st.sampled_from(_PLACES))
    | st.tuples(st.sampled_from(_ON_FOLDERS), st.sampled_from(_FOLDERS)),
    max_size=4,
)


@requirement("store:foreign:noticed")
@settings(deadline=None)
@given(st.lists(_edits, max_size=8), st.booleans())
def test_whatever_is_done_to_a_directory_the_listing_is_what_looking_at_every_file_finds(
    rounds: list[list[tuple[Callable[[Path], None], str]]], is_aside: bool
) -> None:
    with TemporaryDirectory() as place:
        directory = Path(place) / "memory"
        aside = Path(place) / "aside" if is_aside else directory
        for folder in (directory, aside, directory / "sub"):
            folder.mkdir(exist_ok=True)
        memory = MemoryFolder(directory, aside)
        listing = TrackedListing(memory)
        for _ in range(2):
            assert listing.read() == list_tracked(memory)
        for edits in rounds:
            for edit, path in edits:
                edit((aside if path.startswith(".archive") else directory) / path)
            assert listing.read() == list_tracked(memory)


def told_listing(directory: Path) -> tuple[MemoryFolder, TrackedListing]:
    """A listing that is told what is touched from now on."""
    directory.mkdir(exist_ok=True)
    memory = MemoryFolder(directory, directory)
    listing = TrackedListing(memory)
    listing.read()
    listing.read()
    return memory, listing


@pytest.mark.parametrize(
    "edits",
    [
        (lambda at: set_back_the_time(at / "sub/a.md"), lambda at: replace_by_another(at / "sub/a.md")),
        (lambda at: make_folder(at / "new"), lambda at: write(at / "new/a.md", "text")),
        (lambda at: make_folder(at / ".archive"), lambda at: write(at / ".archive/a.archived", "text")),
        (lambda at: move_away(at / "sub"), lambda at: write(at / "sub-moved/a.md", "text")),
        (lambda at: remove_folder(at / "sub"), lambda at: link_elsewhere(at / "sub")),
        (lambda at: make_a_repository(at / "sub"),),
        (lambda at: make_a_repository(at / "sub"), lambda at: rewrite_in_place(at / "sub/a.md")),
        (lambda at: make_a_repository(at / "sub"), lambda at: remove_the_repository(at / "sub")),
    ],
    ids=[
        "file",
        "folder made",
        "archive made",
        "folder moved",
        "folder is a link",
        "repository",
        "in it",
        "repository gone",
    ],
)
def test_a_change_below_the_directory_is_noticed(tmp_path: Path, edits: tuple[Callable[[Path], None], ...]) -> None:
    make_folder(tmp_path / "sub")
    write(tmp_path / "sub" / "a.md", "text")
    memory, listing = told_listing(tmp_path)
    for edit in edits:
        edit(tmp_path)
        assert listing.read() == list_tracked(memory)


def test_a_directory_put_in_the_place_of_another_is_noticed(tmp_path: Path) -> None:
    above = tmp_path / "above"
    above.mkdir()
    memory, listing = told_listing(above / "memory")
    above.rename(tmp_path / "away")
    (above / "memory").mkdir(parents=True)
    write(above / "memory" / "new.md", "new")
    assert listing.read() == list_tracked(memory) != {}


def test_more_edits_than_the_system_remembers_are_noticed(tmp_path: Path) -> None:
    memory, listing = told_listing(tmp_path)
    place = tmp_path / "many.md"
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text(encoding="ascii")) if _IS_LINUX else 0
    if most > 100_000:
        pytest.skip("this system remembers too much")
    for number in range(most + 10):
        # Two files in turn, as the same news told twice in a row is remembered once.
        (tmp_path / f"{number % 2}.md").touch()
    write(place, "last")
    assert listing.read() == list_tracked(memory)
    assert "many.md" in listing.read()


def test_an_edit_by_another_name_of_the_file_is_found_by_a_whole_look(tmp_path: Path) -> None:
    memory, listing = told_listing(tmp_path / "memory")
    write(memory.directory / "a.md", "text")
    (tmp_path / "elsewhere").hardlink_to(memory.directory / "a.md")
    listing.read()
    write(tmp_path / "elsewhere", "a longer text")
    assert listing.read(whole=True) == list_tracked(memory)
    assert listing.read() == list_tracked(memory)


def test_a_child_process_takes_nothing_of_what_its_parent_is_told(tmp_path: Path) -> None:
    memory, listing = told_listing(tmp_path)
    write(tmp_path / "a.md", "text")
    child = os.fork()
    if child == 0:
        os._exit(0 if listing.read() == list_tracked(memory) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert listing.read() == list_tracked(memory) != {}


_IS_LINUX = sys.platform == "linux"


@pytest.mark.skipif(not _IS_LINUX, reason="only Linux tells what was touched")
def test_what_nobody_touched_is_not_looked_at(tmp_path: Path) -> None:
    opened = []

    def open_told() -> InotifyWatch | None:
        opened.append(InotifyWatch.open())
        return opened[-1]

    memory = MemoryFolder(tmp_path, tmp_path)
    write(tmp_path / "a.md", "text")
    (tmp_path / "elsewhere").hardlink_to(tmp_path / "a.md")
    listing = TrackedListing(memory, open_told=open_told)
    listing.read()
    assert opened == [], "a single look is told nothing"
    before = listing.read()
    if opened == [None] or not _tells(tmp_path):
        pytest.skip("this file system tells nothing")
    write(tmp_path / "elsewhere", "a longer text, of which nobody is told under the name that is listed")
    assert listing.read() == before


def _tells(directory: Path) -> bool:
    told = InotifyWatch.open()
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        return told is not None and told.watch(handle, "")
    finally:
        os.close(handle)


def test_where_the_system_tells_nothing_every_file_is_looked_at(tmp_path: Path) -> None:
    memory = MemoryFolder(tmp_path, tmp_path)
    listing = TrackedListing(memory, open_told=lambda: None)
    for number in range(4):
        write(tmp_path / f"{number}.md", "text")
        assert listing.read() == list_tracked(memory)
