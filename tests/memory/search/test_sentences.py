from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.search.sentences import split_for_vectors
from tests.requirements import requirement


@requirement("search:vectors:sentences")
def test_a_text_is_cut_at_the_ends_of_sentences_and_lines() -> None:
    text = "The retriever came from a shelter. He is three years old by now.\nThe release moved to the end of March."

    assert split_for_vectors(text) == [
        "The retriever came from a shelter.",
        "He is three years old by now.",
        "The release moved to the end of March.",
    ]


@requirement("search:vectors:sentences")
def test_a_short_sentence_is_read_with_the_next() -> None:
    assert split_for_vectors("Yes. We moved to Lisbon in the spring. Ok.") == [
        "Yes. We moved to Lisbon in the spring. Ok."
    ]


@requirement("search:vectors:sentences")
@given(st.text(alphabet=st.sampled_from("ab .!?。\n"), max_size=4_000))
def test_cutting_loses_no_letter_and_never_makes_more_than_64_pieces(text: str) -> None:
    pieces = split_for_vectors(text)

    assert 1 <= len(pieces) <= 64
    assert "".join("".join(pieces).split()) == "".join(text.split())
