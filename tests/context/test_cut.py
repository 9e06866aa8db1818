from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reverie.context.cut import head, head_and_tail, shorten_text, tail
from tests.requirements import requirement


def weigh(text: str) -> int:
    return len(text)


TEXT = "first line\nsecond line\nthird line\nfourth line"


def test_a_text_that_fits_is_not_touched() -> None:
    assert head(TEXT, 100, weigh) == tail(TEXT, 100, weigh) == shorten_text(TEXT, 100, weigh, "x") == TEXT


def test_a_text_is_cut_at_line_ends() -> None:
    assert head(TEXT, 25, weigh) == "first line\nsecond line"
    assert tail(TEXT, 25, weigh) == "third line\nfourth line"


@requirement("context:survive:user-text")
def test_both_ends_stay_and_the_gap_says_where_the_rest_is() -> None:
    text = "begin " + "x" * 500 + " end"

    cut = head_and_tail(text, 100, weigh, "the whole is [e1]")

    assert cut.startswith("begin")
    assert cut.endswith("end")
    assert "510 characters in all; the whole is [e1]" in cut
    assert weigh(cut) <= 100


@given(st.text(max_size=400), st.integers(0, 200))
def test_a_piece_is_within_its_limit_and_part_of_the_text(text: str, limit: int) -> None:
    begin, end = head(text, limit, weigh), tail(text, limit, weigh)

    assert weigh(begin) <= max(limit, 0)
    assert text.startswith(begin)
    assert weigh(end) <= max(limit, 0)
    assert text.endswith(end)
