"""Compaction on real sessions: the laws hold there too, in small and large windows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reverie.apps.replay.survival import lost
from reverie.context.compact import compact
from reverie.context.receipt import Fate, Sort, receipts
from reverie.context.spans import chain, read_span, uncompact
from reverie.context.survive import divide, must_survive
from reverie.messages.entries import AssistantEntry, AttachmentEntry, Entry, UserEntry
from reverie.messages.listing import is_prompt
from reverie.messages.rules import conform
from reverie.messages.transcript import read_entries
from reverie.messages.view import project
from reverie.settings import CompactionSettings
from tests.context.kit import Session, embedded, resumed, texts, weigh
from tests.messages.violations import violations
from tests.requirements import requirement

SESSION = "transcripts/episodic-memory/long-conversation.jsonl"


@requirement("context:compact:laws", "context:survive:list", "context:spans")
@pytest.mark.parametrize("window", [4_000, 30_000])
def test_a_real_session_is_compacted_without_silent_loss(window: int, shared_data: Path) -> None:
    path = shared_data / SESSION
    if not path.exists():
        pytest.skip("this recording is not here")
    spoken = UserEntry | AssistantEntry | AttachmentEntry
    said: list[Entry] = [entry for entry in read_entries(path) if isinstance(entry, spoken)]
    session = Session(said[: len(said) // 2], project(said[: len(said) // 2]).leaf, count=0x1000)
    before, tokens = session.view, session.tokens()
    outcome = embedded(compact(session.case(window)))
    view = session.take(outcome)

    assert session.tokens() < min(tokens, session.scene(window).budget.compact_at_tokens)
    assert not violations(conform(view.messages))
    assert project(resumed(session.entries)) == view
    assert project(session.entries, uncompact(session.entries).leaf).items == before.items
    (receipt,) = receipts(session.entries)
    must = must_survive(session.entries)
    _, missing = divide(must, view.items)
    listed = {(line.sort, line.pointer) for line in receipt.of(Fate.PART, Fate.OUT)}
    assert {(one.sort, one.pointer) for one in missing} <= listed
    shown = texts(view)
    for request in must.facts.requests:
        assert request.text in shown or (Sort.REQUEST, request.uuid) in listed
        again = read_span(session.entries, weigh=lambda text: len(text) // 3, first=request.uuid, limit_tokens=10**6)
        assert request.text in again.text
    seen = next(item for item in view.items if item.label == "receipt") if window > 10_000 else None
    assert seen is None or weigh(seen) <= session.scene(window).budget.effective_tokens * 0.01


@requirement("context:survive:ten-times")
def test_ten_compactions_of_a_real_session_lose_no_message_and_no_pin(shared_data: Path) -> None:
    path = shared_data / SESSION
    if not path.exists():
        pytest.skip("this recording is not here")
    window = 20_000
    kinds = UserEntry | AssistantEntry | AttachmentEntry
    said = [entry for entry in chain(read_entries(path)) if isinstance(entry, kinds)]
    session = Session(count=0x1000)
    session.say("The very first wish: never use tabs.").reply("The secret number is 4711.")
    session.mark("pin", uuid=session.uuid())
    sizes: list[int] = []
    for turn in range(10):
        for entry in said[turn * len(said) // 10 : (turn + 1) * len(said) // 10]:
            envelope = replace(entry.envelope, parent=session.leaf, is_sidechain=False)
            session.leaf = envelope.uuid
            session.add(replace(entry, envelope=envelope))
        session.take(embedded(compact(session.case(window))))
        sizes += [weigh(item) for item in session.view.items if item.label == "receipt"]

    assert len(receipts(session.entries)) == len(sizes) == 10
    assert lost(session.entries, session.view) == ()
    assert "The secret number is 4711." in texts(session.view)
    assert len([entry for entry in session.entries if is_prompt(entry)]) > 10
    assert max(sizes) <= session.scene(window).budget.effective_tokens * CompactionSettings().receipt_fraction
    assert session.tokens() < session.scene(window).budget.compact_at_tokens
