"""A memory directory that came from elsewhere: nothing that its repository configures is run; damage is repaired."""

from __future__ import annotations

import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reverie.errors import Error
from reverie.memory.memory import Memory
from reverie.memory.store.history import pack
from reverie.memory.topics.draft import draft_topic
from reverie.settings import Settings
from tests.requirements import requirement


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", settings=Settings()) as opened:
        for number in range(3):
            opened.keep(draft_topic(f"Topic {number}", f"About {number}", "project", f"Text {number}.", trust="said"))
        yield opened


def reopened(memory: Memory) -> Memory:
    return Memory(memory.directory, settings=Settings())


def evil(tmp_path: Path) -> tuple[str, Path]:
    """A program that leaves a mark when it runs."""
    mark, program = tmp_path / "ran", tmp_path / "evil"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {mark}\ncat\n', encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return str(program), mark


def make_loose(git: Path, scratch: Path) -> None:
    """Take every object out of its pack, so that one of them can be removed."""
    for pack_file in list((git / "objects" / "pack").glob("*.pack")):
        aside = pack_file.rename(scratch / pack_file.name)
        pack_file.with_suffix(".idx").unlink()
        with aside.open("rb") as stream:
            subprocess.run(["git", "unpack-objects", "-q"], cwd=git.parent, stdin=stream, check=True)


def configured(program: str, hooks: Path) -> str:
    return f"""
[core]
	repositoryFormatVersion = 1
	fsmonitor = {program}
	hooksPath = {hooks}
	pager = {program}
	editor = {program}
	sshCommand = {program}
	gitProxy = {program}
	askPass = {program}
	alternateRefsCommand = {program}
	attributesFile = {hooks}/attributes
[extensions]
	partialClone = origin
[remote "origin"]
	url = {hooks.parent}/memory
	promisor = true
	partialclonefilter = blob:none
	uploadpack = {program}
[remote "other"]
	url = ext::{program} %S
	promisor = true
[diff]
	external = {program}
[diff "evil"]
	textconv = {program}
	command = {program}
[filter "evil"]
	clean = {program}
	smudge = {program}
	process = {program}
	required = true
[merge "evil"]
	driver = {program}
[gpg]
	program = {program}
[log]
	showSignature = true
[include]
	path = {hooks}/more
[pack]
	packSizeLimit = 1
"""


@requirement("store:git:own-settings")
def test_nothing_that_a_memory_configures_is_run(memory: Memory, tmp_path: Path) -> None:
    program, mark = evil(tmp_path)
    git, hooks = memory.directory / ".git", tmp_path / "hooks"
    hooks.mkdir()
    for name in ("pre-commit", "reference-transaction", "post-checkout", "post-index-change", "pre-auto-gc"):
        (hooks / name).symlink_to(program)
        (git / "hooks").mkdir(exist_ok=True)
        (git / "hooks" / name).symlink_to(program)
    (hooks / "more").write_text(f"[core]\n\tfsmonitor = {program}\n", encoding="utf-8")
    (hooks / "attributes").write_text("*.md diff=evil filter=evil merge=evil\n", encoding="utf-8")
    (git / "info" / "attributes").write_text("*.md diff=evil filter=evil merge=evil\n", encoding="utf-8")
    ask = ["git", "rev-parse", "HEAD:project_topic_1.md"]
    named = subprocess.run(ask, cwd=memory.directory, capture_output=True, text=True, check=True).stdout.strip()
    make_loose(git, tmp_path)
    (git / "config").write_text(configured(program, hooks), encoding="utf-8")
    # Git fetches what is missing, by a program that the repository names.
    (git / "objects" / named[:2] / named[2:]).unlink()
    with reopened(memory) as again:
        actions: tuple[Callable[[], object], ...] = (
            again.sync,
            again.log,
            again.diff,
            lambda: again.log("Topic 1"),
            lambda: again.why("Topic 1"),
            lambda: again.undo(again.log()[0].commit),
            lambda: again.export(tmp_path / "copy.zip"),
            lambda: again.import_from(tmp_path / "copy.zip"),
            lambda: again.keep(draft_topic("New", "Words", "project", "Text.", trust="said")),
            again.problems,
            lambda: pack(again.store.history),
            lambda: again.erase("Topic 0"),
            again.diff,
            lambda: again.topics_at(again._now()),
        )
        for action in actions:
            try:
                action()
            except (Error, OSError):
                continue
    assert not mark.exists(), mark.read_text(encoding="utf-8")


