from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from reverie.memory.dream.proposal import StepKind, over_limits
from reverie.memory.dream.tidy import TidyContext, tidy
from tests.memory.dream.kit import after, text
from tests.requirements import requirement

OLD, NEW = date(2026, 5, 4), date(2026, 5, 11)
TODAY = date(2026, 5, 15)
TUESDAY = "We deploy on Tuesdays after the reconciliation run."
THURSDAY = "We deploy on Thursdays from now on, after the reconciliation run."


def pair(new: str = THURSDAY, observed: date = OLD, **fields: Any) -> dict[str, str]:
    """An older and a newer memory; the newer one is the user's word."""
    return {
        "old.md": text("old.md", TUESDAY, kind="project", observed=observed, **fields),
        "new.md": text("new.md", new, kind="project", observed=NEW),
    }


@requirement("dream:embedded", "dream:idempotent")
def test_a_newer_word_that_says_so_takes_the_place_of_the_older() -> None:
    texts = pair()

    found = tidy(texts, TidyContext(today=TODAY))

    (step,) = found.steps
    assert (step.kind, step.archived) == (StepKind.retire, ("old.md",))
    assert "new.md says otherwise since 2026-05-11" in step.reason
    assert found.contradictions == ()
    assert over_limits(found.steps, 10, today=TODAY) == ()
    assert tidy(after(texts, found.steps), TidyContext(today=TODAY)).steps == ()


@requirement("dream:embedded")
@pytest.mark.parametrize(
    ("fields", "new"),
    [
        ({}, "We deploy on Thursdays after the reconciliation run."),
        ({"trust": "inferred"}, THURSDAY),
        ({"observed": NEW}, THURSDAY),
        ({"pinned": True}, THURSDAY),
    ],
    ids=["says nothing of a change", "not the user's word", "of the same day", "pinned"],
)
def test_any_other_contradiction_is_for_a_person(fields: dict[str, Any], new: str) -> None:
    found = tidy(pair(new=new, **fields), TidyContext(today=TODAY))

    assert found.steps == ()
    assert len(found.contradictions) == 1


@requirement("dream:embedded")
def test_what_expired_long_ago_is_archived() -> None:
    ends = TODAY - timedelta(days=91)
    past = text("beta.md", "The beta of the app ends in February.", trust="said", observed=OLD, expires=ends)
    recent = text("freeze.md", "Merges are frozen for the release.", trust="said", observed=OLD, expires=NEW)

    found = tidy({"beta.md": past, "freeze.md": recent}, TidyContext(today=TODAY))

    (step,) = found.steps
    assert (step.kind, step.archived) == (StepKind.retire, ("beta.md",))
    assert over_limits(found.steps, 10, today=TODAY) == ()
    assert over_limits(found.steps, 10) != ()
