from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reverie.context.snip import old_rounds, snip, snip_to
from reverie.context.stage import NOTHING
from reverie.messages.entries import Entry
from reverie.messages.rules import conform
from reverie.messages.view import ItemKind
from reverie.settings import SnipSettings
from tests.context.kit import Session, grown, long_session, resumed, spoken_texts, texts, unpaired, weigh
from tests.messages.violations import violations
from tests.requirements import requirement
from tests.strategies import conversations

ON = SnipSettings(enabled=True)


@requirement("context:snip:oldest")
def test_the_oldest_rounds_go_in_one_step_down_to_the_target() -> None:
    session = long_session()
    window = 13_500
    effective = session.scene(window).budget.effective_tokens
    assert session.tokens() > 0.85 * effective

    session.take(snip(ON)(session.view, session.scene(window)))

    assert 0.55 * effective < session.tokens() <= 0.70 * effective
    assert "function_0_1(" not in texts(session.view)
    assert "function_5_1(" in texts(session.view)
    assert snip(ON)(session.view, session.scene(window)) is NOTHING


@requirement("context:snip:oldest")
def test_a_line_says_what_was_there_and_how_to_read_it_again() -> None:
    session = long_session()
    first = session.view.items[1].uuid
    session.take(snip_to(session.view, session.scene(), session.tokens() // 2))
    fold = next(item for item in session.view.items if item.kind is ItemKind.FOLD)

    assert "read src/importer_0.py" in fold.message.text
    assert first in fold.message.text


@requirement("context:snip:oldest")
def test_below_the_trigger_and_when_switched_off_nothing_goes() -> None:
    session = long_session()

    assert snip(ON)(session.view, session.scene(200_000)) is NOTHING
    assert snip(SnipSettings())(session.view, session.scene(5_000)) is NOTHING


@requirement("context:snip:spares")
def test_a_pinned_round_stays() -> None:
    session = long_session()
    pin = session.view.items[2].uuid

    session.take(snip_to(session.view, session.scene(), 0, pinned={pin}))

    assert pin in {item.uuid for item in session.view.items}
    assert "function_0_1(" in texts(session.view)
    assert "function_1_1(" not in texts(session.view)


@requirement("context:snip:spares", "context:snip:oldest")
@given(turns=st.integers(2, 8), share=st.floats(0.3, 0.95))
def test_a_snip_takes_rounds_down_to_its_line_and_nothing_else(turns: int, share: float) -> None:
    session = Session().prompt("Be careful.", "Read").attach("instructions", "CLAUDE.md: never use tabs")
    session.attach("memory_index", "- [Tests](tests.md)").attach("date_change", "It is Monday.")
    for turn in range(turns):
        session.say(f"request {turn}").work("Read", "line of text\n" * 60, file_path=f"/w/{turn}.py").reply("seen")
    spared = [item for item in session.view.items if item.kind in (ItemKind.TYPED, ItemKind.ATTACHMENT)]
    target = int(session.tokens() * share)
    largest = max(sum(map(weigh, piece)) for piece in old_rounds(session.view.items))

    session.take(snip_to(session.view, session.scene(), target))

    assert [item for item in session.view.items if item in spared] == spared
    goes = [item for item in session.view.items[:-3] if item.kind in (ItemKind.REPLY, ItemKind.RESULT)]
    assert session.tokens() <= target or not goes
    assert session.tokens() >= target - largest


@requirement("context:snip:spares", "context:stages:laws")
@given(conversations(max_rounds=8), st.integers(0, 400))
def test_snip_keeps_the_laws(made: list[Entry], target: int) -> None:
    session = grown(made)
    before, tokens = session.view, session.tokens()
    outcome = snip_to(before, session.scene(), target)
    after = session.take(outcome)

    assert session.tokens() <= tokens
    assert unpaired(after) <= unpaired(before)
    assert not violations(conform(after.messages))
    assert [item.message.text for item in after.items if item.kind is ItemKind.TYPED] == spoken_texts(made)
    last = max(number for number, item in enumerate(before.items) if item.kind is ItemKind.REPLY)
    assert after.items[-len(before.items[last:]) :] == before.items[last:]
    assert snip_to(after, session.scene(), target) is NOTHING or session.tokens() > target
    session.entries = resumed(session.entries)
    assert session.view == after
