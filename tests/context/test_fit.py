"""What the model has not answered stays whole while it can fit, and every view fits where its prompt does."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from reverie.context.compact import find_first_unanswered
from reverie.context.fit import fit
from reverie.context.pipeline import compact_now, write_outcome_files
from reverie.context.replacement import Case
from reverie.context.stage import NOTHING
from reverie.messages.rules import conform
from reverie.messages.view import View, project
from reverie.settings import Settings
from reverie.testing.build import picture, tool_call, tool_result
from tests.context.kit import Session, embedded, long_session, resumed
from tests.messages.violations import violations
from tests.requirements import requirement

SIZES = st.lists(st.integers(20, 6_000), min_size=1, max_size=4)
WINDOWS = st.sampled_from([8_000, 12_000, 20_000, 30_000])


def working(turns: int, sizes: list[int], typed: int = 0) -> Session:
    """A session whose newest calls wait for the model, with results of these sizes in words."""
    session = long_session(turns)
    session.say("Compare them, please. " + "detail " * typed)
    calls = [tool_call("Read", f"new_{number}", file_path=f"/w/{number}.py") for number in range(len(sizes))]
    session.reply(*calls)
    for call, words in zip(calls, sizes, strict=True):
        session.say(tool_result(call, f"begins {call.id} " + "word " * words + f"ends {call.id}"))
    return session


def shown(view: View) -> dict[str, str]:
    return {result.tool_use_id: result.text for item in view.items for result in item.message.tool_results}


def made(case: Case, session: Session, tmp: Path | None = None) -> Case:
    ready = replace(case, spill_path=None if tmp is None else lambda name: tmp / f"{name}.txt")
    outcome = write_outcome_files(embedded(compact_now(ready, Settings())))
    session.take(outcome)
    return ready.after(outcome)


@requirement("context:compact:unanswered")
@given(turns=st.integers(0, 5), sizes=SIZES, window=WINDOWS)
def test_the_newest_results_are_whole_whenever_they_fit(turns: int, sizes: list[int], window: int) -> None:
    session = working(turns, sizes)
    case = session.case(window)
    whole = shown(session.view)
    waiting = session.view.items[find_first_unanswered(session.view.items) :]
    least = case.scene.budget.effective_tokens // 8
    could_fit = case.overhead_tokens + case.weight(waiting) + least <= case.scene.budget.blocking_tokens

    after = made(case, session)

    assert after.tokens <= after.scene.budget.blocking_tokens
    assert not violations(conform(after.view.messages))
    assert project(resumed(session.entries)) == after.view, "resume equals live"
    now = shown(after.view)
    if could_fit:
        assert {name: now.get(name) for name in whole if name.startswith("new_")} == {
            name: text for name, text in whole.items() if name.startswith("new_")
        }


@requirement("context:fit:last-means")
@given(turns=st.integers(0, 3), sizes=SIZES, window=st.sampled_from([2_000, 4_000, 8_000]), typed=st.integers(0, 9_000))
def test_whatever_waits_the_view_fits_once_something_was_done(
    turns: int, sizes: list[int], window: int, typed: int
) -> None:
    session = working(turns, sizes, typed)
    after = made(session.case(window, used=session.tokens()), session)

    assert after.tokens <= after.scene.budget.blocking_tokens
    assert not violations(conform(after.view.messages))


@requirement("context:fit:last-means")
def test_the_largest_gives_way_first_and_its_whole_text_is_in_a_file(tmp_path: Path) -> None:
    session = working(2, [200, 7_000, 300])
    whole = shown(session.view)
    after = shown(made(session.case(8_000), session, tmp_path).view)

    assert after["new_0"] == whole["new_0"]
    assert after["new_2"] == whole["new_2"]
    assert str(tmp_path / "new_1.txt") in after["new_1"]
    assert "begins new_1" in after["new_1"]
    assert (tmp_path / "new_1.txt").read_text(encoding="utf-8") == whole["new_1"]


@requirement("context:fit:last-means")
def test_without_a_place_for_files_no_pointer_is_given_and_both_ends_are_shown(tmp_path: Path) -> None:
    session = working(2, [7_000])
    after = shown(made(session.case(8_000), session).view)["new_0"]

    assert "begins new_0" in after
    assert "ends new_0" in after
    assert str(tmp_path) not in after
    assert "persisted-output" not in after


@requirement("context:fit:last-means", "context:spill:disk")
def test_a_file_that_cannot_be_written_leaves_no_pointer_behind(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file, where a folder would have to be", encoding="utf-8")
    session = working(2, [7_000])
    after = made(session.case(8_000), session, tmp_path / "taken")

    assert "begins new_0" in shown(after.view)["new_0"]
    assert str(tmp_path) not in json.dumps([shown(after.view)])
    assert after.tokens <= after.scene.budget.blocking_tokens


@requirement("context:fit:last-means")
def test_typed_words_that_cannot_fit_are_shown_by_both_ends_and_pictures_as_a_word() -> None:
    session = Session().say("Explain: " + "line of the log " * 4_000 + " and be brief.")
    after = made(session.case(8_000), session)
    (item,) = after.view.items
    assert item.message.text.startswith("Explain: ")
    assert item.message.text.endswith("and be brief.")

    pictured = Session().say("What is this?", picture()).case(2_000)
    assert fit(pictured) is NOTHING


@requirement("context:compact:unanswered")
def test_a_result_of_a_tenth_of_a_large_window_is_not_dropped() -> None:
    session = long_session(40)
    session.say("Read it.").reply(tool_call("Read", "new_0", file_path="/w/a.py"))
    session.say(tool_result("new_0", "word " * 12_000))
    case = session.case(200_000, used=170_000)
    after = made(case, session)

    assert shown(after.view)["new_0"] == "word " * 12_000
