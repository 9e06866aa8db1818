from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.context.compact import compact
from reverie.context.notes_compaction import Declined, NotesRefusal, compact_by_notes, find_kept_start
from reverie.context.restore import InvokedSkill, RestoreContext
from reverie.context.session_notes import NotesCursor, NotesFile, build_notes_outcome, find_covered
from reverie.context.stage import StageOutcome
from reverie.messages.entries import BoundaryEntry, Entry, NotesEntry
from reverie.messages.rules import conform, legal_cuts
from reverie.messages.view import ItemKind
from reverie.settings import CompactionSettings, NotesSettings, Settings
from tests.context.kit import (
    Session,
    embedded,
    grown,
    long_session,
    resumed,
    texts,
    unpaired,
    with_notes,
    with_settings,
)
from tests.messages.violations import violations
from tests.requirements import requirement
from tests.strategies import conversations

PATH = Path("/home/user/notes/summary.md")
WINDOW = 16_000


def declined(session: Session, file: NotesFile, settings: Settings | None = None, window: int = WINDOW) -> NotesRefusal:
    settings = settings or Settings()
    result = compact_by_notes(session.case(window, settings=settings.compaction), settings, file)
    assert isinstance(result, Declined)
    return result.reason


@requirement("context:notes:declines")
@pytest.mark.parametrize(
    "settings",
    [with_settings(notes=NotesSettings(enabled=False)), with_settings(compaction=CompactionSettings(from_notes=False))],
)
def test_it_declines_when_either_switch_is_off(settings: Settings) -> None:
    session = long_session()

    assert declined(session, with_notes(session, PATH), settings) is NotesRefusal.OFF


@requirement("context:notes:declines")
def test_it_declines_without_a_file_and_with_an_empty_template() -> None:
    session = long_session()

    assert declined(session, NotesFile(PATH)) is NotesRefusal.NO_FILE
    assert declined(session, NotesFile(PATH, NotesFile(PATH).frame + "\n\n")) is NotesRefusal.BLANK


@requirement("context:notes:declines")
def test_it_declines_when_the_cursor_was_never_set_or_is_not_in_the_history() -> None:
    never = long_session()
    file = NotesFile(PATH, "# Current State\nsomething")
    assert declined(never, file) is NotesRefusal.NO_CURSOR

    lost = long_session()
    lost.add(NotesEntry(lost.envelope(), "a-message-of-another-session", 10))
    assert declined(lost, file) is NotesRefusal.NO_CURSOR


@requirement("context:notes:declines")
def test_it_declines_when_a_full_compaction_lies_between_the_notes_and_now() -> None:
    session = long_session()
    file = with_notes(session, PATH)
    session.say("next").reply("answer " * 1_500)
    session.take(embedded(compact(session.case(WINDOW))))
    session.reply("more " * 2_000)

    assert declined(session, file) is NotesRefusal.NO_CURSOR


@requirement("context:notes:declines")
def test_it_declines_when_the_result_would_still_be_too_large() -> None:
    session = long_session()
    file = with_notes(session, PATH)
    session.say("a large task")
    for number in range(12):
        session.work("Bash", f"{number} out put " * 400, command="make")

    assert declined(session, file) is NotesRefusal.TOO_LARGE


@requirement("context:notes:declines")
def test_it_declines_when_anything_goes_wrong() -> None:
    session = long_session()
    file = with_notes(session, PATH)
    case = session.case(WINDOW)

    def broken(_: object) -> int:
        raise OSError("the scale is broken")

    result = compact_by_notes(replace(case, scene=replace(case.scene, weigh=broken)), Settings(), file)

    assert result == Declined(NotesRefusal.FAILED)


@requirement("context:notes:tail")
def test_notes_become_the_summary_and_what_they_do_not_cover_stays() -> None:
    session = long_session()
    file = with_notes(session, PATH)
    session.say("Now the exporter.").work("Read", "0\texport()", file_path="src/exporter.py")
    before = session.view
    result = compact_by_notes(session.case(WINDOW), Settings(), file)
    assert isinstance(result, StageOutcome)
    tokens = session.tokens()
    session.take(result)
    view = session.view

    assert session.tokens() < tokens
    assert view.items[0].kind is ItemKind.SUMMARY
    assert "# Current State" in view.items[0].message.text
    tail = [item for item in view.items if item.uuid in {one.uuid for one in before.items}]
    assert tuple(tail) == before.items[-len(tail) :]
    assert len(tail) >= 3
    assert not violations(view.messages)
    boundary = next(entry for entry in result.entries if isinstance(entry, BoundaryEntry))
    assert boundary.kept == tuple(item.uuid for item in tail)
    session.entries = resumed(session.entries)
    assert session.view == view


