"""The block that is ours in a file of somebody else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.errors import Damaged
from reverie.hosts.marked_block import BEGIN, END, put_block, remove_block, split_block
from tests.requirements import requirement

PATH = Path("AGENTS.md")
texts = st.text(st.sampled_from("ab #-\r\n\t\x0c\u2028é<>!\udc80"), max_size=60)
bodies = st.text(st.sampled_from("ab \n-*"), max_size=30)


@requirement("hosts:marked-block")
@given(texts, bodies, bodies)
def test_a_block_is_put_in_replaced_and_taken_out_without_touching_the_rest(text: str, one: str, two: str) -> None:
    first = put_block(text, one, PATH)
    assert first.startswith(text)
    assert remove_block(first, PATH) == text
    second = put_block(first, two, PATH)
    assert second == put_block(text, two, PATH)
    assert put_block(second, two, PATH) == second
    assert remove_block(second, PATH) == text


@requirement("hosts:marked-block")
@given(texts, texts, bodies)
def test_what_is_written_around_the_block_later_stays(before: str, after: str, body: str) -> None:
    whole = put_block(before, body, PATH) + after
    assert remove_block(whole, PATH) == before + after
    assert put_block(whole, "new", PATH).endswith(after)


@requirement("hosts:marked-block")
def test_a_file_that_was_ours_from_the_start_is_gone_afterwards() -> None:
    ours = put_block(None, "note", PATH)
    assert ours == f"{BEGIN}\nnote\n{END}\n"
    assert remove_block(ours, PATH) is None
    assert remove_block(put_block("", "note", PATH), PATH) == ""


@requirement("hosts:marked-block")
@pytest.mark.parametrize(
    "text", [f"{BEGIN}\nx\n", f"{END}\n", f"{END}\n{BEGIN}\n", f"{BEGIN}\n{END}\n{BEGIN}\n{END}\n"]
)
def test_markers_out_of_order_are_named_with_their_line_and_nothing_is_guessed(text: str) -> None:
    with pytest.raises(Damaged, match=r"AGENTS\.md, line 1"):
        split_block(text, PATH)


@requirement("hosts:marked-block")
def test_a_note_cannot_close_the_block() -> None:
    text = put_block("mine\n", f"a\n{END}\nb", PATH)
    assert remove_block(text, PATH) == "mine\n"
