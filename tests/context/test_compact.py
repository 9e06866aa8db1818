from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.context.compact import STRUCTURE_TOKENS, Direction, OneSide, compact, compact_part, too_large
from reverie.context.facts.stated import strip_machine_text
from reverie.context.receipt import Fate, Sort, receipts
from reverie.context.replacement import (
    FULL_AT,
    SMALL_SUMMARY_FRACTION,
    SUMMARY_FRACTION,
    USER_FRACTION,
    summary_limit,
)
from reverie.context.spans import history, uncompact
from reverie.context.stage import NOTHING, StageOutcome
from reverie.context.summarise import SECTIONS
from reverie.context.survive import divide, must_survive
from reverie.errors import ContextTooLong, UserMistake
from reverie.messages.entries import BoundaryEntry, CollapseEntry, Entry
from reverie.messages.message import Usage
from reverie.messages.reminder import escape_reminder_tags
from reverie.messages.rules import conform
from reverie.messages.view import ItemKind, Projection, project
from reverie.settings import CompactionSettings
from tests.context.kit import (
    Session,
    ask,
    conclude,
    embedded,
    grown,
    long_session,
    resumed,
    spoken_texts,
    texts,
    unpaired,
    weigh,
)
from tests.messages.violations import violations
from tests.requirements import requirement
from tests.strategies import conversations

NINE = "\n".join(f"{number}. {name}: as it was." for number, name in enumerate(SECTIONS, 1))


@requirement("context:compact:laws", "context:survive:list", "context:undo")
@given(conversations(max_rounds=8), st.integers(300, 6_000), st.integers(0, 200), st.booleans())
def test_a_compaction_keeps_the_laws(made: list[Entry], window: int, tail: int, by_model: bool) -> None:
    session = grown(made)
    before, tokens = session.view, session.tokens()
    answers = [f"<summary>{NINE}</summary>"] if by_model else []
    outcome = conclude(compact(session.case(window), tail_tokens=tail), *answers)
    if not outcome.entries:
        return
    view = session.take(outcome)

    assert session.tokens() < tokens
    assert unpaired(view) <= unpaired(before)
    assert not violations(conform(view.messages))
    assert project(resumed(session.entries)) == view, "resume equals live"
    live = Projection().extend(made)
    assert live.extend(outcome.entries).view() == view, "one by one equals all at once"
    assert project(session.entries, uncompact(session.entries).leaf) == before, "undo restores"
    _, missing = divide(must_survive(session.entries), view.items)
    listed = {(line.sort, line.pointer) for line in receipts(session.entries)[-1].of(Fate.PART, Fate.OUT)}
    assert {(one.sort, one.pointer) for one in missing} <= listed, "nothing is lost silently"
    assert embedded(compact(session.case(window), tail_tokens=tail)) is NOTHING, "a second run changes nothing"


@requirement("context:compact:laws")
@given(conversations(max_rounds=6), st.integers(500, 4_000))
def test_the_same_history_is_compacted_to_the_same_bytes(made: list[Entry], window: int) -> None:
    one, other = grown(made), grown(resumed(made))

    assert embedded(compact(one.case(window))) == embedded(compact(other.case(window)))


@requirement("context:compact:two-parts")
def test_a_model_writes_the_summary_and_its_analysis_is_gone() -> None:
    session = long_session()
    session.take(conclude(compact(session.case(16_000)), f"<analysis>secret draft</analysis><summary>{NINE}</summary>"))

    assert NINE in session.view.items[0].message.text
    assert "secret draft" not in texts(session.view)


@requirement("context:survive:list", "context:compact:never-an-error")
def test_what_the_model_forgot_is_put_in_again_beside_its_words() -> None:
    session = long_session()
    session.take(conclude(compact(session.case(16_000)), "<summary>We worked on things.</summary>"))
    shown = texts(session.view)

    assert "We worked on things." in shown
    for text in spoken_texts(session.entries):
        assert text in shown
    for number in range(6):
        assert f"src/importer_{number}.py" in shown
    assert "ValueError: row 3 has no key" in shown


@requirement("context:compact:boundary")
def test_a_boundary_is_a_new_root_that_holds_everything_the_view_needs() -> None:
    session = long_session()
    leaf = session.view.leaf
    outcome = embedded(compact(session.case(16_000, trigger="manual")))
    boundary = outcome.entries[0]

    assert isinstance(boundary, BoundaryEntry)
    assert (boundary.envelope.parent, boundary.envelope.logical_parent, boundary.trigger) == (None, leaf, "manual")
    assert boundary.pre_tokens
    assert boundary.post_tokens
    assert boundary.post_tokens < boundary.pre_tokens
    names = [type(entry).__name__ for entry in outcome.entries]
    assert names[:3] == ["BoundaryEntry", "PromptEntry", "UserEntry"]
    assert set(names[3:-1]) == {"AttachmentEntry"}
    assert names[-1] == "MarkEntry"
    session.take(outcome)
    assert session.view.system
    assert session.view.tools
    assert abs(session.tokens() + 60 - boundary.post_tokens) < 0.1 * boundary.post_tokens


