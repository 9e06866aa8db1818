from __future__ import annotations

import json
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.errors import Damaged
from reverie.files.places import IdentityEvidence, Places, Project, find_project, list_projects, open_project, slug
from tests.files.places.conftest import Git
from tests.requirements import requirement

Make = Callable[[Path], Path]
NOW = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places.at(tmp_path / "home", tmp_path / "config")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return (tmp_path / "work").resolve()


@pytest.fixture
def open_at(places: Places, git: Git) -> Callable[[Path], Project]:
    """Open the store of the project at a path, with a new marker each time, asking the real git."""
    opened = 0

    def first_commit(root: Path) -> str | None:
        try:
            return git(root, "rev-list", "--max-parents=0", "HEAD")
        except subprocess.CalledProcessError:
            return None

    def run(path: Path) -> Project:
        nonlocal opened
        opened += 1
        return open_project(places, path, new_marker=f"marker-{opened:04}", first_commit=first_commit, now=NOW)

    return run


Open = Callable[[Path], Project]


@requirement("places:identity:survives-a-move")
def test_a_moved_repository_without_remote_finds_its_store_again(
    places: Places, make_repository: Make, open_at: Open, work: Path
) -> None:
    before = open_at(make_repository(work / "before"))
    (work / "before").rename(work / "after")

    after = open_at(work / "after")

    assert (before.evidence, after.evidence) == (None, IdentityEvidence.MARKER)
    assert after.folder == before.folder == places.project(work / "before")
    assert (after.identity.path, after.identity.other_paths) == (str(work / "after"), (str(work / "before"),))
    assert open_at(work / "after") == after


@requirement("places:identity:survives-a-move", "places:identity:repository-not-path")
def test_a_clone_elsewhere_finds_the_store_by_its_remote(
    make_repository: Make, git: Git, open_at: Open, work: Path
) -> None:
    one = make_repository(work / "one")
    git(one, "remote", "add", "origin", "git@host:owner/name.git")
    first = open_at(one)
    two = make_repository(work / "two")
    git(two, "remote", "add", "origin", "https://user@host/owner/name")

    second = open_at(two)

    assert (second.folder, second.evidence) == (first.folder, IdentityEvidence.REMOTE)
    assert second.identity.path == str(one)
    assert second.identity.other_paths == (str(two),)
    assert not (two / ".git" / "reverie-id").exists()

    git(two, "remote", "set-url", "origin", "git@host:owner/another.git")
    assert open_at(two).folder != first.folder


@requirement("places:identity:repository-not-path")
def test_worktrees_and_subfolders_share_the_store(make_repository: Make, git: Git, open_at: Open, work: Path) -> None:
    main = make_repository(work / "main")
    git(main, "worktree", "add", "-q", "../tree")
    (main / "src").mkdir()

    stores = {open_at(path).folder for path in (work / "tree", main, main / "src")}

    assert len(stores) == 1


@requirement("places:identity:repository-not-path")
def test_another_repository_at_the_same_path_gets_its_own_store(
    places: Places, make_repository: Make, git: Git, open_at: Open, work: Path
) -> None:
    path = make_repository(work / "app")
    git(path, "remote", "add", "origin", "https://host/one")
    first = open_at(path)
    path.rename(work / "kept")
    git(make_repository(path), "remote", "add", "origin", "https://host/two")
    git(path, "commit", "-q", "--allow-empty", "--amend", "-m", "begin differently")

    second = open_at(path)

    assert second.folder.directory == places.projects / f"{slug(path)}-2"
    assert open_at(work / "kept").folder == first.folder
    assert open_at(path) == find_project(places, path)
    assert open_at(path).folder == second.folder


def test_a_repository_cloned_anew_from_a_renamed_remote_to_the_same_path_keeps_its_store(
    make_repository: Make, git: Git, open_at: Open, work: Path
) -> None:
    path = make_repository(work / "app")
    git(path, "remote", "add", "origin", "https://host/old-name")
    first = open_at(path)
    (path / ".git" / "reverie-id").unlink()
    git(path, "remote", "set-url", "origin", "https://host/new-name")

    again = open_at(path)

    assert (again.folder, again.evidence) == (first.folder, IdentityEvidence.PATH)
    assert again.identity.remotes == ("host/new-name",)


@requirement("places:identity:first-commit-suggests")
def test_an_equal_first_commit_only_suggests(make_repository: Make, git: Git, open_at: Open, work: Path) -> None:
    template = make_repository(work / "template")
    git(template, "remote", "add", "origin", "https://host/template")
    original = open_at(template)
    git(work, "clone", "-q", str(template), "derived")
    git(work / "derived", "remote", "set-url", "origin", "https://host/derived")

    derived = open_at(work / "derived")

    assert derived.folder != original.folder
    assert (derived.evidence, derived.suggestions) == (None, (original.folder,))
    assert derived.identity.first_commit == original.identity.first_commit is not None


