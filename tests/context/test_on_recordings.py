"""Compaction on real sessions: the laws hold there too, in small and large windows."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.context.compact import compact
from reverie.context.receipt import Fate, Sort, receipts
from reverie.context.spans import read_span, uncompact
from reverie.context.survive import divide, must_survive
from reverie.messages.entries import AssistantEntry, AttachmentEntry, Entry, UserEntry
from reverie.messages.rules import conform, violations
from reverie.messages.transcript import read_entries
from reverie.messages.view import project
from tests.context.kit import Session, embedded, resumed, texts, weigh
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
    assert project(session.entries, uncompact(session.entries)).items == before.items
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
