from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.topics.globs import glob_matches
from tests.requirements import requirement


@requirement("memory:when:globs")
@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.py", "a.py"),
        ("*.py", "src/deep/a.py"),
        ("*.py", "/home/me/project/a.py"),
        ("Makefile", "sub/Makefile"),
        ("tests/", "tests/a/b.py"),
        ("tests", "src/tests/a.py"),
        ("src/*.py", "src/a.py"),
        ("src/**", "src/a/b.py"),
        ("src/**/*.py", "src/a.py"),
        ("src/**/*.py", "src/x/y/a.py"),
        ("**/migrations/*.sql", "db/migrations/1.sql"),
        ("/setup.py", "setup.py"),
        ("./src/*.py", "src/a.py"),
        ("*.{ts,tsx}", "ui/a.tsx"),
        ("[ab].py", "b.py"),
        ("[!ab].py", "c.py"),
        ("?.py", "a.py"),
        ("src/*.py", "src\\a.py"),
        ("文档/*.md", "文档/说明.md"),
    ],
)
def test_a_pattern_matches(pattern: str, path: str) -> None:
    assert glob_matches(pattern, path)


@requirement("memory:when:globs")
@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.py", "a.pyc"),
        ("src/*.py", "src/deep/a.py"),
        ("src/*.py", "lib/src/a.py"),
        ("/setup.py", "sub/setup.py"),
        ("[!ab].py", "a.py"),
        ("a.b", "aXb"),
        ("?.py", "ab.py"),
        ("[", "a"),
        ("", "a"),
        ("/", "a"),
    ],
)
def test_a_pattern_does_not_match(pattern: str, path: str) -> None:
    assert not glob_matches(pattern, path)


@requirement("memory:when:globs")
@pytest.mark.timeout(5)
@pytest.mark.parametrize("pattern", ["*a" * 30 + "b", "**/" * 30 + "x", "{a,b}" * 30, "?*" * 40, "*" * 5000])
def test_no_pattern_takes_long(pattern: str) -> None:
    glob_matches(pattern, "a/" * 200 + "a" * 200)


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_text_can_be_a_pattern(pattern: str, path: str) -> None:
    assert glob_matches(pattern, path) in {True, False}
