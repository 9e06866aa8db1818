""""""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from reverie.files.places import Checkout, find_checkout, list_worktrees, normalise_remote, project_root
from reverie.files.places.checkout import read_git_config, read_remotes
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


WRITTEN = """\
# a comment
[core]
\tbare = false
\tworktree = "C:\\\\work tree" ; trailing
[Remote "Or\\"igin"]
    URL = https://host/a#b
\tfetch = +refs/heads/*:refs/remotes/origin/*
[remote.old] url = first
\turl = second
\tlong = one \\
two
no equals sign
= nothing
[broken
"""


def test_a_configuration_is_read_as_git_writes_it(tmp_path: Path) -> None:
    (tmp_path / "config").write_text(WRITTEN, encoding="utf-8")

    assert read_git_config(tmp_path / "config") == {
        "core.bare": "false",
        "core.worktree": "C:\\work tree",
        'remote.Or"igin.url': "https://host/a",
        'remote.Or"igin.fetch': "+refs/heads/*:refs/remotes/origin/*",
        "remote.old.url": "first",
        "remote.old.long": "one two",
    }


def test_a_configuration_that_is_missing_or_no_text_is_empty(tmp_path: Path) -> None:
    (tmp_path / "config").write_bytes(b"\xff\xfe\x00[core]\x00")

    assert read_git_config(tmp_path / "config") == {}
    assert read_git_config(tmp_path / "missing") == {}


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(value=st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40))
@example(value=" blanks at both ends\t")
@example(value="line\nbreak\u2028and\r\nmore\x0b")
@example(value='"#;\\')
@example(value="\\")
def test_what_git_writes_we_read(value: str, git: Git, tmp_path: Path) -> None:
    git(tmp_path, "config", "--file", "config", "remote.o.url", value)

    understood = git(tmp_path, "config", "--file", "config", "remote.o.url")
    assert read_git_config(tmp_path / "config") == {"remote.o.url": understood}


ROOT = Path("/home/u/repo")


@requirement("places:remotes:one-spelling")
@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/Owner/Repo.git",
        "https://GitHub.com/Owner/Repo",
        "https://github.com/Owner/Repo/",
        "https://user@github.com/Owner/Repo.git",
        "https://github.com:443/Owner/Repo.git",
        "http://github.com/Owner//Repo.git?x=y#z",
        "ssh://git@github.com/Owner/Repo.git",
        "ssh://git@github.com:22/Owner/Repo.git",
        "git+ssh://git@github.com/Owner/Repo",
        "git://github.com/Owner/Repo.git",
        "git@github.com:Owner/Repo.git",
        "git@GITHUB.com:/Owner/Repo.git/",
        "github.com:Owner/Repo",
        "  https://github.com/Owner/Repo.git\n",
    ],
)
def test_one_repository_has_one_spelling(url: str) -> None:
    assert normalise_remote(url, root=ROOT) == "github.com/Owner/Repo"


@pytest.mark.parametrize(
    ("url", "spelling"),
    [
        ("https://host:8443/o/r.git", "host:8443/o/r"),
        ("ssh://git@host:2222/o/r.git", "host:2222/o/r"),
        ("ssh://[::1]:2222/o/r", "[::1]:2222/o/r"),
        ("git@[::1]:o/r.git", "[::1]/o/r"),
        ("/srv/git/r.git", "/srv/git/r"),
        ("/srv/r/.git", "/srv/r"),
        ("file:///srv/git/r.git/", "/srv/git/r"),
        ("../other.git", "/home/u/other"),
        ("C:\\repos\\r", "/home/u/repo/C:\\repos\\r"),
        ("codecommit::eu-west-1://profile@r", "r"),
        ("ext::ssh host %S r", "ext::ssh host %S r"),
        ("", None),
        ("https://", None),
        ("https://user:pa/ss@host/r", None),
    ],
)
def test_unusual_addresses(url: str, spelling: str | None) -> None:
    assert normalise_remote(url, root=ROOT) == spelling


WORDS = st.text("abcXYZ019-_.", min_size=1, max_size=12).filter(lambda word: word.strip(".") and word[-4:] != ".git")


@requirement("places:remotes:one-spelling")
@given(
    host=st.from_regex(r"[a-zA-Z][a-zA-Z0-9-]{1,20}(\.[a-zA-Z]{2,6}){0,2}", fullmatch=True),
    path=st.lists(WORDS, min_size=1, max_size=4).map("/".join),
    user=st.text("abc:%@!$&'()*+,;=-._~", max_size=20),
)
def test_ways_to_reach_a_repository_are_equal_and_keep_no_credentials(host: str, path: str, user: str) -> None:
    spelling = f"{host.lower()}/{path}"

    for url in (
        f"https://{user}@{host}/{path}.git",
        f"ssh://{user}@{host}/{path}",
        f"git@{host}:{path}.git",
        f"HTTPS://{host}/{path}/",
    ):
        assert normalise_remote(url, root=ROOT) == spelling


@given(st.text())
def test_no_address_is_too_strange(url: str) -> None:
    normalise_remote(url, root=ROOT)


def test_the_remotes_of_a_repository_are_read_with_origin_first(git: Git, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "remote", "add", "upstream", "https://secret@host/o/r.git")
    git(tmp_path, "remote", "add", "origin", "git@host:me/r.git")
    git(tmp_path, "remote", "add", "again", "https://host/me/r")

    assert read_remotes(tmp_path / ".git", tmp_path) == ("host/me/r", "host/o/r")
