from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.extensions.instructions.markdown import prose, regions, without_comments
from tests.requirements import requirement

MARKDOWN = st.text(st.sampled_from("`~<!->@ab \n#*1."), max_size=120) | st.lists(
    st.sampled_from(["```", "~~~", "`", "``", "<!--", "-->", "\n", "\n\n", "@a.md", " ", "- ", "# ", "> ", "x"]),
    max_size=40,
).map("".join)


@given(MARKDOWN)
def test_regions_are_in_order_and_do_not_overlap(text: str) -> None:
    edges = [edge for region in regions(text) for edge in (region.start, region.end)]

    assert edges == sorted(edges)
    assert all(region.start < region.end <= len(text) for region in regions(text))


@given(MARKDOWN)
def test_prose_keeps_every_place_and_every_line(text: str) -> None:
    blanked = prose(text)

    assert len(blanked) == len(text)
    assert [at for at, char in enumerate(text) if char == "\n"] == [
        at for at, char in enumerate(blanked) if char == "\n"
    ]
    assert all(after in {before, " "} for before, after in zip(text, blanked, strict=True))


@requirement("instructions:comments")
@given(MARKDOWN)
def test_only_comments_are_removed(text: str) -> None:
    left = without_comments(text)
    rest = iter(text)

    assert all(char in rest for char in left), "what is left is not part of the text in its order"
    if "<!--" not in text:
        assert left == text


@requirement("instructions:comments")
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a\n<!-- hidden -->\nb\n", "a\nb\n"),
        ("a\n<!-- two\nlines -->\n\nb", "a\n\nb"),
        ("keep <!-- this --> short", "keep  short"),
        ("```\n<!-- shown -->\n```\n", "```\n<!-- shown -->\n```\n"),
        ("write `<!-- shown -->` so", "write `<!-- shown -->` so"),
        ("<!-- a ``` fence -->\n@x\n", "@x\n"),
        ("never closed <!-- stays", "never closed <!-- stays"),
    ],
)
def test_comments_go_and_code_stays(text: str, left: str) -> None:
    assert without_comments(text) == left


@pytest.mark.parametrize(
    "code",
    [
        "`@x.md`",
        "``a ` @x.md``",
        "```\n@x.md\n```",
        "~~~text\n@x.md\n~~~",
        "  ```py\n  @x.md\n  ```",
        "- ```\n  @x.md\n  ```",
        "> ```\n> @x.md\n> ```",
        "````\n```\n@x.md\n```\n````",
        "```\n@x.md",
        "`over\ntwo @x.md lines`",
    ],
)
@requirement("instructions:include:not-in-code")
def test_code_of_every_shape_is_blanked(code: str) -> None:
    assert "@" not in prose(f"before\n\n{code}\n")


@pytest.mark.parametrize(
    "text", ["a ` stray\n\n@x.md and `code`", "- a ` stray\n- @x.md\n- `code`", "``` not a fence `x` @x.md"]
)
def test_a_stray_backtick_hides_nothing_after_its_block(text: str) -> None:
    assert "@x.md" in prose(text)


@pytest.mark.parametrize("piece", ["`", "<!--", "` `` ", "```\n", "<!-- `", "- ` "])
def test_hostile_text_ends(piece: str) -> None:
    regions(piece * (400_000 // len(piece)))