@requirement("places:identity:slug-collision")
def test_two_projects_with_one_slug_get_stores_of_their_own(places: Places, open_at: Open, work: Path) -> None:
    paths = (work / "a-b", work / "a" / "b", work / "a_b")
    for path in paths:
        path.mkdir(parents=True)

    stores = [open_at(path) for path in paths]

    assert [store.folder.directory.name for store in stores] == [slug(work / "a-b") + end for end in ("", "-2", "-3")]
    assert [open_at(path).folder for path in paths] == [store.folder for store in stores]
    assert all(open_at(path).evidence is IdentityEvidence.PATH for path in paths)


def test_a_folder_that_holds_only_transcripts_becomes_the_store(places: Places, open_at: Open, work: Path) -> None:
    transcript = places.project(work).transcript("session")
    transcript.parent.mkdir(parents=True)
    transcript.touch()

    assert open_at(work).folder == places.project(work)


def test_a_plain_folder_that_becomes_a_repository_keeps_its_store_and_gets_a_marker(
    make_repository: Make, open_at: Open, work: Path
) -> None:
    (work / "plain").mkdir()
    before = open_at(work / "plain")
    make_repository(work / "plain")
    known = open_at(work / "plain")
    (work / "plain").rename(work / "moved")

    assert known.folder == before.folder
    assert open_at(work / "moved").folder == before.folder


def test_a_new_folder_where_a_repository_was_is_another_project(
    make_repository: Make, open_at: Open, work: Path
) -> None:
    first = open_at(make_repository(work / "here"))
    (work / "here").rename(work / "there")
    (work / "here").mkdir()
    assert open_at(work / "there").folder == first.folder

    assert open_at(work / "here").folder != first.folder


def test_looking_changes_nothing(places: Places, make_repository: Make, work: Path) -> None:
    path = make_repository(work / "app")

    assert find_project(places, path) is None
    assert not places.home.exists()
    assert not (path / ".git" / "reverie-id").exists()


def test_a_folder_named_by_the_user_is_the_store_of_whatever_project(tmp_path: Path, work: Path) -> None:
    places = Places.at(tmp_path / "home", tmp_path / "config", project_dir_name="mine")

    found = find_project(places, work)

    assert found is not None
    assert (found.folder.directory, found.evidence) == (places.projects / "mine", IdentityEvidence.NAME)


@requirement("places:identity:damaged")
@pytest.mark.parametrize("content", ["", "{", "[]", '{"path": 1}', '{"path": "/x", "remotes": 5}'])
def test_a_damaged_identity_is_named_and_not_overwritten(
    content: str, places: Places, open_at: Open, work: Path
) -> None:
    file = places.project(work).identity
    file.parent.mkdir(parents=True)
    file.write_text(content, encoding="utf-8")

    with pytest.raises(Damaged) as caught:
        open_at(work)

    assert caught.value.path == file
    assert file.read_text(encoding="utf-8") == content
    assert list(list_projects(places)) == []


def test_credentials_of_a_remote_are_not_stored(
    places: Places, make_repository: Make, git: Git, open_at: Open, work: Path
) -> None:
    path = make_repository(work / "app")
    password = "-".join(("correct", "horse"))
    git(path, "remote", "add", "origin", f"https://me:{password}@host/o/r")

    stored = open_at(path).folder.identity.read_text(encoding="utf-8")

    assert json.loads(stored)["remotes"] == ["host/o/r"]
    assert password not in stored


def test_processes_that_open_one_project_at_once_get_one_store(
    places: Places, make_repository: Make, work: Path
) -> None:
    script = """
        import sys
        from datetime import UTC, datetime
        from pathlib import Path
        from reverie.files.places import Places, open_project
        home, path, marker = sys.argv[1:]
        places = Places.at(Path(home), Path(home))
        project = open_project(
            places, Path(path), new_marker=marker, first_commit=lambda root: None, now=datetime(2026, 5, 1, tzinfo=UTC)
        )
        print(project.folder.directory.name, project.identity.marker)
    """
    make_repository(work / "a-b")
    (work / "a" / "b").mkdir(parents=True)
    for round_number in range(3):
        shutil.rmtree(places.home, ignore_errors=True)
        (work / "a-b" / ".git" / "reverie-id").unlink(missing_ok=True)
        started = [
            subprocess.Popen(
                [sys.executable, "-c", textwrap.dedent(script), places.home, path, f"marker-{round_number}-{number}"],
                stdout=subprocess.PIPE,
                text=True,
            )
            for number, path in enumerate((work / "a-b", work / "a" / "b") * 2)
        ]
        answers = [process.communicate()[0] for process in started]

        assert answers[0] == answers[2] != answers[1] == answers[3]
        assert {answer.split()[0] for answer in answers} == {slug(work / "a-b"), slug(work / "a-b") + "-2"}


def test_a_read_only_repository_gets_a_store_without_a_marker(
    places: Places, make_repository: Make, open_at: Open, work: Path
) -> None:
    path = make_repository(work / "app")
    (path / ".git" / "reverie-id").mkdir()  # nothing can be written there

    assert open_at(path).identity.marker is None
    assert open_at(path).evidence is IdentityEvidence.PATH
