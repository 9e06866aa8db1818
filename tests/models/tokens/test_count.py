""""""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.messages.blocks import Text
from reverie.messages.entries import BoundaryEntry, ClearEntry, Entry, SnipEntry, UserEntry
from reverie.messages.message import Usage, user
from reverie.messages.view import project
from reverie.models.profiles import profile
from reverie.models.tokens.count import UNCALIBRATED, Calibration, count, facts_of, learn, model_of
from reverie.models.tokens.estimate import weigh_message, weigh_text, weigh_view
from reverie.models.tokens.rates import rates_for
from reverie.models.tokens.rounds import rounds
from tests.models.tokens.sessions import MODEL, WORDS, Session
from tests.requirements import requirement

FACTS = profile(MODEL)
RATES = rates_for(FACTS)


def tokens(session: Session, *more: Entry) -> int:
    entries = [*session.entries, *more]
    return count(project(entries), FACTS, entries=entries, calibration=UNCALIBRATED).tokens


@requirement("tokens:count:anchored")
def test_a_view_without_a_report_is_estimated_as_a_whole() -> None:
    view = project(Session().says(WORDS).entries)
    counted = count(view, FACTS)
    assert counted.tokens == counted.estimated_tokens == weigh_view(view, FACTS)


@requirement("tokens:count:anchored")
def test_the_answer_of_the_last_request_is_part_of_the_next() -> None:
    usage = Usage(input_tokens=10, cache_read_tokens=18_000, cache_write_tokens=500, output_tokens=300)
    session = Session().says("hi").answers(Text(WORDS), usage=usage)
    counted = count(project(session.entries), FACTS)
    assert (counted.reported_tokens, counted.tokens) == (18_510, 18_810)


@requirement("tokens:count:anchored")
def test_what_was_added_since_is_estimated() -> None:
    session = Session().says("hi").answers(Text("Hello."), usage=Usage(20_000, 3))
    before = tokens(session)
    session.says(WORDS)
    assert tokens(session) - before == pytest.approx(weigh_message(user(WORDS), RATES), abs=1)


@requirement("tokens:count:anchored")
def test_only_the_newest_report_counts() -> None:
    session = Session().says("hi").answers(Text("Hello."), usage=Usage(50_000, 3)).says("more")
    session.answers(Text("Yes."), usage=Usage(9_000, 3))
    assert tokens(session) == 9_003


@requirement("tokens:count:snapshots")
def test_a_snapshot_of_the_stream_is_replaced_by_the_visible_answer() -> None:
    session = Session().says("hi").answers(Text(WORDS), usage=Usage(20_000, 1), stop_reason=None)
    assert tokens(session) == pytest.approx(20_000 + weigh_text(WORDS, RATES), abs=1)


@requirement("tokens:count:freed")
def test_a_result_that_was_cleared_after_the_report_is_subtracted() -> None:
    session = Session().says("go").calls("t1", usage=Usage(20_000, 60)).returns("t1", WORDS * 10)
    session.answers(Text("Done."), usage=Usage(24_000, 3))
    clear = ClearEntry(session.envelope(), ("t1",), "[cleared]")
    freed = weigh_text(WORDS * 10, RATES) - weigh_text("[cleared]", RATES)
    assert tokens(session) - tokens(session, clear) == pytest.approx(freed, abs=1)


@requirement("tokens:count:freed")
def test_messages_that_were_snipped_after_the_report_are_subtracted() -> None:
    session = Session().says(WORDS).answers(Text("Yes."), usage=Usage(1_000, 3)).says("more")
    session.answers(Text("Done."), usage=Usage(20_000, 3))
    snip = SnipEntry(session.envelope(), ("u0", "u1"), "earlier talk")
    freed = weigh_message(user(WORDS), RATES) - weigh_message(user("earlier talk"), RATES)
    assert tokens(session) - tokens(session, snip) == pytest.approx(freed, rel=0.05)


@requirement("tokens:count:freed")
def test_a_report_after_the_cut_needs_no_correction() -> None:
    session = Session().says("go").calls("t1", usage=Usage(20_000, 60)).returns("t1", WORDS * 10)
    clear = ClearEntry(session.envelope(), ("t1",), "[cleared]")
    answer = Session().answers(Text("Done."), usage=Usage(20_100, 3)).entries[0]
    answer = replace(answer, envelope=replace(answer.envelope, uuid="after", parent=clear.envelope.uuid))
    assert tokens(session, clear, answer) == 20_103


@requirement("tokens:count:freed")
def test_a_compaction_leaves_what_it_kept_and_its_summary() -> None:
    session = Session().says(WORDS * 100).answers(Text("Yes."), usage=Usage(50_000, 3))
    boundary = BoundaryEntry(replace(session.envelope(), parent=None), "auto", kept=("u1",), anchor="sum")
    envelope = replace(session.envelope(), uuid="sum", parent=boundary.envelope.uuid)
    summary = UserEntry(envelope, user(WORDS), is_summary=True)
    left = 50_003 - weigh_text(WORDS * 100, RATES) + weigh_text(WORDS, RATES)
    assert tokens(session, boundary, summary) == pytest.approx(left, rel=0.02)


