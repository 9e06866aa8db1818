from __future__ import annotations

from pathlib import Path

import pytest

from reverie.memory.dream.contradictions import contradictions, first_statement
from reverie.memory.topics.topic import parse_topic
from tests.memory.dream.kit import text
from tests.requirements import requirement

LABELLED = Path(__file__).parents[3] / "bench" / "dream" / "contradictions.tsv"


def listed(one: str, other: str, kind: str = "feedback") -> list[str]:
    made = [("a.md", one), ("b.md", other)]
    topics = [parse_topic(path, text(path, said, kind=kind)) for path, said in made]
    return [each.reason for each in contradictions(topics)]


@requirement("dream:contradictions")
def test_of_labelled_pairs_hardly_one_is_listed_wrongly_and_few_are_missed() -> None:
    pairs = [line.split("\t") for line in LABELLED.read_text(encoding="utf-8").splitlines()]
    found = [(label == "yes", bool(listed(one, other, kind))) for label, kind, one, other in pairs]
    right = found.count((True, True))

    assert right / (right + found.count((False, True))) >= 0.95
    assert right / (right + found.count((True, False))) >= 0.9


@requirement("dream:contradictions")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Never push to main.", "Push to main on Fridays after the freeze."),
        ("Use spaces in Python.", "Do not use spaces in Go."),
        ("It takes 5 minutes.", "It takes 10 minutes."),
        ("We deployed 3 services with the new tool.", "We deployed 4 services with the new tool."),
    ],
)
def test_an_exception_another_subject_and_what_once_happened_are_no_contradictions(one: str, other: str) -> None:
    assert listed(one, other) == []


@requirement("dream:contradictions")
def test_what_two_people_want_is_no_contradiction() -> None:
    one, other = "Wants short answers in reviews.", "Never wants short answers in reviews."
    assert listed(one, other, "user") != []
    topics = [
        parse_topic("a.md", text("a.md", one, kind="user", about=("Anna",))),
        parse_topic("b.md", text("b.md", other, kind="user", about=("Ben",))),
    ]
    assert contradictions(topics) == ()


def test_only_what_is_said_first_counts_and_not_its_reason() -> None:
    assert first_statement("Never push to main, because CI would not run. Ask.") == "Never push to main"
    assert first_statement("Version 1.2 is out") == "Version 1.2 is out"
