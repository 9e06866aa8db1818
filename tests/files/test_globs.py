""""""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.files.globs import MAX_PATTERNS, matches_below, matches_like_gitignore, unfold_all
from tests.requirements import requirement

NAMES = st.lists(st.text(st.sampled_from("ab.[]-"), min_size=1, max_size=4), min_size=1, max_size=5)


@requirement("instructions:rules:paths")
@pytest.mark.parametrize(
    ("pattern", "path", "is_match"),
    [
        ("**/*.ts", "a.ts", True),
        ("**/*.ts", "src/deep/a.ts", True),
        ("**/*.ts", "src/a.tsx", False),
        ("src/**/*", "src/a", True),
        ("src/**/*", "src/a/b/c", True),
        ("src/**/*", "lib/src/a", False),
        ("*.md", "README.md", True),
        ("*.md", "docs/README.md", False),
        ("src/api/*.py", "src/api/x.py", True),
        ("src/api/*.py", "src/api/v1/x.py", False),
        ("src/api", "src/api/v1/x.py", True),
        ("src/api/", "src/api/x.py", True),
        ("./src/*.py", "src/x.py", True),
        ("**", "any/thing", True),
        ("app/[id]/page.tsx", "app/[id]/page.tsx", True),
        ("src/[ab].py", "src/a.py", True),
        ("src/[ab", "src/a", False),
        ("src/[ab", "src/[ab", False),
        ("", "a", False),
    ],
)
def test_patterns_mean_what_people_write_them_for(pattern: str, path: str, is_match: bool) -> None:
    assert matches_below(pattern, path) is is_match


@given(NAMES)
def test_two_stars_match_every_path(names: list[str]) -> None:
    assert matches_below("**", "/".join(names))
    assert matches_below("**/*", "/".join(names))


@requirement("instructions:rules:budget")
def test_braces_unfold_also_inside_one_another() -> None:
    assert set(unfold_all(["src/{a,b/{c,d}}.ts"])) == {"src/a.ts", "src/b/c.ts", "src/b/d.ts"}
    assert unfold_all(["{only}", "{a"]) == ("{only}", "{a")


@requirement("instructions:rules:budget")
def test_a_pattern_over_the_budget_is_used_as_it_stands() -> None:
    too_many = "{a,b}" * 20
    rest = [f"{number}.py" for number in range(10)]

    found = unfold_all([too_many, *rest, "{x,y}.ts"])

    assert found == (too_many, *rest, "x.ts", "y.ts")
    assert len(unfold_all(["{" + ",".join(map(str, range(MAX_PATTERNS))) + "}"])) == MAX_PATTERNS


@requirement("instructions:rules:budget")
@pytest.mark.parametrize("pattern", ["*a" * 30 + "b", "**/" * 200 + "b", "{a,b}" * 800, "{" * 4000 + ",}"])
def test_a_hostile_pattern_ends(pattern: str) -> None:
    for each in unfold_all([pattern]):
        assert not matches_below(each, "/".join(["a" * 200] * 100))


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
    assert matches_like_gitignore(pattern, path)


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
    assert not matches_like_gitignore(pattern, path)


@requirement("memory:when:globs")
@pytest.mark.timeout(5)
@pytest.mark.parametrize("pattern", ["*a" * 30 + "b", "**/" * 30 + "x", "{a,b}" * 30, "?*" * 40, "*" * 5000])
def test_no_pattern_takes_long(pattern: str) -> None:
    matches_like_gitignore(pattern, "a/" * 200 + "a" * 200)


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_text_can_be_a_pattern(pattern: str, path: str) -> None:
    assert matches_like_gitignore(pattern, path) in {True, False}
