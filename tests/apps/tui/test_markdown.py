"""Cutting Markdown into parts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reverie.apps.tui.markdown import parts_of
from tests.requirements import requirement

LINES = st.sampled_from(
    ["", "", "text", "more text", "- item", "  - inner", "    indented", "```", "~~~", "````", "# h", "| a |", "1. one"]
)
TEXTS = st.lists(LINES, max_size=30).map("\n".join)


@requirement("tui:log:markdown-parts")
@given(TEXTS)
def test_nothing_is_lost_or_reordered(text: str) -> None:
    words = [line for line in text.split("\n") if line.strip()]

    assert [line for part in parts_of(text) for line in part.split("\n") if line.strip()] == words


@requirement("tui:log:markdown-parts")
@given(TEXTS, LINES)
def test_earlier_parts_stay_while_text_is_added(text: str, more: str) -> None:
    before, after = parts_of(text), parts_of(f"{text}\n{more}")

    assert after[: len(before) - 1] == before[:-1]


@requirement("tui:log:markdown-parts")
def test_a_fence_is_never_cut() -> None:
    text = "before\n\n```python\na = 1\n\nb = 2\n```\n\nafter"

    assert parts_of(text) == ("before", "```python\na = 1\n\nb = 2\n```", "after")


@requirement("tui:log:markdown-parts")
def test_indented_text_stays_with_its_list() -> None:
    assert parts_of("- one\n\n  more of one\n- two\n\nafter") == ("- one\n\n  more of one\n- two", "after")
