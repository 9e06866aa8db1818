from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.context.compact import compact
from reverie.context.spans import PIN, UNPIN, chain, history, list_pinned, read_span, short_ids, uncompact
from reverie.errors import UserMistake
from reverie.messages.entries import AssistantEntry, BoundaryEntry, UserEntry
from reverie.messages.message import assistant, user
from reverie.messages.view import project
from tests.context.kit import Session, embedded, long_session, resumed, spoken_texts, weigh
from tests.requirements import requirement


def size(text: str) -> int:
    return len(text) // 3


def compacted(session: Session, window: int = 20_000) -> Session:
    outcome = embedded(compact(session.case(window)))
    assert outcome.entries
    session.take(outcome)
    return session


@requirement("context:undo")
def test_uncompact_restores_the_exact_view() -> None:
    session = long_session()
    before = session.view

    compacted(session)

    assert session.view != before
    assert project(session.entries, uncompact(session.entries).leaf) == before


@requirement("context:undo")
def test_any_boundary_can_be_undone_also_an_older_one() -> None:
    session = long_session()
    first = session.view
    compacted(session)
    boundary = next(entry.envelope.uuid for entry in session.entries if isinstance(entry, BoundaryEntry))
    session.say("go on with the next importer").reply("fine " * 4_000)
    second = session.view
    compacted(session)

    assert project(session.entries, uncompact(session.entries).leaf) == second
    assert project(session.entries, uncompact(session.entries, boundary[:8]).leaf) == first


@requirement("context:undo")
def test_what_is_said_after_an_undo_continues_the_old_view() -> None:
    session = long_session()
    before = session.view
    compacted(session)

    session.leaf = uncompact(session.entries).leaf
    session.say("and one more thing")

    assert session.view.items[:-1] == before.items
    assert session.view.items[-1].message.text == "and one more thing"


@requirement("context:undo")
def test_what_was_said_since_a_compaction_follows_it_when_it_is_undone() -> None:
    session = long_session()
    before = session.view
    compacted(session)
    session.say("and then the exporter").work("Read", "text of the exporter", file_path="/w/exporter.py").reply("done")
    since = [item.message for item in session.view.items][-4:]

    undone = uncompact(session.entries)
    session.leaf = undone.leaf
    for entry in undone.again(session.envelope):
        session.add(entry)

    assert session.view.items[:-4] == before.items
    assert [item.message for item in session.view.items][-4:] == since
    assert project(resumed(session.entries)) == session.view


@requirement("context:undo")
def test_without_a_compaction_there_is_nothing_to_undo() -> None:
    with pytest.raises(UserMistake, match="no compaction"):
        uncompact(Session().say("hello").entries)
    with pytest.raises(UserMistake, match="'beef'"):
        uncompact(compacted(long_session()).entries, "beef")


@requirement("context:spans")
def test_history_is_what_was_said_through_all_compactions() -> None:
    session = long_session()
    said = session.view.items
    compacted(session)
    session.say("next").reply("done " * 1500)
    compacted(session)

    assert history(session.entries)[: len(said)] == said
    assert [item.message.text for item in history(session.entries)].count("next") == 1
    assert len(chain(session.entries)) == len(session.entries)


@requirement("context:spans")
def test_a_reply_on_both_sides_of_a_compaction_hides_nothing_that_came_before() -> None:
    session = long_session().reply("The first record of a reply.")
    written = session.entries[-1]
    compacted(session)
    assert isinstance(written, AssistantEntry)
    session.add(AssistantEntry(session.envelope(), assistant("Its second record."), written.message_id))
    session.say("next").reply("done " * 1500)
    compacted(session)

    assert len(chain(session.entries)) == len(session.entries)


