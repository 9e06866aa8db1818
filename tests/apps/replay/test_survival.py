"""What a compaction lost, read from the view and not from its receipt."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reverie.apps.replay.survival import Expected, lost
from reverie.context.compact import compact
from reverie.context.receipt import RECEIPT, Fate, Receipt, Sort, receipts
from reverie.messages.blocks import Json
from reverie.messages.entries import Entry, MarkEntry
from reverie.messages.message import user
from reverie.messages.view import Item, View
from tests.context.kit import Session, embedded, long_session
from tests.requirements import requirement

PLAN = "First measure, then change the importer."
ERROR = "fatal: not a git repository"
EXPECTED = {
    Sort.REQUEST: "Please never use tabs in the importer.",
    Sort.PIN: "The port of the test server is 4711.",
    Sort.PLAN: PLAN,
    Sort.TASK: "write the migration",
    Sort.DECISION: "Please never use tabs in the importer.",
    Sort.TROUBLE: ERROR,
    Sort.FILE: "/home/me/app/importer.py",
    Sort.SKILL: "release-notes",
    Sort.INSTRUCTIONS: "Always run the linter before a commit.",
}


@pytest.fixture
def session() -> Session:
    """One of each thing that must survive."""
    made = Session().prompt("You are careful.", "Read", "Bash")
    made.attach("nested_memory", EXPECTED[Sort.INSTRUCTIONS])
    made.say(EXPECTED[Sort.REQUEST]).reply(EXPECTED[Sort.PIN]).mark("pin", uuid=made.uuid())
    made.work("Read", "1\tdef parse(): ...", file_path=EXPECTED[Sort.FILE])
    made.work("Bash", ERROR, command="git status", is_error=True)
    todos: list[Json] = [
        {"content": "read it", "status": "completed"},
        {"content": EXPECTED[Sort.TASK], "status": "pending"},
    ]
    made.work("TodoWrite", "ok", todos=todos)
    made.work("ExitPlanMode", "ok", plan=PLAN)
    return made.work("Skill", "ok", skill=EXPECTED[Sort.SKILL])


def without(session: Session, text: str) -> View:
    """The view as a careless summary would leave it: everything is told but this."""
    told = "\n".join(other for other in EXPECTED.values() if other != text)
    return session.view.with_items([Item("s", session.view.items[0].kind, user(told))])


@requirement("replay:lost")
def test_the_whole_conversation_has_lost_nothing(session: Session) -> None:
    assert lost(session.entries, session.view) == ()


@requirement("replay:lost")
@pytest.mark.parametrize("sort", list(Sort))
def test_whatever_is_gone_is_named(session: Session, sort: Sort) -> None:
    gone = lost(session.entries, without(session, EXPECTED[sort]))

    assert sort in {one.sort for one in gone}
    assert {one.text for one in gone} == {EXPECTED[sort]}


@requirement("replay:lost")
def test_a_path_within_another_path_is_not_the_file(session: Session) -> None:
    view = without(session, EXPECTED[Sort.FILE])
    longer = user(view.items[0].message.text + "\n/old/home/me/app/importer.py_bak")

    (gone,) = lost(session.entries, view.with_items([replace(view.items[0], message=longer)]))

    assert gone == Expected(Sort.FILE, EXPECTED[Sort.FILE])


@requirement("replay:lost")
def test_a_receipt_cannot_vouch_for_what_it_kept_but_may_list_what_it_left_out() -> None:
    session = long_session(6)
    session.take(embedded(compact(session.case(16_000))))
    (receipt,) = receipts(session.entries)
    assert lost(session.entries, session.view) == ()
    only_receipt = session.view.with_items([])

    def claims(fate: Fate) -> list[Entry]:
        lines = tuple(replace(line, fate=fate) for line in receipt.lines)
        changed = replace(receipt, lines=lines)
        return [_with(entry, changed) for entry in session.entries]

    assert lost(claims(Fate.KEPT), only_receipt)
    assert lost(claims(Fate.OUT), only_receipt) == ()


def _with(entry: Entry, receipt: Receipt) -> Entry:
    is_receipt = isinstance(entry, MarkEntry) and entry.name == RECEIPT
    return replace(entry, data=receipt.to_json()) if isinstance(entry, MarkEntry) and is_receipt else entry
