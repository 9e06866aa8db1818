from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reverie.errors import UserMistake
from reverie.files.places import slug, slug_of
from reverie.files.places.paths import check_folder_name, names_folder_of
from tests.requirements import requirement

vendor = pytest.importorskip("claude_agent_sdk._internal.sessions")

PATHS = st.lists(
    st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=60), max_size=12
).map(lambda parts: "/" + "/".join(parts))


@requirement("places:slug:vendor")
@given(path=PATHS)
@example("/home/user/my.repo")
@example("/home/user/" + "long-name/" * 30)
@example("/home/ünïcode/日本語/🚀" * 12)
@example("/" + "a" * 199)
@example("/" + "a" * 200)
def test_the_slug_is_the_vendors(path: str) -> None:
    normal = unicodedata.normalize("NFC", path)

    assert slug_of(normal) == vendor._sanitize_path(normal)


@requirement("places:slug:vendor")
def test_a_path_is_made_canonical_as_the_vendor_does(tmp_path: Path) -> None:
    real = tmp_path / unicodedata.normalize("NFD", "Größe") / "re_po"
    real.mkdir(parents=True)
    (tmp_path / "link").symlink_to(real)

    for path in (real, tmp_path / "link", real / ".." / "re_po", real / "missing"):
        assert slug(path) == vendor._sanitize_path(vendor._canonicalize_path(str(path)))
    assert slug(tmp_path / "link").endswith("-Gr--e-re-po")


@requirement("places:slug:reading-is-tolerant")
@given(path=PATHS, below=PATHS)
def test_the_folder_of_a_path_and_of_what_lies_below_is_recognised(path: str, below: str) -> None:
    path = os.path.normpath(path)
    deeper = os.path.normpath(path + below)

    assert names_folder_of(slug_of(path), path)
    assert names_folder_of(slug_of(deeper), path, or_below=True)


@requirement("places:slug:reading-is-tolerant")
def test_long_paths_are_recognised_by_their_beginning_and_wide_characters_in_both_counts() -> None:
    long_path = "/" + "deep/" * 60
    written = slug_of(long_path)[:200]

    assert names_folder_of(f"{written}-anotherhash", long_path)
    assert not names_folder_of(f"{written}x", long_path)
    assert names_folder_of("-home---app", "/home/🚀app")
    assert names_folder_of("-home--app", "/home/🚀app")
    assert not names_folder_of("-home-u-app-two", "/home/u/app")
    assert names_folder_of("-home-u-app-two", "/home/u/app", or_below=True)
    assert not names_folder_of("-home-u-application", "/home/u/app", or_below=True)
    assert names_folder_of("-home", "/", or_below=True)


def test_a_folder_name_of_the_users_own_is_checked() -> None:
    assert check_folder_name("my_project-2") == "my_project-2"
    for name in ("", "a/b", "..", "n" * 65, "ü", "name\n"):
        with pytest.raises(UserMistake):
            check_folder_name(name)
