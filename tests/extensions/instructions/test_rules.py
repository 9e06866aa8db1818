from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.extensions.instructions.markdown import split_front_matter
from reverie.extensions.markdown_file import list_markdown
from tests.extensions.instructions.trees import write_tree
from tests.requirements import requirement


@requirement("instructions:rules:paths")
@pytest.mark.parametrize(
    ("head", "globs"),
    [
        ('paths:\n  - "src/**/*.ts"\n  - lib/*.js\n', ("src/**/*.ts", "lib/*.js")),
        ("paths: src/*.py, tests/{a,b}.py\n", ("src/*.py", "tests/{a,b}.py")),
        ("paths: [a.py, b.py]\n", ("a.py", "b.py")),
        ("paths: **/*.py\n", ("**/*.py",)),
        ("paths:\n  - **/*.py\n  - *.md\ndescription: x\n", ("**/*.py", "*.md")),
        ("paths: {a,b}/*.py\n", ("{a,b}/*.py",)),
        ("description: for all\n", ()),
        ("paths:\n", ()),
        ("paths: 3\n", ("3",)),
        ("# for the api\npaths:\n- a.py\n\n", ("a.py",)),
        ("", ()),
    ],
)
def test_paths_are_read_as_people_write_them(head: str, globs: tuple[str, ...]) -> None:
    body = split_front_matter(f"---\n{head}---\nThe rule.\n")

    assert body.globs == globs
    assert body.text == "The rule.\n"


@pytest.mark.parametrize(
    "text",
    [
        "No head.\n",
        "---\nA line, then text\n",
        "",
        "---\n# Title\n\nRun make: it builds.\n\n---\n\nMore.\n",
        "---\nNote: read this\n---\ntext",
    ],
)
def test_a_text_without_front_matter_stays_whole(text: str) -> None:
    assert split_front_matter(text).text == text


@given(st.text(st.sampled_from("-pathsx:[]{}*,\n '\"&!|>"), max_size=80))
def test_no_front_matter_can_stop_a_load(head: str) -> None:
    split_front_matter(f"---\n{head}\n---\ntext")


@requirement("instructions:once")
def test_rules_lie_at_any_depth_and_links_that_lead_back_end(tmp_path: Path) -> None:
    write_tree(tmp_path, {"rules/b.md": "", "rules/a/z.md": "", "rules/note.txt": "", "shared/s.MD": ""})
    (tmp_path / "rules/a/back").symlink_to(tmp_path / "rules")
    (tmp_path / "rules/shared").symlink_to(tmp_path / "shared")

    found = [str(path.relative_to(tmp_path / "rules")) for path in list_markdown(tmp_path / "rules")]

    assert found == ["a/z.md", "b.md", "shared/s.MD"]
    assert list_markdown(tmp_path / "nowhere") == ()