@requirement("context:notes:tail", "context:restore:budgets")
def test_skills_files_and_tasks_return_on_this_path_too() -> None:
    session = long_session(lines=90)
    session.work("TodoWrite", "ok", todos=[{"content": "write the changelog", "status": "pending"}]).reply("noted")
    file = with_notes(session, PATH)
    around = RestoreContext(skills=(InvokedSkill("release", "Always tag the commit."),), plan="First the parser.")
    short = CompactionSettings(keep_min_tokens=200, keep_min_text_messages=1)
    result = compact_by_notes(session.case(60_000, around=around, settings=short), Settings(), file)
    assert isinstance(result, StageOutcome)
    session.take(result)

    for word in ("Always tag the commit.", "First the parser.", "write the changelog", "function_4_3("):
        assert word in texts(session.view), word


@requirement("context:notes:tail")
def test_the_tail_grows_to_its_least_size_and_stops_at_its_most() -> None:
    session = long_session(8)
    case = session.case(1_000_000)
    items = case.view.items
    everything = len(items)

    def kept(least: int, texts_: int, most: int) -> tuple[int, int]:
        settings = CompactionSettings(keep_min_tokens=least, keep_min_text_messages=texts_, keep_max_tokens=most)
        start = find_kept_start(items, everything, replace(case, settings=settings))
        assert start in legal_cuts(items)
        return case.weight(items[start:]), sum(bool(item.message.text.strip()) for item in items[start:])

    tokens, messages = kept(2_000, 0, 40_000)
    assert 2_000 <= tokens < 4_500
    tokens, messages = kept(0, 9, 40_000)
    assert messages >= 9
    tokens, messages = kept(10_000, 5, 1_000)
    assert tokens <= 1_000 + 2_000


@requirement("context:notes:tail")
def test_a_second_compaction_by_the_same_notes_keeps_all_that_came_since() -> None:
    session = long_session()
    file = with_notes(session, PATH)
    first = compact_by_notes(session.case(WINDOW), Settings(), file)
    assert isinstance(first, StageOutcome)
    session.take(first)
    session.say("the next task").work("Read", "0\tnew()" * 300, file_path="src/new.py").reply("read " * 300)
    second = compact_by_notes(session.case(WINDOW), Settings(), file)

    if isinstance(second, StageOutcome):
        session.take(second)
        assert "the next task" in texts(session.view)
        assert "read read" in texts(session.view)
    else:
        assert second.reason is NotesRefusal.TOO_LARGE


@requirement("context:compact:laws", "context:notes:tail")
@given(conversations(max_rounds=8), st.integers(1_500, 20_000), st.data())
def test_notes_compaction_keeps_the_laws(made: list[Entry], window: int, data: st.DataObject) -> None:
    session = grown(made)
    upto = data.draw(st.integers(1, len(made)))
    early = grown(made[:upto])
    session.entries = list(early.entries)
    session.leaf = early.leaf
    reached = find_covered(session.view, NotesCursor())
    session.take(build_notes_outcome("# Current State\nnotes", reached, 0, "", session.scene(), NotesFile(PATH)))
    whole = grown(made)
    covers = [entry for entry in session.entries if isinstance(entry, NotesEntry)][-1]
    whole.entries.append(replace(covers, envelope=replace(whole.envelope(), parent=whole.view.leaf)))
    before, tokens = whole.view, whole.tokens()
    result = compact_by_notes(whole.case(window), Settings(), NotesFile(PATH, "# Current State\nnotes"))
    if isinstance(result, Declined):
        assert result.reason in (NotesRefusal.NO_CURSOR, NotesRefusal.TOO_LARGE)
        return
    view = whole.take(result)

    assert whole.tokens() < tokens
    assert unpaired(view) <= unpaired(before)
    assert not violations(conform(view.messages))
    whole.entries = resumed(whole.entries)
    assert whole.view == view
