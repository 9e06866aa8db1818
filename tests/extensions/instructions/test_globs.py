from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.extensions.instructions.globs import MAX_PATTERNS, matches, unfolded
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
    assert matches(pattern, path) is is_match


@given(NAMES)
def test_two_stars_match_every_path(names: list[str]) -> None:
    assert matches("**", "/".join(names))
    assert matches("**/*", "/".join(names))


@requirement("instructions:rules:budget")
def test_braces_unfold_also_inside_one_another() -> None:
    assert set(unfolded(["src/{a,b/{c,d}}.ts"])) == {"src/a.ts", "src/b/c.ts", "src/b/d.ts"}
    assert unfolded(["{only}", "{a"]) == ("{only}", "{a")


@requirement("instructions:rules:budget")
def test_a_pattern_over_the_budget_is_used_as_it_stands() -> None:
    too_many = "{a,b}" * 20
    rest = [f"{number}.py" for number in range(10)]

    found = unfolded([too_many, *rest, "{x,y}.ts"])

    assert found == (too_many, *rest, "x.ts", "y.ts")
    assert len(unfolded(["{" + ",".join(map(str, range(MAX_PATTERNS))) + "}"])) == MAX_PATTERNS


@requirement("instructions:rules:budget")
@pytest.mark.parametrize("pattern", ["*a" * 30 + "b", "**/" * 200 + "b", "{a,b}" * 800, "{" * 4000 + ",}"])
def test_a_hostile_pattern_ends(pattern: str) -> None:
    for each in unfolded([pattern]):
        assert not matches(each, "/".join(["a" * 200] * 100))
