from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reverie.files.places import Identity, Places, ProjectFolder, slug_of
from reverie.files.places.transcripts import list_subagent_transcripts, list_transcript_folders
from tests.files.places.conftest import Git
from tests.requirements import requirement


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places.at(tmp_path / "home", tmp_path / "config")


def hold_session(projects: Path, cwd: Path) -> ProjectFolder:
    """Leave a folder as a session at this place would, with the place written in it."""
    folder = ProjectFolder(projects / slug_of(str(cwd)))
    folder.directory.mkdir(parents=True, exist_ok=True)
    (folder.directory / "cwd").write_text(str(cwd), encoding="utf-8")
    return folder


def read_cwd(folder: ProjectFolder) -> str | None:
    file = folder.directory / "cwd"
    return file.read_text(encoding="utf-8") if file.exists() else None


@requirement("places:transcripts:whole-repository")
def test_sessions_anywhere_in_a_repository_are_found(
    places: Places, make_repository: Callable[[Path], Path], git: Git, tmp_path: Path
) -> None:
    base = tmp_path.resolve()
    root = make_repository(base / "repo")
    git(root, "worktree", "add", "-q", "../tree")
    for folder in (root / "src" / "deep", base / "tree" / "src"):
        folder.mkdir(parents=True)
    mine = {
        hold_session(places.projects, root),
        hold_session(places.host_projects, root),
        hold_session(places.host_projects, root / "src" / "deep"),
        hold_session(places.host_projects, root / "gone"),
        hold_session(places.projects, base / "tree" / "src"),
        hold_session(places.host_projects, base / "before" / "the-move"),
    }
    foreign = {
        hold_session(places.host_projects, make_repository(base / "repo-two")),
        hold_session(places.host_projects, make_repository(root / "nested")),
        hold_session(places.host_projects, base / "elsewhere"),
    }
    unknown = ProjectFolder(places.projects / f"{slug_of(str(root))}-unknown")
    unknown.directory.mkdir()
    known = Identity(str(root), other_paths=(str(base / "before"),))

    for path in (root, root / "src", base / "tree"):
        found = list_transcript_folders(places, path, identity=known, read_cwd=read_cwd)
        assert set(found) == mine
        assert len(found) == len(mine)

    assert mine < set(list_transcript_folders(places, root, identity=known)) <= mine | foreign | {unknown}


def test_a_place_that_cannot_be_is_not_followed(places: Places, tmp_path: Path) -> None:
    root = tmp_path.resolve() / "plain"
    root.mkdir()
    folder = hold_session(places.projects, root)

    for cwd, belongs in ((str(root), True), ("", False), ("relative", False), ("/a\0b", False), (None, True)):
        answers = {folder: cwd}
        assert list_transcript_folders(places, root, read_cwd=answers.get) == ((folder,) if belongs else ())


def test_no_homes_no_folders(places: Places, tmp_path: Path) -> None:
    assert list_transcript_folders(places, tmp_path) == ()


def test_a_folder_named_by_the_user_is_always_listed(tmp_path: Path) -> None:
    places = Places.at(tmp_path / "home", tmp_path / "config", project_dir_name="mine")
    (places.host_projects / "mine").mkdir(parents=True)

    assert list_transcript_folders(places, tmp_path) == (ProjectFolder(places.host_projects / "mine"),)


@requirement("places:paths:layout")
def test_sub_agents_are_found_in_both_places(tmp_path: Path) -> None:
    folder = ProjectFolder(tmp_path)
    new = folder.session("s1").subagent_transcript("a1")
    nested = folder.session("s1").subagents / "workflows" / "run" / "agent-a2.jsonl"
    early = tmp_path / "agent-a3.jsonl"
    for path in (new, nested, early, folder.transcript("s1"), folder.session("s2").subagent_transcript("a4")):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    assert list_subagent_transcripts(folder, "s1") == (new, nested, early)
    assert list_subagent_transcripts(ProjectFolder(tmp_path / "missing"), "s1") == ()


@requirement("places:transcripts:whole-repository")
def test_sessions_brought_from_another_machine_count_in_the_folder_of_the_project(
    places: Places, make_repository: Callable[[Path], Path], tmp_path: Path
) -> None:
    root = make_repository(tmp_path.resolve() / "repo")
    brought = hold_session(places.projects, root)
    (brought.directory / "cwd").write_text("/Users/ada/no/such/place", encoding="utf-8")
    neighbour = hold_session(places.host_projects, root)
    (neighbour.directory / "cwd").write_text(str(tmp_path), encoding="utf-8")

    assert list_transcript_folders(places, root, read_cwd=read_cwd) == (brought,)