@requirement("tokens:count:freed")
def test_a_count_is_never_below_nothing() -> None:
    session = Session().says(WORDS * 100).answers(Text("Yes."), usage=Usage(10, 3))
    assert 0 <= tokens(session, SnipEntry(session.envelope(), ("u0",), "gone")) < 50


@requirement("tokens:count:anchored")
@given(st.lists(st.text(min_size=1, max_size=300), min_size=1, max_size=6))
def test_a_longer_tail_never_counts_less(said: list[str]) -> None:
    session = Session().says("hi").answers(Text("Hello."), usage=Usage(20_000, 3))
    counts = [tokens(session), *(tokens(session.says(text)) for text in said)]
    assert counts == sorted(counts)


@requirement("tokens:calibration:learns")
def test_a_session_whose_reports_grow_faster_than_estimated_is_counted_higher() -> None:
    session, size = Session().says("go"), 20_000
    for number in range(12):
        session.calls(f"t{number}", usage=Usage(size, 60)).returns(f"t{number}", WORDS)
        size += 60 + round(1.5 * (RATES.result + RATES.message + weigh_text(WORDS, RATES)))
    view = project(session.entries)
    learnt = learn(rounds(view.items), FACTS, RATES)
    assert learnt.ratio("Bash") > 1.15
    plain, calibrated = count(view, FACTS, calibration=UNCALIBRATED), count(view, FACTS)
    assert calibrated.tokens - plain.tokens > 0.15 * (plain.tokens - plain.reported_tokens - 60)


def test_a_change_of_model_teaches_nothing() -> None:
    session = Session().says("go").calls("t", usage=Usage(20_000, 60)).returns("t", WORDS)
    session.model = "claude-opus-5"
    session.answers(Text("Done."), usage=Usage(25_000, 3))
    assert learn(rounds(project(session.entries).items), FACTS, RATES) == UNCALIBRATED


def test_the_facts_of_a_view_are_those_of_the_model_that_answered_last() -> None:
    view = project(Session("claude-opus-5").says("hi").answers(Text("Hello."), usage=Usage(10, 3)).entries)
    assert model_of(view) == "claude-opus-5"
    assert facts_of(view).family == "claude-opus-5"
    assert facts_of(project([]), otherwise="claude-haiku-4-5").family == "claude-haiku-4-5"


def after(times: int, skew: float, kind: str = "Bash", start: Calibration = UNCALIBRATED) -> Calibration:
    for _ in range(times):
        start = start.observe(1_000, 1_000 * skew, kind)
    return start


@requirement("tokens:calibration:learns")
@pytest.mark.parametrize("skew", [0.7, 1.3, 1.6])
def test_a_steady_skew_is_learnt(skew: float) -> None:
    assert after(40, skew).ratio("Bash") == pytest.approx(skew, rel=0.12)


@requirement("tokens:calibration:learns")
def test_a_kind_never_seen_takes_part_in_what_the_session_taught() -> None:
    assert 1.0 < after(20, 1.4).ratio("Read") < after(20, 1.4).ratio("Bash")


@requirement("tokens:calibration:learns")
def test_kinds_are_told_apart() -> None:
    both = after(15, 0.7, "terminal", after(15, 1.3))
    assert both.ratio("terminal") < 1 < both.ratio("Bash")


@requirement("tokens:calibration:learns")
@pytest.mark.parametrize("reported", [0, -500, 50_000])
def test_an_accident_teaches_nothing(reported: int) -> None:
    settled = after(20, 1.2)
    assert settled.observe(1_000, reported, "Bash") == settled


@requirement("tokens:calibration:learns")
def test_one_odd_observation_moves_a_settled_factor_little() -> None:
    settled = after(20, 1.0)
    assert settled.observe(1_000, 2_500, "Bash").ratio("Bash") == pytest.approx(1.0, abs=0.05)


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(-1e6, 1e6), st.sampled_from(["", "a", "b"])), max_size=50))
def test_a_factor_stays_between_sane_bounds(seen: list[tuple[float, float, str]]) -> None:
    calibration = UNCALIBRATED
    for estimated, reported, kind in seen:
        calibration = calibration.observe(estimated, reported, kind)
    assert all(0.39 < calibration.ratio(kind) < 3.01 for kind in ("", "a", "b", "c"))


def test_observing_gives_a_new_value_and_leaves_the_old() -> None:
    first = UNCALIBRATED.observe(100, 120, "x")
    first.observe(100, 200, "x")
    assert UNCALIBRATED.ratio("x") == 1
    assert first == UNCALIBRATED.observe(100, 120, "x")
