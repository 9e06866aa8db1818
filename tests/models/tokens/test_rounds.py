from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.messages.blocks import Text, Thinking
from reverie.messages.message import Usage, assistant, user
from reverie.messages.view import Item, ItemKind, project
from reverie.models.profiles import profile
from reverie.models.tokens.estimate import weigh_block, weigh_text
from reverie.models.tokens.rates import rates_for
from reverie.models.tokens.rounds import (
    CountedRound,
    forgotten_tokens,
    newest_rounds,
    reply_tokens,
    rounds,
    tail_tokens,
)
from tests.models.tokens.sessions import WORDS, Session
from tests.requirements import requirement

SONNET = profile("claude-sonnet-4-5")
OPUS = profile("claude-opus-4-5")
RATES = rates_for(SONNET)


def reply(*blocks: Text | Thinking, output: int, message_id: str = "m") -> Item:
    return Item("r", ItemKind.REPLY, assistant(*blocks), message_id=message_id, usage=Usage(1_000, output))


def typed(text: str) -> Item:
    return Item("u", ItemKind.TYPED, user(text))


def test_a_round_is_a_reply_with_all_its_records_and_what_followed() -> None:
    session = Session().says("list").answers(Text("I look."), usage=Usage(100, 5), message_id="m")
    session.calls("t1", usage=Usage(100, 60), message_id="m").returns("t1", "a.py").answers(
        Text("One."), usage=Usage(200, 5)
    )
    first, second = rounds(project(session.entries).items)
    assert [item.uuid for item in first.reply] == ["u1", "u2"]
    assert [item.uuid for item in first.tail] == ["u3"]
    assert first.usage == Usage(100, 60)
    assert second.tail == []


def test_a_reply_without_a_reported_size_belongs_to_the_tail() -> None:
    silent = replace(reply(Text("made by the client"), output=0, message_id="x"), model="<synthetic>")
    [one] = rounds([reply(Text("hello"), output=3), silent, replace(silent, model="m", usage=None)])
    assert len(one.tail) == 2


@requirement("tokens:count:snapshots")
def test_a_believable_output_is_taken_as_reported() -> None:
    weight = weigh_text(WORDS, RATES)
    for output in (round(0.9 * weight), round(1.5 * weight)):
        assert (
            reply_tokens(CountedRound(Usage(10, output), None, [reply(Text(WORDS), output=output)]), SONNET, RATES)
            == output
        )


@requirement("tokens:count:snapshots")
@pytest.mark.parametrize("output", [0, 1, 3, 26])
def test_the_first_snapshot_of_a_stream_is_not_believed(output: int) -> None:
    one = CountedRound(Usage(10, output), None, [reply(Text(WORDS), output=output)])
    assert reply_tokens(one, SONNET, RATES) == pytest.approx(weigh_text(WORDS, RATES))


@requirement("tokens:count:forgotten-thinking")
def test_reasoning_leaves_with_its_turn_unless_the_model_keeps_it() -> None:
    thought, earlier = Thinking(WORDS), Thinking("earlier " + WORDS)
    output = round(weigh_block(thought, RATES)) + 10
    open_turn = CountedRound(Usage(10, output), None, [reply(thought, Text("Yes."), output=output)], [], (earlier,))
    ended = replace(open_turn, tail=[typed("thanks")])
    assert reply_tokens(open_turn, SONNET, RATES) == output
    assert forgotten_tokens(open_turn, SONNET, RATES) == 0
    assert reply_tokens(ended, SONNET, RATES) == pytest.approx(weigh_text("Yes.", RATES))
    assert forgotten_tokens(ended, SONNET, RATES) == pytest.approx(weigh_block(earlier, RATES))
    assert reply_tokens(ended, OPUS, RATES) == output
    assert forgotten_tokens(ended, OPUS, RATES) == 0


def test_open_reasoning_is_that_of_earlier_replies_of_the_same_turn() -> None:
    items = [
        typed("go"),
        reply(Thinking("first"), output=5, message_id="a"),
        Item("x", ItemKind.RESULT, user("result")),
        reply(Thinking("second"), output=5, message_id="b"),
        typed("next"),
        reply(Text("done"), output=5, message_id="c"),
    ]
    assert [one.open_thinking for one in rounds(items)] == [(), (Thinking("first"),), ()]


@requirement("tokens:estimate:kinds")
def test_a_tail_is_told_apart_by_kind_of_content() -> None:
    session = Session().says("go").calls("t1", usage=Usage(100, 60)).returns("t1", "plain").says("and now?")
    session.calls("t2", usage=Usage(100, 60)).returns("t2", "\x1b[31mred\x1b[0m")
    first, second = rounds(project(session.entries).items)
    assert set(tail_tokens(first, RATES)) == {"Bash", "result", "typed"}
    assert set(tail_tokens(second, RATES)) == {"terminal", "result"}


PIECES = st.sampled_from(["typed", "result", "thought", "said", "said-again", "uncounted"])


@requirement("tokens:count:newest")
@given(st.lists(PIECES, max_size=40), st.integers(1, 6))
def test_the_newest_rounds_are_the_last_of_all(pieces: list[str], many: int) -> None:
    items: list[Item] = []
    for number, piece in enumerate(pieces):
        blocks = (Thinking(f"hm {number}"),) if piece == "thought" else (Text(f"text {number}"),)
        match piece:
            case "typed":
                item = Item(f"{number}", ItemKind.TYPED, user(*blocks))
            case "result":
                item = Item(f"{number}", ItemKind.RESULT, user(*blocks))
            case "uncounted":
                item = Item(f"{number}", ItemKind.REPLY, assistant(*blocks), message_id=f"m{number}")
            case _:
                before = items[-1].message_id if items and piece == "said-again" else None
                item = replace(reply(*blocks, output=number, message_id=before or f"m{number}"), uuid=f"{number}")
        items.append(item)
    assert newest_rounds(items, many)[-many:] == rounds(items)[-many:]
