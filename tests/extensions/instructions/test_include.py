from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.extensions.instructions.include import find_target, is_only_includes, link_target, mentions
from tests.extensions.instructions.trees import write_tree
from tests.requirements import requirement

PATHS = st.lists(st.text(st.sampled_from("abcXYZ019_-é文"), min_size=1, max_size=6), min_size=1, max_size=4).map(
    lambda parts: "/".join(parts) + ".md"
)


@requirement("instructions:include")
@given(
    PATHS,
    st.sampled_from(["", "./", "../", "~/", "/"]),
    st.sampled_from(["{}", "see {} now", "- {}\n", "（{}）", "a\n\n{}"]),
)
def test_every_path_in_prose_is_found(path: str, start: str, around: str) -> None:
    found = mentions(around.format(f"@{start}{path}"))

    assert [word.rstrip("）") for word in found] == [start + path]


@requirement("instructions:include:not-in-code")
@given(PATHS, st.sampled_from(["`{}`", "```\n{}\n```", "~~~\n{}\n~~~", "`` {} ``", "<!-- {} -->"]))
def test_no_path_in_code_or_a_comment_is_found(path: str, around: str) -> None:
    assert mentions(around.format(f"@{path}")) == ()


@requirement("instructions:include:not-in-code")
@given(st.from_regex(r"[a-z0-9._%+-]{0,8}[a-z0-9._%+-]@[a-z0-9-]{1,8}\.(com|md|org)", fullmatch=True))
def test_no_address_is_an_include(address: str) -> None:
    assert mentions(f"write to {address} or <{address}>, mailto:{address}") == ()


@pytest.mark.parametrize(
    "text", ["https://x.example/@name/post.md", "npm i left-pad@1.2.md", "a\\@b.md", "x=@y.md", "$@a.md"]
)
@requirement("instructions:include:not-in-code")
def test_other_uses_of_the_sign_are_not_includes(text: str) -> None:
    assert mentions(text) == ()


@requirement("instructions:include")
@pytest.mark.parametrize(
    "text",
    [
        "@docs/a.md", "@./docs/a.md", "See @docs/a.md.", "(@docs/a.md)", "[a](@docs/a.md), then", "**@docs/a.md**",
        "“@docs/a.md”", "参见@docs/a.md。", "参见@docs/a.md的说明", "@docs/a.md#setup", "@docs/a.md:",
        "@docs/../docs/a.md",
    ],
)  # fmt: skip
def test_the_file_is_found_whatever_stands_around_its_name(tmp_path: Path, text: str) -> None:
    write_tree(tmp_path, {"docs/a.md": "A"})

    found = [find_target(word, tmp_path, tmp_path).path for word in mentions(text)]

    assert [path and path.resolve() for path in found] == [(tmp_path / "docs/a.md").resolve()]


@requirement("instructions:include")
def test_a_space_in_a_name_is_written_with_a_backslash(tmp_path: Path) -> None:
    write_tree(tmp_path, {"my notes.md": "A"})

    (word,) = mentions("read @my\\ notes.md first")

    assert find_target(word, tmp_path, tmp_path).path == tmp_path / "my notes.md"


@requirement("instructions:include")
def test_a_tilde_is_the_home_and_a_slash_the_root(tmp_path: Path) -> None:
    write_tree(tmp_path, {"home/a.md": "A", "b.md": "B"})

    assert find_target("~/a.md", tmp_path / "elsewhere", tmp_path / "home").path == tmp_path / "home/a.md"
    assert find_target(f"{tmp_path}/b.md", tmp_path / "elsewhere", tmp_path).path == tmp_path / "b.md"


@requirement("instructions:include:not-in-code", "instructions:include:missing")
@pytest.mark.parametrize(
    ("written", "is_certain"),
    [("scope/pkg", False), ("name", False), ("latest", False), ("docs/", False), ("pytest.fixture", False),
     ("./gone", True), ("~/gone", True), ("docs/gone.md", True), ("/", False), ("/alias", False),
     ("..", False), ("x" * 1000, False)],
)  # fmt: skip
def test_only_what_can_mean_nothing_else_is_missed(tmp_path: Path, written: str, is_certain: bool) -> None:
    (tmp_path / "docs").mkdir()

    target = find_target(written, tmp_path, tmp_path)

    assert target.path is None
    assert target.is_certain is is_certain


@requirement("instructions:include:not-in-code")
def test_a_package_name_is_an_include_once_such_a_file_exists(tmp_path: Path) -> None:
    write_tree(tmp_path, {"scope/pkg": "A"})

    assert find_target("scope/pkg", tmp_path, tmp_path).path == tmp_path / "scope/pkg"


@pytest.mark.parametrize("text", ["@a.md", "@a.md\n\n@b.md\n", "- @a.md\n- @b.md"])
def test_a_file_of_includes_says_nothing_itself(text: str) -> None:
    assert is_only_includes(text)
    assert not is_only_includes(text + "\nand this")


def test_a_link_that_was_checked_out_as_text_is_seen(tmp_path: Path) -> None:
    write_tree(tmp_path, {"AGENTS.md": "A"})

    assert link_target("AGENTS.md", tmp_path) == tmp_path / "AGENTS.md"
    assert link_target("AGENTS.md is the file to read", tmp_path) is None
    assert link_target("OTHER.md", tmp_path) is None
    assert link_target("", tmp_path) is None


@given(st.text(max_size=300))
def test_any_text_can_be_looked_through(text: str) -> None:
    for word in mentions(text):
        find_target(word, Path("/nowhere"), Path("/nowhere"))
    is_only_includes(text)
    link_target(text, Path("/nowhere"))
