from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.extraction.extract import brought_up_to_date
from reverie.memory.extraction.known import SAME_MEANING, KnownTopics, Likeness
from reverie.memory.extraction.similarity import Similarity
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
        ("Use pnpm, not npm", "Use npm, not pnpm"),
        ("Prefer tabs over spaces in Makefiles", "Prefer spaces over tabs in Makefiles"),
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


class Nearness(Similarity):
    """Finds every first text as near as it was told."""

    def __init__(self, nearness: float) -> None:
        super().__init__(lambda: None)
        self.nearness = nearness

    def likest(self, text: str, others: Sequence[str]) -> tuple[int, float]:  # noqa: ARG002 - the shape of a similarity
        return 0, self.nearness


@requirement("extraction:same-subject", "extraction:reading")
def test_the_same_in_other_words_is_known_where_meaning_can_be_compared() -> None:
    topics = [replace(candidate("Integration tests use a real database").topic(), path="a.md", sources=())]
    again = candidate("Run integration tests against a real server of the database")

    assert KnownTopics.of(topics).find(again).likeness is Likeness.new
    assert KnownTopics.of(topics, Nearness(SAME_MEANING)).find(again).path == "a.md"
    assert KnownTopics.of(topics, Nearness(SAME_MEANING - 0.01)).find(again).likeness is Likeness.new


@requirement("extraction:same-subject", "extraction:reading")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The launch is on 2026-03-03", "We launch on 2026-03-10"),
        ("Push hotfixes directly to the main branch", "Don't push features directly to any branch"),
        ("Prefer tabs, not spaces, in makefiles", "In makefiles use spaces, not tabs"),
    ],
)
def test_another_number_and_the_opposite_are_never_the_same_however_near(old: str, new: str) -> None:
    topics = [replace(candidate(old).topic(), path="a.md", sources=())]

    assert KnownTopics.of(topics, Nearness(0.99)).find(candidate(new)).likeness is not Likeness.same


@requirement("extraction:same-subject")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Launch number 0 is on 3 May.", "Launch number 1 is on 4 May."),
        ("The launch number 0 is Apollo at dawn.", "The launch number 1 is now Gemini at dawn."),
        ("Server 3 listens on port 5432 in the lab.", "Server 4 listens on port 5433 in the lab."),
        (
            "From now on the billing service is deployed by its own team.",
            "From now on the search service is deployed by its own team.",
        ),
    ],
)
def test_another_thing_of_the_same_kind_is_new(old: str, new: str) -> None:
    assert known(old).find(candidate(new)).likeness is Likeness.new


@requirement("extraction:same-subject")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The port of the staging database is 5432.", "The port of the staging database is now 5433."),
        ("The port of the staging database is 5432.", "The port of the staging database is 5433."),
        ("Launch number 1 is on 3 May.", "Launch number 1 is on 4 May."),
        ("Anna is the reviewer for payments and refunds.", "Bert is now the reviewer for payments and refunds."),
    ],
)
def test_another_value_of_the_same_thing_is_a_change(old: str, new: str) -> None:
    assert known(old).find(candidate(new)).likeness is Likeness.subject
