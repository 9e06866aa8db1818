from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from reverie.files.places import Checkout, find_checkout, list_worktrees, project_root
from tests.files.places.conftest import Git
from tests.requirements import requirement

Make = Callable[[Path], Path]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return tmp_path.resolve()


@requirement("places:checkout:as-git")
def test_the_checkout_around_a_path_is_the_one_git_finds(make_repository: Make, git: Git, base: Path) -> None:
    outer = make_repository(base / "outer")
    inner = make_repository(outer / "lib" / "inner")
    (outer / "src" / "deep").mkdir(parents=True)
    (base / "link").symlink_to(outer / "src")

    for path in (outer, outer / "src" / "deep", outer / "lib", inner, base / "link" / "deep"):
        found = find_checkout(path)
        assert found is not None
        assert str(found.top) == git(path, "rev-parse", "--show-toplevel")
        assert found.root == found.top
        assert found.git_dir == found.top / ".git"


def test_outside_of_git_a_project_is_its_real_path(base: Path) -> None:
    (base / "real").mkdir()
    (base / "link").symlink_to(base / "real")
    (base / "real" / ".git").mkdir()  # an empty one is no repository, to git neither

    assert find_checkout(base / "link") is None
    assert project_root(base / "link") == base / "real"
    assert project_root(base / "not" / "there") == base / "not" / "there"


@requirement("places:checkout:worktrees-share")
def test_worktrees_have_the_root_of_their_repository(make_repository: Make, git: Git, base: Path) -> None:
    main = make_repository(base / "main")
    git(main, "worktree", "add", "-q", "../aside")
    git(main, "worktree", "add", "-q", ".claude/worktrees/inside")
    (base / "aside" / "src").mkdir()

    for path in (main, base / "aside", base / "aside" / "src", main / ".claude" / "worktrees" / "inside"):
        found = find_checkout(path)
        assert found is not None
        assert (found.root, found.git_dir) == (main, main / ".git")
        assert list_worktrees(found) == (main, base / "aside", main / ".claude" / "worktrees" / "inside")

    shutil.rmtree(base / "aside")
    assert list_worktrees(Checkout(main, main, main / ".git")) == (main, main / ".claude" / "worktrees" / "inside")


def test_worktrees_of_a_bare_repository_share_it(make_repository: Make, git: Git, base: Path) -> None:
    make_repository(base / "source")
    git(base, "clone", "-q", "--bare", "source", "project.git")
    git(base / "project.git", "worktree", "add", "-q", "../one", "-b", "one")
    git(base / "project.git", "worktree", "add", "-q", "../two", "-b", "two")

    assert project_root(base / "one") == project_root(base / "two") == project_root(base / "project.git")


def test_a_hidden_bare_repository_belongs_to_the_folder_that_points_to_it(
    make_repository: Make, git: Git, base: Path
) -> None:
    make_repository(base / "source")
    git(base, "clone", "-q", "--bare", "source", "project/.bare")
    (base / "project" / ".git").write_text("gitdir: ./.bare\n", encoding="utf-8")
    git(base / "project", "worktree", "add", "-q", "feature")

    assert project_root(base / "project") == project_root(base / "project" / "feature") == base / "project"


def test_a_submodule_is_a_project_of_its_own_and_shares_with_its_worktrees(
    make_repository: Make, git: Git, base: Path
) -> None:
    outer = make_repository(base / "outer")
    make_repository(base / "library")
    git(outer, "submodule", "add", "-q", str(base / "library"), "vendor/library")
    submodule = outer / "vendor" / "library"
    git(submodule, "worktree", "add", "-q", str(base / "library-aside"))

    found = find_checkout(submodule)
    assert found == Checkout(submodule, submodule, outer / ".git" / "modules" / "vendor" / "library")
    assert project_root(base / "library-aside") == submodule


@requirement("places:checkout:not-fooled")
def test_a_folder_that_claims_the_git_folder_of_another_is_not_taken_for_it(
    make_repository: Make, git: Git, base: Path
) -> None:
    victim = make_repository(base / "victim")
    git(victim, "worktree", "add", "-q", "../tree")
    admin = victim / ".git" / "worktrees" / "tree"
    for number, target in enumerate((victim / ".git", admin, base / "missing", Path("/dev"))):
        hostile = base / f"hostile-{number}"
        hostile.mkdir()
        (hostile / ".git").write_text(f"gitdir: {target}\n", encoding="utf-8")

        assert find_checkout(hostile) == Checkout(hostile, hostile, None)

    linked = base / "linked"
    linked.mkdir()
    (linked / ".git").symlink_to(victim / ".git")
    assert find_checkout(linked) == Checkout(linked, linked, None)


@requirement("places:checkout:not-fooled")
def test_a_folder_that_points_to_itself_does_not_hang(base: Path) -> None:
    admin = base / "common" / "worktrees" / "x"
    admin.mkdir(parents=True)
    (base / ".git").write_text(f"gitdir: {admin}\n", encoding="utf-8")
    (admin / "commondir").write_text("../..\n", encoding="utf-8")
    (admin / "gitdir").write_text(f"{base / '.git'}\n", encoding="utf-8")

    found = find_checkout(base)

    assert found == Checkout(base, base / "common", base / "common")
    assert list_worktrees(found) == (base / "common", base)


@pytest.mark.parametrize(
    "content", [b"", b"gitdir:", b"nonsense", b"gitdir: a\0b", b"\xff\xfe", b"gitdir: " + b"x" * 9000]
)
def test_a_broken_git_file_is_passed_over_or_stands_for_itself(content: bytes, base: Path) -> None:
    (base / ".git").write_bytes(content)

    assert find_checkout(base) in (None, Checkout(base, base, None), Checkout(base, base, base))
