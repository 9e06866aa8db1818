from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.extraction.extract import brought_up_to_date
from reverie.memory.extraction.known import KnownTopics, Likeness
from tests.memory.extraction.kit import candidate
from tests.requirements import requirement

RULE = "Never cache access tokens on disk."


def known(*said: str) -> KnownTopics:
    return KnownTopics.of(replace(candidate(text).topic(), path=f"{n}.md", sources=()) for n, text in enumerate(said))


@requirement("extraction:same-subject")
@pytest.mark.parametrize(
    "again",
    [
        "On disk, never cache access tokens: a backup leaked one.",
        "never ever cache access tokens on disk, because a backup leaked one",
        "Please don't cache access tokens on disk",
    ],
)
def test_the_same_rule_in_another_order_or_with_another_reason_is_known(again: str) -> None:
    assert known(RULE).find(candidate(again)).likeness is Likeness.same


@requirement("extraction:same-subject")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "Always squash topic branches into one commit before a merge, because main is bisected.",
            "Never squash topic branches any more.",
        ),
        (
            "Don't add ticket numbers to commit subjects.",
            "Add ticket numbers to commit subjects, the auditors ask for them.",
        ),
        ("Use tabs in makefiles and yaml", "don't use tabs in makefiles and yaml"),
    ],
)
def test_the_opposite_on_the_same_subject_is_a_change(old: str, new: str) -> None:
    assert known(old).find(candidate(new)).likeness is Likeness.subject


@requirement("extraction:same-subject")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Never mock the database in integration tests.", "Never mock the clock in integration tests."),
        ("Always put apples into the shared cache.", "Never put boats into the shared cache."),
        ("Never push to main.", "Always tell me before a push."),
    ],
)
def test_another_subject_is_new(old: str, new: str) -> None:
    assert known(old).find(candidate(new)).likeness is Likeness.new


@requirement("extraction:same-subject")
def test_what_was_taken_back_no_longer_counts_so_that_it_can_be_said_again() -> None:
    topics = known("Always squash topic branches before a merge.")
    topics.add(replace(candidate("Never squash topic branches before a merge.").topic(), path="0.md", sources=()))

    again = candidate("Always squash topic branches before a merge.")

    assert topics.find(again).likeness is Likeness.subject


@requirement("extraction:same-subject")
@given(st.permutations(["cache", "access", "tokens", "disk", "backups"]))
def test_the_order_of_words_does_not_matter(words: list[str]) -> None:
    text = f"never {' '.join(words)}"

    assert known("never cache access tokens disk backups").find(candidate(text)).likeness is Likeness.same


@requirement("extraction:same-subject")
def test_earlier_words_on_a_subject_stay_below_the_newest() -> None:
    first, second, third = (
        candidate(text).topic() for text in ("squash them", "never squash them", "squash them again")
    )

    topic = brought_up_to_date(brought_up_to_date(first, second), third)

    assert topic.body.split("\n\n") == [
        "squash them again",
        "Before (said 2026-02-16): never squash them",
        "Before (said 2026-02-16): squash them",
    ]
