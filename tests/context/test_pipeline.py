from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.context.gate import FAILED
from reverie.context.pipeline import Failure, PreparedView, apply, compact_now, prepare, stages, write_outcome_files
from reverie.context.receipt import receipts
from reverie.context.session_notes import NotesFile
from reverie.context.stage import NOTHING, StageContext, StageOutcome
from reverie.files.places.paths import SessionFolder
from reverie.messages.codec import encode_json, message_to_wire
from reverie.messages.entries import BoundaryEntry, Entry, MarkEntry
from reverie.messages.rules import conform
from reverie.messages.view import ItemKind, Projection, View
from reverie.settings import (
    CachedClearing,
    ClearingSettings,
    CollapseSettings,
    CompactionSettings,
    Settings,
    SnipSettings,
    SpillSettings,
    TimeClearing,
)
from tests.context.kit import (
    Session,
    ask,
    embedded,
    grown,
    long_session,
    resumed,
    spoken_texts,
    texts,
    unpaired,
    weigh,
    with_notes,
    with_settings,
)
from tests.messages.violations import violations
from tests.requirements import requirement
from tests.strategies import conversations

EVERYTHING = with_settings(
    spill=SpillSettings(result_chars=600, round_chars=2_000, preview_bytes=100),
    snip=SnipSettings(enabled=True, trigger_fraction=0.5, target_fraction=0.4),
    clearing=ClearingSettings(
        time=TimeClearing(min_fill_fraction=0.1, keep_results=2), cached=CachedClearing(enabled=True, trigger_results=3)
    ),
    collapse=CollapseSettings(enabled=True, stage_fraction=0.3, summary_tokens=100),
)


def measure(view: View) -> int:
    return sum(map(weigh, view.items))


def prepared(session: Session, settings: Settings, window: int, folder: Path) -> PreparedView:
    """Run all stages on a session and append what they want."""
    session.edits_cache = True
    steps = stages(settings, spill_path=SessionFolder(folder).spill)
    projection = Projection().extend(session.entries)
    done = prepare(projection, session.scene(window), steps, measure)
    session.entries.extend(done.outcome.entries)
    assert session.view == projection.view()
    return done


@requirement("context:stages:order")
def test_stages_run_in_order_and_each_sees_what_the_one_before_left(tmp_path: Path) -> None:
    session = long_session().work("Bash", "a line of output\n" * 300, command="make").reply("made")
    session.now += timedelta(hours=5)
    done = prepared(session, EVERYTHING, 16_000, tmp_path)

    kinds = [reduction.kind for reduction in done.outcome.reductions]
    assert kinds == ["spill", "snip", "clear"]
    assert done.scene.budget.used_tokens == session.tokens() < 0.4 * 12_000 + 200
    again = prepared(session, EVERYTHING, 16_000, tmp_path)
    assert again.outcome is NOTHING


@requirement("context:stages:order")
def test_clearing_runs_when_snip_is_off_and_the_cached_one_only_when_no_pause_was(tmp_path: Path) -> None:
    settings = with_settings(clearing=EVERYTHING.clearing)
    fresh, paused = long_session(), long_session()
    fresh.now -= timedelta(hours=1, minutes=59)
    paused.now += timedelta(hours=5)

    assert [one.detail for one in prepared(fresh, settings, 16_000, tmp_path).outcome.reductions] == [
        "inside the server's cache"
    ]
    assert [one.detail for one in prepared(paused, settings, 16_000, tmp_path).outcome.reductions] == ["after a pause"]


@requirement("context:stages:order")
def test_with_default_settings_and_a_calm_window_only_the_spill_decisions_are_made(tmp_path: Path) -> None:
    session = long_session()
    done = prepared(session, Settings(), 200_000, tmp_path)

    assert [type(entry).__name__ for entry in done.outcome.entries] == ["SpillEntry"]
    assert done.outcome.reductions == ()


@requirement("context:stages:fail-alone")
def test_a_stage_that_fails_is_passed_over_and_reported() -> None:
    session = long_session()

    def broken(view: View, scene: StageContext) -> StageOutcome:
        raise KeyError("no such thing")

    projection = Projection().extend(session.entries)
    steps = (broken, *stages(with_settings(snip=EVERYTHING.snip)))
    done = prepare(projection, session.scene(16_000), steps, measure)

    assert [one.error for one in done.failures] == ["KeyError: 'no such thing'"]
    assert isinstance(done.failures[0], Failure)
    assert [one.kind for one in done.outcome.reductions] == ["snip"]


@requirement("context:spill:honest")
def test_files_are_written_before_their_entries_count(tmp_path: Path) -> None:
    session = Session().say("go").work("Bash", "output\n" * 400)
    projection = Projection().extend(session.entries)
    steps = stages(EVERYTHING, spill_path=SessionFolder(tmp_path).spill)
    prepare(projection, session.scene(200_000), steps, measure, write_outcome_files)

    path = tmp_path / "tool-results" / "call_1.txt"
    assert path.read_text(encoding="utf-8") == "output\n" * 400
    assert path.stat().st_mode & 0o777 == 0o600
    assert str(path) in texts(projection.view())


