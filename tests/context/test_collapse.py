from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reverie.context.collapse import STAGED, choose_spans, collapse, collapse_stage, drain, find_queued
from reverie.context.compact import compact
from reverie.context.stage import NOTHING, StageContext
from reverie.messages.entries import CollapseEntry, Entry, MarkEntry
from reverie.messages.rules import conform
from reverie.messages.view import ItemKind
from reverie.settings import CollapseSettings
from tests.context.kit import (
    Session,
    ask,
    conclude,
    embedded,
    golden,
    grown,
    long_session,
    resumed,
    spoken_texts,
    texts,
    unpaired,
)
from tests.messages.violations import violations
from tests.requirements import requirement
from tests.strategies import conversations

ON = CollapseSettings(enabled=True, summary_tokens=200)


def scene_at(session: Session, share: float) -> StageContext:
    """A scene in which the session fills this share of the effective window."""
    return session.scene(int(session.tokens() / share / 0.8), None)


def staged(session: Session, share: float = 0.93) -> Session:
    outcome = collapse_stage(ON)(session.view, scene_at(session, share))
    assert outcome.entries
    session.take(outcome)
    return session


@requirement("context:collapse:stage-and-run")
def test_spans_are_queued_at_the_first_line_and_nothing_is_folded_yet() -> None:
    session = long_session()
    before = session.view.items
    assert collapse_stage(ON)(session.view, scene_at(session, 0.89)) is NOTHING
    assert collapse_stage(CollapseSettings())(session.view, scene_at(session, 0.99)) is NOTHING

    staged(session)

    assert session.view.items == before
    assert find_queued(session.entries)
    assert scene_at(session, 0.93).budget.must_stage_collapse
    assert not scene_at(session, 0.93).budget.must_run_collapse


@requirement("context:collapse:stage-and-run")
def test_as_much_is_queued_as_brings_the_view_down_to_seventy_hundredths() -> None:
    session = long_session(12)
    scene = scene_at(session, 0.93)
    spans = choose_spans(session.view, scene, ON)

    freed = [sum(scene.weigh(item) for item in span) - ON.summary_tokens for span in spans]
    to_free = scene.budget.used_tokens - 0.7 * scene.budget.effective_tokens
    assert sum(freed[:-1]) < to_free <= sum(freed)


@requirement("context:collapse:stage-and-run")
def test_what_is_queued_is_not_queued_again() -> None:
    session = staged(long_session())

    again = collapse_stage(ON)(session.view, scene_at(session, 0.93))

    assert again is NOTHING


@requirement("context:collapse:stage-and-run")
def test_the_queue_is_worked_off_with_one_question_per_span() -> None:
    session = staged(long_session())
    queue = find_queued(session.entries)
    flow = collapse(session.view, scene_at(session, 0.96), ON, queue)
    outcome = conclude(flow, *(f"Span {n}: the importer was read." for n in range(len(queue))))
    tokens = session.tokens()
    session.take(outcome)

    folds = [item.message.text for item in session.view.items if item.kind is ItemKind.FOLD]
    assert len(folds) == len(queue)
    assert "Span 0: the importer was read." in folds[0]
    assert session.tokens() < 0.8 * tokens
    assert find_queued(session.entries) == ()


@requirement("context:collapse:stage-and-run", "context:compact:never-an-error")
def test_a_span_whose_summary_is_empty_is_summed_up_by_structure() -> None:
    session = staged(long_session())
    session.take(conclude(collapse(session.view, scene_at(session, 0.96), ON, find_queued(session.entries)), " ", ""))

    assert "src/importer_0.py" in texts(session.view)


@requirement("context:collapse:stage-and-run")
def test_a_drain_folds_everything_that_is_staged_without_asking() -> None:
    session = staged(long_session())
    outcome = drain(session.view, scene_at(session, 0.96), ON, find_queued(session.entries))
    session.take(outcome)

    assert len([entry for entry in outcome.entries if isinstance(entry, CollapseEntry)]) == len(outcome.entries) > 0
    assert find_queued(session.entries) == ()


@requirement("context:collapse:stage-and-run")
def test_a_drain_with_an_empty_queue_takes_the_oldest_spans() -> None:
    session = long_session()

    assert drain(session.view, scene_at(session, 0.96), ON, ()).entries


@requirement("context:collapse:survives")
def test_folds_outlive_a_resume_and_end_at_a_boundary() -> None:
    session = staged(long_session())
    session.take(drain(session.view, scene_at(session, 0.96), ON, find_queued(session.entries)))
    session.say("next").reply("answer " * 200)
    collapse_stage(ON)(session.view, scene_at(session, 0.96))
    assert any(item.kind is ItemKind.FOLD for item in session.view.items)
    seen = session.view
    session.entries = resumed(session.entries)
    assert session.view == seen

    session.take(embedded(compact(session.case(12_000))))

    assert not any(item.kind is ItemKind.FOLD for item in session.view.items)
    assert find_queued(session.entries) == ()


@requirement("context:collapse:survives")
def test_a_staged_span_whose_messages_left_the_view_is_dropped() -> None:
    session = staged(long_session())
    waiting = find_queued(session.entries)
    session.take(embedded(compact(session.case(12_000))))

    assert embedded(collapse(session.view, session.scene(), ON, waiting)) is NOTHING


def test_a_mark_of_another_shape_queues_nothing() -> None:
    session = Session().say("go").mark(STAGED, spans=[["only one"], "text", [1, 2]]).mark(STAGED)

    assert find_queued(session.entries) == ()
    assert isinstance(session.entries[-1], MarkEntry)


@requirement("context:collapse:survives", "context:stages:laws")
@given(conversations(max_rounds=8), st.integers(30, 300))
def test_folding_keeps_the_laws(made: list[Entry], limit: int) -> None:
    session = grown(made)
    settings = CollapseSettings(enabled=True, min_span_fraction=0.05, summary_tokens=limit)
    before, tokens = session.view, session.tokens()
    session.take(drain(before, scene_at(session, 0.97), settings, ()))

    assert session.tokens() <= tokens
    assert unpaired(session.view) <= unpaired(before)
    assert not violations(conform(session.view.messages))
    assert [item.message.text for item in session.view.items if item.kind is ItemKind.TYPED] == spoken_texts(made)
    seen = session.view
    session.entries = resumed(session.entries)
    assert session.view == seen


@requirement("context:prompts")
def test_the_question_for_a_span_is_golden() -> None:
    session = staged(long_session())

    golden("span_prompt.md", ask(collapse(session.view, session.scene(), ON, find_queued(session.entries))).prompt)
