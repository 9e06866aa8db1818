from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.files.places import normalise_remote
from reverie.files.places.remotes import read_remotes
from tests.files.places.conftest import Git
from tests.requirements import requirement

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
