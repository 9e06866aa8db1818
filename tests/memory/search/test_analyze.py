from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.search.analyze import analyse_query, cut_passages, is_weak, synonyms, terms
from reverie.memory.search.spelling import distance
from reverie.memory.search.stem import opening, stem
from reverie.memory.search.words import SYNONYMS, WEAK_WORDS
from tests.requirements import requirement


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("went", "go"),
        ("children", "child"),
        ("running", "ran"),
        ("studies", "study"),
        ("bought", "buys"),
        ("relational", "relate"),
    ],
)
def test_forms_of_one_word_meet(first: str, second: str) -> None:
    assert stem(first) == stem(second)


@given(st.text("abcdefghilmnorstuvy", min_size=4, max_size=12))
def test_the_opening_of_a_stem_is_known_without_stemming(word: str) -> None:
    assert stem(word)[:2] == opening(word)


def test_so_is_that_of_every_listed_word() -> None:
    assert all(stem(word)[:2] == opening(word) for word in WEAK_WORDS.union(*SYNONYMS))


def test_every_form_of_a_listed_word_is_weak_or_has_its_synonyms() -> None:
    assert all(is_weak(stem(word)) for word in WEAK_WORDS)
    assert not is_weak("importer")
    for group in SYNONYMS:
        listed = {stem(word) for word in group}
        assert all(listed - {term} <= synonyms(term) for term in listed)
    assert synonyms("film") == {"movi"}
    assert synonyms("importer") == frozenset()


@requirement("search:query:cjk")
def test_a_run_of_characters_becomes_characters_and_pairs() -> None:
    assert terms("東京タ") == ["東", "京", "タ", "東京", "京タ"]


@requirement("search:query:identifiers")
def test_an_identifier_is_kept_whole_and_in_parts() -> None:
    assert terms("parseHTTPHeader") == ["parsehttphead", "pars", "http", "header"]


def test_case_width_and_accents_do_not_matter() -> None:
    assert terms("ＣＡＦÉ") == terms("cafe") == terms("Cafe\u0301")


def test_a_query_has_each_term_once_and_knows_which_stand_side_by_side() -> None:
    query = analyse_query("deploy the parser, then deploy docs")
    assert query.terms == ("deploi", "parser", "doc")
    assert query.pairs == {("deploi", "parser"), ("parser", "deploi"), ("deploi", "doc")}


@given(st.text(max_size=300))
def test_any_text_has_terms_that_the_index_can_hold(text: str) -> None:
    assert sorted(cut_passages(text).split()) == sorted(terms(text))
    assert all(term and not any(letter.isspace() for letter in term) for term in terms(text))


@given(st.text("abcd", max_size=7), st.text("abcd", max_size=7))
def test_the_distance_of_words_is_symmetric_and_zero_only_for_equals(first: str, second: str) -> None:
    assert distance(first, second, 9) == distance(second, first, 9)
    assert (distance(first, second, 9) == 0) == (first == second)
