from __future__ import annotations

from datetime import date

import pytest

from reverie.memory.extraction.wording import depends, gives_reason, main_clause
from reverie.memory.topics.polarity import TITLE_CHARS
from tests.memory.extraction.kit import found, one
from tests.requirements import requirement


@requirement("extraction:titles")
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("House rule: never deploy on a Friday afternoon.", "Never deploy on a Friday afternoon"),
        ("New rule for the backend: always add an index with a foreign key.", "Always add an index with a foreign key"),
        ("新规矩：发布之前必须先备份。", "发布之前必须先备份"),
        ("In load tests, never use the shared cache: a run wiped it.", "In load tests, never use the shared cache"),
        ("We decided to drop Windows builds because nobody downloads them.", "Drop Windows builds"),
        ("From now on open pull requests as drafts, please.", "Open pull requests as drafts"),
        (
            "Always rebuild the search index in the background after changing any of the analysers we ship.",
            "Always rebuild the search index in the background after changing any of the analysers we ship",
        ),
    ],
)
def test_a_title_says_the_rule_without_what_leads_up_to_it(text: str, name: str) -> None:
    assert one(text).name == name
    assert len(one(text).name) <= TITLE_CHARS


@requirement("extraction:titles")
def test_a_decision_keeps_the_order_before_it() -> None:
    made = one("Don't parse the header by hand: we agreed to use the library of the vendor, because ours broke twice.")

    assert made.type == "project"
    assert made.description == made.quote
    assert "**Why:** Ours broke twice" in made.body


@requirement("extraction:follow-ups")
@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("Never cache tokens on disk. A cached one leaked in March.", "**Why:** A cached one leaked in March."),
        ("Please keep commit messages in English; they belong to everybody.", "they belong to everybody."),
        ("New rule: never rebase shared branches. Merge them from now on.", "Merge them from now on."),
        ("Ask me before you delete a branch. Even merged ones.", "Even merged ones."),
    ],
)
def test_a_sentence_that_makes_sense_only_after_another_belongs_to_its_memory(text: str, where: str) -> None:
    made = one(text)

    assert where in made.body
    assert made.quote == text


@requirement("extraction:follow-ups")
@pytest.mark.parametrize("after", ["That test is red again, please fix it.", "Now run the tests.", "Why is CI red?"])
def test_a_sentence_on_the_task_stays_out(after: str) -> None:
    [made] = found(f"Never cache tokens on disk. {after}")

    assert after not in made.body
    assert made.quote == "Never cache tokens on disk."


@requirement("extraction:follow-ups")
def test_two_rules_in_a_row_are_two_memories() -> None:
    names = [each.name for each in found("Never cache tokens on disk. Always run the linter before you commit.")]

    assert names == ["Never cache tokens on disk", "Always run the linter before you commit"]


def test_reasons_and_dependent_sentences_are_told_apart_from_others() -> None:
    assert gives_reason("The last batch took us a whole day.")
    assert not gives_reason("Open the settings page.")
    assert depends("They belong in the body.")
    assert not depends("That file is broken.")
    assert main_clause("Never do it, because it broke twice.") == "Never do it"


@requirement("extraction:dates")
@pytest.mark.parametrize(
    ("text", "expires"),
    [
        ("The code freeze ends on Friday.", date(2026, 2, 20)),
        ("We freeze all merges after Thursday for the release.", None),
        ("周四之后冻结所有非紧急合并。", None),
        ("The customer demo is on the 24th.", date(2026, 2, 24)),
    ],
)
def test_what_begins_on_a_day_does_not_end_with_it(text: str, expires: date | None) -> None:
    assert one(text).expires == expires


@requirement("extraction:follow-ups")
def test_a_reason_ends_with_its_sentence() -> None:
    made = one("New rule: never rebase shared branches, because it broke two clones. Merge them from now on.")

    assert "**Why:** It broke two clones" in made.body.split("\n\n")


@requirement("memory:polarity")
@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Please always use British spelling, except in code identifiers.", "**How to apply:** In code"),
        ("Reply in English even if I write in Spanish.", "**How to apply:** If I write in Spanish"),
        ("Merk dir, dass wir freitags nicht deployen, es sei denn es brennt.", "**Why:** Es brennt"),
        ('Remember that "done" does not mean merged, it means deployed.', "**Why:**"),
        ("I hate it when you don't run the tests.", "**How to apply:**"),
    ],
)
def test_a_label_is_given_only_to_what_it_fits(text: str, wrong: str) -> None:
    assert wrong.casefold() not in one(text).body.casefold()