@requirement("context:compact:boundary", "context:spill:frozen", "context:clear:pause")
def test_kept_results_look_after_a_resume_as_they_looked_before() -> None:
    from reverie.messages.entries import ClearEntry, SpillDecision, SpillEntry

    session = long_session(3)
    session.say("last").work("Bash", "long output " * 50).work("Bash", "second output " * 50).work("Bash", "third")
    spilled, cleared, whole = f"call_{session.calls - 2}", f"call_{session.calls - 1}", f"call_{session.calls}"
    decisions = (SpillDecision(spilled, "a preview"), SpillDecision(whole, None))
    session.add(SpillEntry(session.envelope(), decisions))
    session.add(ClearEntry(session.envelope(), (cleared,), "cleared"))
    session.take(embedded(compact(session.case(16_000), tail_tokens=700)))
    shown = {result.tool_use_id: result.text for item in session.view.items for result in item.message.tool_results}

    assert (shown[spilled], shown[cleared], shown[whole]) == ("a preview", "cleared", "third")
    again = project(resumed(session.entries))
    assert again == session.view
    assert {spilled, whole} <= again.decided


@requirement("context:compact:unanswered")
def test_a_request_that_nobody_answered_stays_a_message_of_the_user() -> None:
    session = long_session()
    session.say("Now write the release notes, please.")
    uuid = session.uuid()
    session.take(embedded(compact(session.case(16_000), tail_tokens=0)))
    kept = [item for item in session.view.items if item.uuid == uuid]

    assert [(item.kind, item.message.text) for item in kept] == [
        (ItemKind.TYPED, "Now write the release notes, please.")
    ]


@requirement("context:compact:unanswered")
def test_the_newest_rounds_stay_as_they_are_when_they_fit() -> None:
    session = long_session()
    tail = session.view.items[-5:]
    session.take(embedded(compact(session.case(16_000), tail_tokens=400)))
    kept = [item for item in session.view.items if item.kind not in (ItemKind.SUMMARY, ItemKind.ATTACHMENT)]

    assert tuple(kept[-5:]) == tail
    assert sum(map(weigh, kept)) <= 400


@requirement("context:compact:prepared")
def test_the_users_words_about_compaction_reach_the_summariser() -> None:
    question = ask(compact(long_session().case(16_000), instructions="Focus on the SQL."))

    assert "Focus on the SQL." in question.prompt


@requirement("context:compact:too-long")
def test_a_summary_request_that_never_fits_still_ends_in_a_compaction() -> None:
    session = long_session()
    outcome = conclude(compact(session.case(16_000)), *(ContextTooLong("no") for _ in range(4)))
    session.take(outcome)

    assert outcome.entries
    assert receipts(session.entries)[-1].written_by == "embedded"


@requirement("context:compact:small-windows")
@pytest.mark.parametrize("window", [400, 1_000, 2_000, 4_000, 8_000, 30_000, 200_000])
def test_a_window_of_any_size_gets_a_result_below_its_line(window: int) -> None:
    session = long_session(10)
    outcome = embedded(compact(session.case(window)))
    session.take(outcome)
    budget = session.scene(window).budget

    assert outcome.entries
    if window >= 2_000:
        assert session.tokens() + 80 < budget.compact_at_tokens
    assert not violations(session.view.messages)


@requirement("context:compact:small-windows")
def test_a_message_that_cannot_fit_is_named_and_nothing_is_lost() -> None:
    session = long_session(3).say("Explain this log: " + "line of the log " * 900)
    uuid = session.uuid()
    session.take(embedded(compact(session.case(2_000))))
    view = session.view
    budget = session.scene(2_000).budget
    error = too_large(view, budget, weigh, 50)

    assert isinstance(error, ContextTooLong)
    assert "Explain this log" in str(error)
    assert "/compact" in str(error)
    assert error.gap_tokens
    assert [item.message.text for item in view.items if item.uuid == uuid] == [spoken_texts(session.entries)[-1]]


@requirement("context:compact:laws")
def test_a_short_conversation_is_left_alone() -> None:
    session = Session().say("hi").reply("hello")

    assert embedded(compact(session.case(200_000))) is NOTHING