def put_directory(place: Path) -> None:
    """A directory with something in it, in the place of a file."""
    place.unlink()
    place.mkdir()
    (place / "kept").write_bytes(b"somebody's\n")


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty reference": lambda git: (git / "refs" / "heads" / "main").write_bytes(b""),
    "reference of zeros": lambda git: (git / "refs" / "heads" / "main").write_bytes(b"\0" * 41),
    "garbage in the reference": lambda git: (git / "refs" / "heads" / "main").write_bytes(b"\xff\xfe not a commit\n"),
    "no reference": lambda git: (git / "refs" / "heads" / "main").unlink(),
    "empty HEAD": lambda git: (git / "HEAD").write_bytes(b""),
    "garbage in HEAD": lambda git: (git / "HEAD").write_bytes(b"\0\0\0\xff"),
    "no HEAD": lambda git: (git / "HEAD").unlink(),
    "HEAD that leads out": lambda git: (git / "HEAD").write_bytes(b"ref: refs/heads/../../../../outside\n"),
    "reference to nothing": lambda git: (git / "refs" / "heads" / "main").write_bytes(b"12" * 20 + b"\n"),
    "HEAD to nothing": lambda git: (git / "HEAD").write_bytes(b"12" * 20 + b"\n"),
    "directory for the reference": lambda git: put_directory(git / "refs" / "heads" / "main"),
    "directory for HEAD": lambda git: put_directory(git / "HEAD"),
    "both": lambda git: [(git / "HEAD").write_bytes(b""), (git / "refs" / "heads" / "main").write_bytes(b"")],
}


@requirement("store:git:damaged-head")
@pytest.mark.sampled
@pytest.mark.parametrize("has_note", [True, False])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_reference_is_found_again_and_told(memory: Memory, damage: str, has_note: bool) -> None:
    git = memory.directory / ".git"
    before = [commit.commit for commit in memory.log()]
    DAMAGES[damage](git)
    if not has_note and damage != "no reference":
        (git / "reverie" / "state").unlink()
    with reopened(memory) as again:
        (problem,) = [each for each in again.problems() if each.kind == "history"]
        assert problem.is_fixable
        again.keep(draft_topic("New", "Words", "project", "Text.", trust="said"))
        assert [commit.commit for commit in again.log()][1:] == before
        assert any(before[0][:8] in caution for caution in again.cautions())
        assert not [each for each in again.problems() if each.kind == "history"]
    assert not (memory.directory.parent / "outside").exists()
    assert len(list(git.rglob("kept"))) == ("directory" in damage)
    fsck = subprocess.run(["git", "fsck"], cwd=memory.directory, capture_output=True, check=False)
    assert fsck.returncode == 0


@requirement("store:git:damaged-head")
def test_doctor_repairs_a_damaged_reference(memory: Memory) -> None:
    before = len(memory.log())
    (memory.directory / ".git" / "refs" / "heads" / "main").write_bytes(b"")
    with reopened(memory) as again:
        assert any("found again" in done for done in again.repair())
        assert len(again.log()) == before


@requirement("store:git:damaged-head")
def test_a_directory_in_the_place_of_a_packed_reference_is_set_aside(memory: Memory) -> None:
    subprocess.run(["git", "pack-refs", "--all"], cwd=memory.directory, check=True)
    (memory.directory / ".git" / "refs" / "heads" / "main").mkdir()
    before = len(memory.log())
    with reopened(memory) as again:
        again.keep(draft_topic("New", "Words", "project", "Text.", trust="said"))
        assert len(again.log()) == before + 1