@requirement("context:spans")
def test_what_came_before_a_kept_tail_of_another_writer_is_history_too() -> None:
    session = Session().say("old").reply("older answer").say("kept question").reply("kept answer")
    tail, kept = session.leaf, (session.uuid(2), session.uuid(3))
    boundary, summary = session.envelope(), session.envelope()
    root = replace(boundary, parent=None, logical_parent=tail)
    session.add(BoundaryEntry(root, "manual", kept=kept, anchor=summary.uuid, relinks=True))
    session.add(UserEntry(summary, user("summary"), is_summary=True))
    session.leaf = tail
    session.say("after")

    assert [item.message.text for item in session.view.items][1:] == ["kept question", "kept answer", "after"]
    said = [item.message.text for item in history(session.entries)]
    assert said == ["old", "older answer", "kept question", "kept answer", "after"]


@requirement("context:spans")
def test_a_span_is_read_again_by_shortened_ids() -> None:
    session = long_session()
    first, last = session.view.items[0].uuid, session.view.items[3].uuid
    compacted(session)

    span = read_span(session.entries, weigh=size, first=first[:8], last=last[:8], limit_tokens=10_000)

    assert (span.first, span.last, span.items, span.next_offset_chars) == (first, last, 4, None)
    assert "importer number 0" in span.text
    assert "function_0_59" in span.text


@requirement("context:spans")
def test_an_id_that_fits_several_messages_brings_them_all() -> None:
    session = long_session(2)

    span = read_span(session.entries, weigh=size, first="0000000", limit_tokens=10_000)

    assert span.items == 15 - 1
    assert (span.first, span.last) == (session.uuid(1), session.uuid(14))


@requirement("context:spans")
def test_a_long_span_is_read_in_pieces_that_join() -> None:
    session = compacted(long_session())
    first, last = history(session.entries)[0].uuid, history(session.entries)[-1].uuid
    whole = read_span(session.entries, weigh=size, first=first, last=last, limit_tokens=10**6).text

    text, offset = "", 0
    while True:
        piece = read_span(
            session.entries, weigh=size, first=first, last=last, limit_tokens=500, offset_chars=offset
        )  # fmt: skip
        assert size(piece.text) <= 500
        text += piece.text
        if piece.next_offset_chars is None:
            break
        offset = piece.next_offset_chars

    assert text == whole


@requirement("context:spans")
def test_a_subject_brings_the_calls_about_it_with_their_results_newest_first() -> None:
    session = long_session()
    session.work("Read", "0\tsecond reading", file_path="src/importer_1.py").reply("seen")
    compacted(session)

    span = read_span(session.entries, weigh=size, subject="src/importer_1.py", limit_tokens=4_000)

    assert span.text.index("second reading") < span.text.index("function_1_3")
    assert "function_2_3" not in span.text


@requirement("context:spans")
def test_an_unknown_id_is_named() -> None:
    with pytest.raises(UserMistake, match="'nothing'"):
        read_span(long_session(1).entries, weigh=size, first="nothing")
    with pytest.raises(UserMistake, match="subject"):
        read_span(long_session(1).entries, weigh=size)


@requirement("context:survive:list")
def test_a_pin_holds_until_it_is_taken_back() -> None:
    session = Session().say("a").reply("b")
    session.mark(PIN, uuid="x").mark(PIN, uuid="y").mark(UNPIN, uuid="x").mark(PIN)

    assert list_pinned(session.entries) == ("y",)


@given(st.sets(st.text("ab01-", min_size=1, max_size=12), max_size=20))
def test_short_ids_are_beginnings_that_no_other_id_shares(ids: set[str]) -> None:
    short = short_ids(ids)

    for uuid, beginning in short.items():
        assert uuid.startswith(beginning)
        others = [other for other in ids if other != uuid and other.startswith(beginning)]
        assert not others or beginning == uuid


def test_the_kit_weighs_what_it_says() -> None:
    assert weigh(Session().say("hello there").view.items[0]) > 0
    assert spoken_texts(Session().say("hello there").entries) == ["hello there"]
