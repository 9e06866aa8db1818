from __future__ import annotations

from datetime import date

import pytest

from reverie.memory.search.analyze import analyse_query, terms
from reverie.memory.search.passages.rank import PassageRow, find_dates, rank_passages
from reverie.memory.search.query import IndexTotals, weigh_query
from tests.requirements import requirement

TODAY = date(2023, 8, 1)


class Counted:
    """Counts the terms of a few passages."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = [terms(text) for text in texts]

    def totals(self) -> IndexTotals:
        return IndexTotals(len(self._texts), sum(map(len, self._texts)), len(self._texts))

    def frequencies(self, query_terms: object) -> dict[str, int]:
        assert hasattr(query_terms, "__iter__")
        return {term: sum(term in text for text in self._texts) for term in query_terms}

    def find_similar_spellings(self, term: str) -> list[str]:  # noqa: ARG002 - nothing is misspelt here
        return []


def first(asked: str, *passages: tuple[str, str, date | None]) -> str:
    """The key of the passage that comes first, each given by file, text and day."""
    rows = [
        PassageRow(
            number,
            f"{group}{number}",
            group,
            number,
            day.toordinal() if day else None,
            len(terms(text)),
            float(text.endswith("?")),
            f" {' '.join(terms(text))} ",
        )
        for number, (group, text, day) in enumerate(passages)
    ]
    weighed = weigh_query(analyse_query(asked), Counted([text for _, text, _ in passages]))
    return rank_passages(rows, weighed, asked, TODAY)[0].key


@requirement("past:neighbours")
def test_an_answer_without_the_words_is_found_by_the_question_before_it() -> None:
    talk = (
        ("a", "What breed is your puppy?", None),
        ("a", "A golden retriever!", None),
        ("b", "The weather turned cold.", None),
    )
    assert first("Which breed is the puppy?", *talk) == "a1"


@requirement("past:days")
@pytest.mark.parametrize(
    ("asked", "days"),
    [
        ("What did we fix on 31 July, 2023?", {(2023, 7, 31)}),
        ("What did we fix on July 31st?", {(0, 7, 31)}),
        ("What did we fix in July 2023?", set()),
    ],
)
def test_days_are_read_from_a_query(asked: str, days: set[tuple[int, int, int]]) -> None:
    assert find_dates(asked).days == days


@requirement("past:days")
@pytest.mark.parametrize(("asked", "key"), [("31 July, 2023", "f2"), ("July 17th", "f1"), ("2 July 2023", "f0")])
def test_what_was_said_on_a_named_day_comes_first(asked: str, key: str) -> None:
    passages = [("f", "the parser was fixed", date(2023, 7, day)) for day in (3, 17, 30)]
    assert first(f"parser fixed on {asked}", *passages) == key
    assert first("parser fixed on February 31", *passages)