@requirement("context:stages:laws", "context:stages:same-bytes")
@given(conversations(max_rounds=8), st.integers(200, 4_000), st.integers(0, 30))
def test_all_stages_together_keep_the_laws(
    tmp_path_factory: pytest.TempPathFactory, made: list[Entry], window: int, hours: int
) -> None:
    folder = tmp_path_factory.getbasetemp()
    session = grown(made)
    session.now += timedelta(hours=hours)
    before, tokens = session.view, session.tokens()
    prepared(session, EVERYTHING, window, folder)
    view = session.view

    cached = sum(weigh(item) for item in view.items if item.label == "cache_edits")
    assert session.tokens() - cached <= tokens
    assert unpaired(view) <= unpaired(before)
    assert not violations(conform(view.messages))
    assert [item.message.text for item in view.items if item.kind is ItemKind.TYPED] == spoken_texts(made)
    assert _bytes(session.view) == _bytes(view)
    session.entries = resumed(session.entries)
    assert _bytes(session.view) == _bytes(view)


def _bytes(view: View) -> bytes:
    return encode_json([message_to_wire(message) for message in conform(view.messages)])


def notes_of(session: Session) -> NotesFile:
    return with_notes(session, Path("/notes/summary.md"))


@requirement("context:now:notes-first")
def test_notes_are_tried_first_and_nobody_is_asked() -> None:
    session = long_session()
    file = notes_of(session)
    flow = compact_now(session.case(16_000), Settings(), file)
    with pytest.raises(StopIteration) as end:
        next(flow)
    session.take(end.value.value)

    assert receipts(session.entries)[-1].kind == "notes compaction"


@requirement("context:now:notes-first")
def test_where_the_notes_decline_the_full_compaction_takes_over() -> None:
    session = long_session()
    session.take(embedded(compact_now(session.case(16_000), Settings(), NotesFile(Path("/notes/summary.md")))))

    assert receipts(session.entries)[-1].kind == "full compaction"


@requirement("context:now:notes-first")
def test_instructions_of_the_user_go_to_a_model_and_past_the_notes() -> None:
    session = long_session()
    file = notes_of(session)
    question = ask(compact_now(session.case(16_000), Settings(), file, instructions="Keep the SQL."))

    assert "Keep the SQL." in question.prompt


@requirement("context:gate:breakers")
def test_an_automatic_compaction_that_gains_nothing_leaves_a_mark_and_one_by_hand_does_not() -> None:
    session = Session().say("word " * 300)
    outcome = embedded(compact_now(session.case(2_000), Settings()))

    assert [entry.name for entry in outcome.entries if isinstance(entry, MarkEntry)] == [FAILED]
    assert embedded(compact_now(session.case(2_000, trigger="manual"), Settings())) == NOTHING


def test_apply_gives_the_view_after_an_outcome() -> None:
    session = long_session()
    projection = Projection().extend(session.entries)
    outcome = embedded(compact_now(session.case(16_000), Settings()))

    view = apply(projection, outcome)

    assert isinstance(outcome.entries[0], BoundaryEntry)
    assert view == session.take(outcome)


@requirement("context:now:notes-first")
def test_compaction_that_is_switched_off_does_nothing_by_hand_either() -> None:
    settings = with_settings(compaction=CompactionSettings(enabled=False))

    assert embedded(compact_now(long_session().case(16_000, trigger="manual"), settings)) is NOTHING


@requirement("context:stages:fail-alone", "context:gate:breakers")
def test_an_automatic_compaction_that_breaks_leaves_a_mark_instead_of_an_error() -> None:
    session = long_session()
    case = session.case(16_000)
    broken = replace(case, scene=replace(case.scene, weigh=lambda _: 1 // 0))

    (mark,) = embedded(compact_now(broken, Settings())).entries

    assert isinstance(mark, MarkEntry)
    assert mark.data == {"reason": "ZeroDivisionError: integer division or modulo by zero"}
    with pytest.raises(ZeroDivisionError):
        embedded(compact_now(replace(broken, trigger="manual"), Settings()))


@requirement("context:collapse:stage-and-run")
def test_where_nobody_asks_a_model_collapse_folds_by_structure_at_its_second_line(tmp_path: Path) -> None:
    calm = ClearingSettings(time=TimeClearing(enabled=False))
    settings = with_settings(collapse=CollapseSettings(enabled=True, summary_tokens=200), clearing=calm)
    session = long_session()
    window = int(session.tokens() / 0.96 / 0.8)
    done = prepared(session, settings, window, tmp_path)

    assert {one.kind for one in done.outcome.reductions} == {"collapse"}
    assert done.scene.budget.used_tokens < done.scene.budget.collapse_stage_tokens