@requirement("context:compact:partial")
def test_up_to_a_message_the_history_is_summed_up_and_what_follows_stays() -> None:
    session = long_session()
    pivot = next(
        item for item in session.view.items if item.message.text.startswith("Please change the importer number 4")
    )
    at = session.view.items.index(pivot)
    after = session.view.items[at:]
    question = ask(compact_part(session.case(30_000), OneSide(Direction.UP_TO, pivot.uuid[:8])))
    assert question.context == tuple(item.message for item in session.view.items[:at])
    session.take(embedded(compact_part(session.case(30_000), OneSide(Direction.UP_TO, pivot.uuid))))

    assert session.view.items[1 : 1 + len(after)] == after
    assert session.view.items[0].kind is ItemKind.SUMMARY


@requirement("context:compact:partial")
def test_from_a_message_on_everything_is_summed_up_behind_an_unchanged_prefix() -> None:
    session = long_session()
    items = session.view.items
    pivot = next(item for item in items if item.message.text.startswith("Please change the importer number 2"))
    before = items[: items.index(pivot)]
    outcome = embedded(compact_part(session.case(30_000), OneSide(Direction.FROM, pivot.uuid)))
    tokens = session.tokens()
    session.take(outcome)

    assert isinstance(outcome.entries[0], CollapseEntry)
    assert [receipt.kind for receipt in receipts(outcome.entries)] == ["partial compaction"]
    assert session.view.items[:-1] == before
    assert session.view.items[-1].kind is ItemKind.FOLD
    assert session.tokens() < tokens
    for text in spoken_texts(session.entries):
        assert text in texts(session.view)
    assert project(resumed(session.entries)) == session.view


@requirement("context:compact:partial")
@given(conversations(max_rounds=8), st.integers(1_000, 8_000), st.sampled_from(Direction), st.data())
def test_partial_compaction_keeps_the_laws(
    made: list[Entry], window: int, direction: Direction, data: st.DataObject
) -> None:
    session = grown(made)
    pivot = data.draw(st.sampled_from(session.view.items)).uuid
    before, tokens = session.view, session.tokens()
    session.take(embedded(compact_part(session.case(window), OneSide(direction, pivot))))

    assert session.tokens() <= tokens
    assert unpaired(session.view) <= unpaired(before)
    assert not violations(conform(session.view.messages))
    assert project(resumed(session.entries)) == session.view


@requirement("context:compact:partial")
def test_a_message_that_is_not_in_view_is_named() -> None:
    with pytest.raises(UserMistake, match="'nowhere'"):
        embedded(compact_part(long_session(1).case(), OneSide(Direction.FROM, "nowhere")))


