from __future__ import annotations

from datetime import UTC, datetime
from itertools import count

from reverie.context.compact import compact
from reverie.context.conversation import Conversation
from reverie.context.replacement import Case
from reverie.context.spans import PIN, list_pinned, uncompact
from reverie.context.stage import StageContext
from reverie.messages.entries import MarkEntry
from reverie.messages.view import project
from reverie.settings import CompactionSettings
from tests.context.kit import embedded, long_session, weigh
from tests.requirements import requirement

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def running() -> Conversation:
    numbers = count(1)
    entries = long_session(20).entries
    return Conversation(session="s1", now=lambda: NOW, new_id=lambda: f"new-{next(numbers)}", entries=entries)


def case_of(log: Conversation, scene: StageContext) -> Case:
    return Case(log.view, tuple(log.entries), scene, CompactionSettings())


@requirement("agent:flow:thread")
def test_entries_made_aside_are_those_that_would_have_been_made_here() -> None:
    one, other = running(), running()
    here = long_session(20).scene(20_000)
    aside = one.aside()
    made_aside = embedded(compact(case_of(one, StageContext(here.budget, NOW, aside.envelope, weigh))))
    made_here = embedded(compact(case_of(other, StageContext(here.budget, NOW, other.envelope, weigh))))
    one.take(aside, made_aside.entries)
    other.append(*made_here.entries)

    assert made_aside == made_here
    assert (one.entries, one.leaf, one.view) == (other.entries, other.leaf, other.view)


@requirement("agent:flow:thread")
def test_what_was_added_while_a_compaction_was_made_stays_on_the_chain() -> None:
    log = running()
    before = log.view
    pin = before.items[3].uuid
    aside = log.aside()
    scene = StageContext(long_session(20).scene(20_000).budget, NOW, aside.envelope, weigh)
    outcome = embedded(compact(case_of(log, scene)))
    log.append(MarkEntry(log.envelope(), PIN, {"uuid": pin}))
    log.take(aside, outcome.entries)

    assert list_pinned(log.chain()) == (pin,)
    assert project(log.entries, log.leaf) == log.view
    assert project(log.entries, uncompact(log.entries).leaf).items == before.items


@requirement("agent:flow:thread")
def test_a_mark_made_aside_hangs_where_the_conversation_has_gone_on() -> None:
    log = running()
    aside = log.aside()
    late = MarkEntry(aside.envelope(), "late", {})
    log.append(MarkEntry(log.envelope(), PIN, {"uuid": "x"}))
    log.take(aside, (late,))

    assert [entry.name for entry in log.chain() if isinstance(entry, MarkEntry)] == [PIN, "late"]
    assert log.leaf == late.envelope.uuid
