from __future__ import annotations

from datetime import timedelta

import pytest

from reverie.memory.dream.proposal import DreamStep, StepKind, over_limits
from tests.memory.dream.kit import DAY, text
from tests.requirements import requirement

RULE = "Integration tests use a real database, because mocks once hid a broken migration."


def retire(number: int, **more: object) -> DreamStep:
    path = f"t{number}.md"
    made = text(path, f"{RULE} {number}", **({"trust": "inferred"} | more))  # type: ignore[arg-type]
    return DreamStep(StepKind.retire, "over", {path: made}, {path: None})


@requirement("dream:limits")
@pytest.mark.parametrize(("retired", "topics", "asks"), [(2, 10, False), (3, 10, True), (1, 4, True), (1, 5, False)])
def test_a_fifth_may_be_retired_at_once(retired: int, topics: int, asks: bool) -> None:
    steps = [retire(number) for number in range(retired)]
    assert bool(over_limits(steps, topics)) == asks


@requirement("dream:limits")
def test_nothing_pinned_is_retired() -> None:
    assert over_limits([retire(1, pinned=True)], 100) == ("it would archive t1.md, which is pinned",)


@requirement("dream:limits")
def test_what_the_user_said_is_retired_only_for_a_newer_word_of_theirs() -> None:
    old = text("a.md", RULE)
    assert (
        "which the user stated" in over_limits([DreamStep(StepKind.retire, "x", {"a.md": old}, {"a.md": None})], 100)[0]
    )

    def replaced(**more: object) -> tuple[str, ...]:
        new = text("b.md", "Integration tests use SQLite now.", **more)  # type: ignore[arg-type]
        return over_limits(
            [DreamStep(StepKind.merge, "x", {"a.md": old, "b.md": None}, {"b.md": new, "a.md": None})], 100
        )

    assert replaced(observed=DAY + timedelta(days=1)) == ()
    assert replaced(observed=DAY)
    assert replaced(observed=DAY + timedelta(days=1), trust="inferred")


@requirement("dream:limits")
def test_a_merge_in_which_every_word_lives_on_is_within_the_limits() -> None:
    old, kept = text("a.md", RULE), text("b.md", f"{RULE}\n\nAnd more.")
    step = DreamStep(StepKind.merge, "x", {"b.md": kept, "a.md": old}, {"b.md": kept, "a.md": None})
    assert over_limits([step], 2) == ()
    lossy = DreamStep(
        StepKind.merge,
        "x",
        {"b.md": old, "a.md": old},
        {"b.md": text("b.md", "Tests.", trust="inferred"), "a.md": None},
    )
    assert len(over_limits([lossy], 2)) == 3


@requirement("dream:limits")
def test_an_edit_may_not_empty_a_memory() -> None:
    step = DreamStep(StepKind.edit, "x", {"a.md": text("a.md", RULE)}, {"a.md": text("a.md", "Tests matter.")})
    assert over_limits([step], 100) == ("it would remove most of what the user stated from a.md",)
    inferred = DreamStep(StepKind.edit, "x", {"a.md": text("a.md", RULE, trust="inferred")}, dict(step.after))
    assert over_limits([inferred], 100) == ("it would remove most of a.md",)


@requirement("dream:limits")
def test_an_edit_may_not_take_a_number_or_a_name_from_what_the_user_said() -> None:
    before, after = (
        "We freeze deploys from December 20 on, says Maren.",
        "We freeze deploys in December, says the boss.",
    )

    def edited(trust: str) -> tuple[str, ...]:
        texts = ({"a.md": text("a.md", each, trust=trust)} for each in (before, after))
        return over_limits([DreamStep(StepKind.edit, "x", *texts)], 100)

    assert edited("said") == ("it would remove 20, maren from what the user stated in a.md",)
    assert edited("inferred") == ()


@requirement("dream:limits")
def test_topics_on_different_subjects_are_not_merged_unasked() -> None:
    other = "Name branches after the ticket they belong to."
    both = text("a.md", f"{RULE}\n\n{other}", trust="inferred")
    old = {"a.md": text("a.md", RULE, trust="inferred"), "b.md": text("b.md", other, trust="inferred")}
    step = DreamStep(StepKind.merge, "x", dict(old), {"a.md": both, "b.md": None})
    assert over_limits([step], 100) == ("it would merge b.md with topics on another subject",)