@requirement("context:compact:laws")
@pytest.mark.parametrize("window", [2_000, 8_000, 16_000, 30_000, 60_000, 120_000])
def test_a_summary_never_takes_the_room_of_what_must_come_back(window: int) -> None:
    session = long_session(40)
    for turn in range(window // 400):
        session.say(f"Remark {turn}: " + "say it in words that everybody can follow. " * 8)
    case = session.case(window)
    must = must_survive(session.entries)
    effective, free = case.scene.budget.effective_tokens, int(case.room_tokens * FULL_AT)
    limit = summary_limit(case, must, ())

    said = sum(case.scene.weigh_text(one.text) for one in must.survivors if one.sort is Sort.REQUEST)
    returning = min(effective * CompactionSettings().user_text_fraction, free * USER_FRACTION, said)
    assert 0 < limit <= max(free * SUMMARY_FRACTION, free - returning + 3)
    assert limit <= free * SMALL_SUMMARY_FRACTION


@requirement("context:compact:laws")
def test_what_the_user_has_not_said_leaves_its_room_to_a_small_summary() -> None:
    quiet, talkative = long_session(5), long_session(5)
    for turn in range(60):
        talkative.say(f"Remark {turn}: " + "say it in words that everybody can follow. " * 8)
    case = quiet.case(quiet.tokens() * 3)
    beside_few, beside_many = (must_survive(one.entries) for one in (quiet, talkative))

    assert summary_limit(case, beside_few, ()) > summary_limit(case, beside_many, ())


@requirement("context:compact:laws")
def test_a_summary_by_structure_does_not_grow_with_the_window() -> None:
    session = Session().say("Rename them all.")
    for number in range(900):
        told = f"renamed value_{number} to amount_{number} in module_{number}.py"
        session.work("Bash", told, command=f"rename {number}")
    made = [embedded(compact(session.case(window))).entries for window in (150_000, 900_000)]
    sizes = [weigh(item) for entries in made for item in project(entries).items if item.kind is ItemKind.SUMMARY]

    assert sizes[0] == sizes[1] > STRUCTURE_TOKENS // 2
    assert sizes[0] <= STRUCTURE_TOKENS + 200, "with the words that introduce it"


@requirement("context:survive:ten-times")
def test_after_ten_compactions_every_user_message_and_pin_is_there_or_listed() -> None:
    session = Session().prompt("You are careful.", "Read", "Bash")
    session.say("The very first wish: never use tabs.").reply("The secret number is 4711, remember it.")
    session.mark("pin", uuid=session.uuid())
    receipt_sizes: list[int] = []
    for turn in range(10):
        more = long_session(4)
        for entry in more.entries[1:]:
            _continue_with(session, entry, turn)
        session.say(f"Remark {turn}: keep the name frobnicate_{turn}.")
        outcome = embedded(compact(session.case(16_000)))
        assert outcome.entries
        session.take(outcome)
        seen = [item for item in session.view.items if item.label == "receipt"]
        assert len(seen) == 1
        receipt_sizes.append(weigh(seen[0]))

    shown = texts(session.view)
    listed = {line.pointer for line in receipts(session.entries)[-1].of(Fate.PART, Fate.OUT)}
    must = must_survive(session.entries)
    assert len(must.facts.requests) == 1 + 10 * 5
    for request in must.facts.requests:
        assert request.text in shown or request.uuid in listed, request
    assert "The secret number is 4711, remember it." in shown
    assert "The very first wish" in shown
    budget = session.scene(16_000).budget
    assert max(receipt_sizes) <= budget.effective_tokens * CompactionSettings().receipt_fraction
    assert session.tokens() < budget.compact_at_tokens


@requirement("context:survive:ten-times")
@settings(max_examples=6)
@given(conversations(), st.lists(st.text(min_size=1, max_size=200), min_size=10, max_size=10))
def test_ten_compactions_of_any_conversation_lose_no_message_and_no_pin(
    entries: list[Entry], remarks: list[str]
) -> None:
    session = grown(entries)
    session.say("The very first wish: never use tabs.").reply("The secret number is 4711, remember it.")
    session.mark("pin", uuid=session.uuid())
    largest = session.scene(8_000).budget.effective_tokens * CompactionSettings().receipt_fraction
    done = 0
    for turn, remark in enumerate(remarks):
        session.work("Read", f"{remark}\n" * 40, file_path=f"/app/part_{turn}.py").say(f"Remark {turn}: {remark}")
        session.reply("Noted.")
        outcome = embedded(compact(session.case(8_000)))
        done += bool(outcome.entries)
        session.take(outcome)
        assert all(weigh(item) <= largest for item in session.view.items if item.label == "receipt")

    assert done
    newest = receipts(session.entries)[-1]
    listed = {line.pointer for line in newest.of(Fate.PART, Fate.OUT) if line.sort in (Sort.REQUEST, Sort.PIN)}
    there = {item.uuid for item in session.view.items}
    shown = texts(session.view)
    for item in history(session.entries):
        if item.kind is ItemKind.TYPED and strip_machine_text(item.message.text):
            # Inside a reminder, what looks like the end of one is quoted.
            texts_of = (item.message.text, escape_reminder_tags(item.message.text))
            assert any(text in shown for text in texts_of) or item.uuid in listed | there
    assert "The secret number is 4711, remember it." in shown


def _continue_with(session: Session, entry: Entry, turn: int) -> None:
    """Say again what another session said, under ids of this one."""
    from dataclasses import replace

    from reverie.messages.blocks import ToolResult, ToolUse
    from reverie.messages.entries import AssistantEntry, UserEntry

    assert isinstance(entry, UserEntry | AssistantEntry)
    content = tuple(
        replace(block, id=f"{block.id}_{turn}")
        if isinstance(block, ToolUse)
        else replace(block, tool_use_id=f"{block.tool_use_id}_{turn}")
        if isinstance(block, ToolResult)
        else block
        for block in entry.message.content
    )
    envelope = session.envelope()
    changed = replace(entry, envelope=envelope, message=replace(entry.message, content=content))
    if isinstance(changed, AssistantEntry):
        changed = replace(changed, message_id=f"msg-{envelope.uuid}")
    session.add(changed)


@requirement("context:compact:laws")
def test_a_count_after_a_compaction_is_not_the_old_one() -> None:
    from reverie.models.tokens.count import count
    from tests.context.kit import FACTS

    session = long_session()
    session.reply("counted", usage=Usage(input_tokens=14_000, output_tokens=5))
    session.take(embedded(compact(session.case(16_000))))

    counted = count(session.view, FACTS, entries=session.entries)
    assert counted.tokens < 10_000
    assert isinstance(NOTHING, StageOutcome)


@requirement("context:compact:small-windows")
def test_tools_that_fill_the_window_alone_are_named() -> None:
    session = Session().say("hello")
    budget = session.scene(2_000, used=9_000).budget
    error = too_large(session.view, budget, weigh, 8_950)

    assert "system text and tools alone take about 8,950" in str(error)
    assert "--bare" in str(error)
