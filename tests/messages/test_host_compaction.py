from __future__ import annotations

import itertools
from datetime import UTC, datetime

import pytest

from reverie.context.spans import history
from reverie.messages.codec import encode_json
from reverie.messages.entries import Entry
from reverie.messages.fork import fork_lines
from reverie.messages.records import decode_line
from reverie.messages.view import ItemKind, View, project
from tests.messages.host_sessions import CASES, Case, records, uuid
from tests.requirements import requirement

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def entries(case: Case) -> list[Entry]:
    return [decode_line(encode_json(record)) for record in records(case)]


def taken_over(case: Case) -> list[Entry]:
    numbers = itertools.count()
    lines = fork_lines(
        entries(case),
        old_session="theirs",
        session="ours",
        now=datetime(2026, 11, 17, tzinfo=UTC),
        new_id=lambda: f"n{next(numbers)}",
        from_host=True,
    )
    return [decode_line(line) for line in lines]


def spoken(view: View) -> str:
    assert view.items[0].kind is ItemKind.SUMMARY
    return " ".join(item.message.text for item in view.items[1:] if item.kind is not ItemKind.ATTACHMENT)


@requirement("messages:view:kept-by-a-host")
@every_case
def test_what_a_host_kept_in_its_compaction_is_seen_as_the_host_sends_it(case: Case) -> None:
    assert spoken(project(entries(case))) == case.sends
    assert spoken(project(taken_over(case))) == case.sends


@requirement("messages:view:kept-by-a-host")
@every_case
def test_what_came_before_a_hosts_compaction_is_still_there(case: Case) -> None:
    before = project(entries(case), leaf=uuid(6))
    said = " ".join(item.message.text for item in before.items if item.kind is not ItemKind.ATTACHMENT)
    assert said == "one two three four five six"
    whole = [item.message.text for item in history(entries(case)) if item.kind is not ItemKind.ATTACHMENT]
    assert whole == said.split() + (["nine", "ten"] if case.follows else [])


@requirement("messages:fork:no-word-of-the-host")
@every_case
def test_what_a_host_says_of_itself_is_not_taken_over(case: Case) -> None:
    for leaf in (None, uuid(6)):
        shown = str(project(entries(case), leaf=leaf).messages)
        assert ("powered by" in shown) == (leaf is not None)
    taken = str([item.message for item in history(taken_over(case))])
    for stale in ("powered by", "Primary working directory", "Co-Authored-By"):
        assert stale not in taken
    assert ("the file that was attached" in taken) == (case.follows is not None)
