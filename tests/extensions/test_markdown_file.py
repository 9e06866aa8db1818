from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.extensions.markdown_file import read_page
from tests.requirements import requirement


def page(head: str) -> str:
    return f"---\n{head}\n---\nBody.\n"


@requirement("plugins:front-matter")
def test_a_file_is_cut_into_fields_and_body() -> None:
    found = read_page(page("name: x\ndescription: >-\n  two\n  lines\ntools: [Read, Grep]\nmaxTurns: 5"))

    assert (found.text("name"), found.text("description"), found.text("tools")) == ("x", "two lines", "Read, Grep")
    assert (found.text("maxTurns"), found.body, found.problem) == ("5", "Body.\n", "")
    assert read_page("# No head").body == "# No head"
    assert read_page("---\n---\nx").body == "x"
    assert read_page("\ufeff---\r\nname: x\r\n---\r\nBody").text("name") == "x"


@requirement("plugins:front-matter")
def test_colons_and_brackets_without_quotes_are_forgiven() -> None:
    found = read_page(
        page("description: Use when: it's late\nargument-hint: [issue] (optional: y)\nname: ok\ntools: [A, B]")
    )

    assert found.text("description") == "Use when: it's late"
    assert found.text("argument-hint") == "[issue] (optional: y)"
    assert (found.text("name"), found.texts("tools")) == ("ok", ("A", "B"))


@requirement("plugins:front-matter")
def test_a_head_that_is_no_yaml_is_named_and_the_body_stays() -> None:
    found = read_page(page("{ [ broken"))

    assert "not YAML" in found.problem
    assert found.body == "Body.\n"
    assert "refers to itself" in read_page(page("a: &x [*x]")).problem
    assert "expected" in read_page(page("- a\n- b")).problem


@requirement("plugins:front-matter")
@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("true", True),
        ("Yes", True),
        ("on", True),
        ("1", True),
        ("false", False),
        ("no", False),
        ("off", False),
        ("0", False),
    ],
)
def test_flags_are_read_in_the_words_people_use(said: str, meant: bool) -> None:
    assert read_page(page(f"x: {said}")).flag("x", default=not meant) is meant
    assert read_page(page("x: perhaps")).flag("x", default=meant) is meant


@requirement("plugins:front-matter")
@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Read Grep", ("Read", "Grep")),
        ("Read, Bash(git add:*), Edit", ("Read", "Bash(git add:*)", "Edit")),
        ("Bash(git diff *) Bash(a, b)", ("Bash(git diff *)", "Bash(a, b)")),
        ("[Read, 'Bash(git *)']", ("Read", "Bash(git *)")),
        ("\n- Read\n- Edit", ("Read", "Edit")),
    ],
)
def test_lists_are_parted_outside_of_brackets(said: str, meant: tuple[str, ...]) -> None:
    assert read_page(page(f"allowed-tools: {said}")).texts("allowed-tools") == meant


@requirement("plugins:front-matter")
@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    found = read_page(page(text))

    found.texts("a")
    assert found.text("a") is not None
