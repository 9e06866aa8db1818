from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.messages.blocks import Text
from reverie.messages.message import Usage
from reverie.messages.transcript import read_entries
from reverie.models.profiles import Prices, ProfileOverride
from reverie.models.tokens.usage import SessionTotals, bill, totals
from tests.models.tokens.sessions import Session
from tests.requirements import requirement


@requirement("tokens:usage:once")
def test_a_reply_of_several_records_counts_once_as_its_last_record_says() -> None:
    session = Session().says("go").answers(Text("I look."), usage=Usage(100, 1), message_id="m", stop_reason=None)
    session.calls("t", usage=Usage(100, 80), message_id="m").returns("t", "x")
    assert totals(session.entries).usage == Usage(100, 80)
    assert [one.replies for one in totals(session.entries).by_model] == [1]


@requirement("tokens:usage:once")
def test_a_last_record_without_usage_does_not_wipe_out_what_was_reported() -> None:
    session = (
        Session().answers(Text("a"), usage=Usage(7, 7), message_id="m").answers(Text("b"), usage=None, message_id="m")
    )
    assert totals(session.entries).usage == Usage(7, 7)


@requirement("tokens:usage:main")
def test_a_sub_agent_counts_only_when_asked() -> None:
    session = Session().answers(Text("a"), usage=Usage(1, 1)).answers(Text("b"), usage=Usage(10, 10), sidechain=True)
    assert totals(session.entries).usage == Usage(1, 1)
    assert totals(session.entries, sidechains=True).usage == Usage(11, 11)


@requirement("tokens:usage:main")
def test_messages_that_the_client_made_count_never() -> None:
    session = Session("<synthetic>").answers(Text("API error"), usage=Usage(0, 0))
    assert totals(session.entries, sidechains=True) == SessionTotals()


def test_models_are_totalled_apart_in_the_order_of_their_use() -> None:
    session = Session("claude-opus-5").answers(Text("a"), usage=Usage(1_000_000))
    session.model = "claude-haiku-4-5"
    session.answers(Text("b"), usage=Usage(2_000_000))
    spent = totals(session.entries)
    assert [(one.model, one.usage.input_tokens) for one in spent.by_model] == [
        ("claude-opus-5", 1_000_000),
        ("claude-haiku-4-5", 2_000_000),
    ]
    assert bill(spent) == pytest.approx(5 + 2)


@requirement("tokens:profiles:no-invented-price")
def test_a_model_without_a_price_is_named_and_not_guessed() -> None:
    session = Session("local").answers(Text("a"), usage=Usage(1_000))
    assert bill(totals(session.entries)) is None
    session.model = "claude-haiku-4-5"
    session.answers(Text("b"), usage=Usage(1_000_000))
    assert bill(totals(session.entries)) == 1.0
    mine = {"local": ProfileOverride(prices=Prices(1, 1, 1, 1, 1))}
    assert bill(totals(session.entries), mine) == pytest.approx(1.001)


def test_a_session_without_answers_cost_nothing() -> None:
    assert bill(totals(Session().says("hi").entries)) == 0.0


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1_000)), max_size=20))
def test_reading_more_records_never_lowers_the_number_of_replies(seen: list[tuple[int, int]]) -> None:
    session, before = Session(), 0
    for reply, output in seen:
        session.answers(Text("x"), usage=Usage(1, output), message_id=f"m{reply}")
        replies = sum(one.replies for one in totals(session.entries).by_model)
        assert before <= replies == len({reply for reply, _ in seen[: len(session.entries)]})
        before = replies


def test_the_totals_of_a_real_session(shared_data: Path) -> None:
    path = shared_data / "transcripts" / "claude-reliability" / "python-to-rust-port.jsonl"
    spent = totals(read_entries(path))
    assert sum(one.replies for one in spent.by_model) == 39
    assert bill(spent) == pytest.approx(0.71496, rel=0.01)
