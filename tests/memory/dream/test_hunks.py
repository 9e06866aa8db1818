from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.errors import UserMistake
from reverie.files.places.paths import MemoryFolder
from reverie.memory.dream.hunks import chosen, diff_of, hunks_of
from reverie.memory.dream.proposal import (
    Contradiction,
    DreamStep,
    Proposal,
    StepKind,
    has_proposal,
    read_proposal,
    remove_proposal,
    remove_proposal_about,
    write_proposal,
)
from tests.memory.dream.kit import text
from tests.memory.dream.test_gates import NOW
from tests.requirements import requirement

_LINES = st.lists(st.sampled_from(["one", "two", "three", "four", ""]), max_size=30).map("\n".join)


@requirement("dream:review")
@given(_LINES, _LINES)
def test_all_pieces_are_the_whole_and_none_is_nothing(old: str, new: str) -> None:
    step = DreamStep(StepKind.edit, "x", {"a.md": old}, {"a.md": new})
    hunks = hunks_of([step])
    if old != new:
        (whole,) = chosen([step], hunks)
        assert whole.after == {"a.md": new}
    assert chosen([step], ()) == ()


@requirement("dream:review")
def test_every_choice_of_pieces_changes_just_those_places() -> None:
    old = "\n".join(f"line {number}" for number in range(40))
    changes = {3: "third", 20: "twentieth", 37: "last"}
    new = "\n".join(changes.get(number, f"line {number}") for number in range(40))
    step = DreamStep(StepKind.edit, "x", {"a.md": old}, {"a.md": new})
    hunks = hunks_of([step])
    assert len(hunks) == 3
    for size in (1, 2):
        for taken in combinations(hunks, size):
            (part,) = chosen([step], taken)
            made = part.after["a.md"]
            assert made is not None
            assert [word in made for word in changes.values()] == [hunk in taken for hunk in hunks]
            assert len(made.split("\n")) == 40


@requirement("dream:review")
def test_a_merge_is_taken_as_a_whole() -> None:
    merge = DreamStep(StepKind.merge, "same", {"a.md": "x\n", "b.md": "y\n"}, {"a.md": "x\n\ny\n", "b.md": None})
    (hunk,) = hunks_of([merge])
    assert chosen([merge], [hunk]) == (merge,)
    assert hunk.diff == diff_of([merge])
    assert hunk.diff.splitlines() == [
        "--- a/a.md", "+++ b/a.md", "@@ -1,1 +1,3 @@", " x", "+", "+y",
        "--- a/b.md", "+++ /dev/null", "@@ -1,1 +0,0 @@", "-y",
    ]  # fmt: skip


@requirement("dream:review")
def test_pieces_that_make_no_topic_together_are_refused() -> None:
    old = "---\nname: a\n" + "\n".join(f"k{n}: v" for n in range(12)) + "\n---\nbody\n"
    new = "---\nname: [a,\n" + "\n".join(f"k{n}: v" for n in range(12)) + "\nz: b]\n---\nbody\n"
    step = DreamStep(StepKind.edit, "x", {"a.md": old}, {"a.md": new})
    with pytest.raises(UserMistake, match="accept all or none"):
        chosen([step], hunks_of([step])[:1])


@requirement("dream:review")
def test_a_proposal_is_kept_as_it_is_until_it_is_removed(tmp_path: Path) -> None:
    folder = MemoryFolder(tmp_path, tmp_path)
    steps = (DreamStep(StepKind.add, "why", {"ä.md": None}, {"ä.md": text("ä.md", "Grüße")}),)
    proposal = Proposal(
        NOW, "embedded", steps, (Contradiction(("a.md", "b.md"), ("x", "y"), "no"),), ("far",), ("r",), {"d": 3}
    )
    assert read_proposal(folder) is None
    write_proposal(folder, proposal)
    assert read_proposal(folder) == proposal
    assert has_proposal(folder)
    assert not list(tmp_path.rglob("*.md"))
    assert remove_proposal(folder)
    assert not remove_proposal(folder)


@requirement("dream:review")
@pytest.mark.parametrize(("erased", "goes"), [("ä.md", True), ("b.md", True), ("other.md", False)])
def test_erasing_a_memory_removes_a_proposal_that_quotes_it(tmp_path: Path, erased: str, goes: bool) -> None:
    folder = MemoryFolder(tmp_path, tmp_path)
    steps = (DreamStep(StepKind.edit, "why", {"ä.md": "x"}, {"ä.md": "y"}),)
    write_proposal(folder, Proposal(NOW, "embedded", steps, (Contradiction(("a.md", "b.md"), ("x", "y"), "no"),)))
    assert remove_proposal_about(folder, [erased]) == goes
    assert has_proposal(folder) != goes
