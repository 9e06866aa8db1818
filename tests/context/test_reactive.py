from __future__ import annotations

from dataclasses import replace

import pytest

from reverie.context.collapse import collapse_stage
from reverie.context.reactive import FIRST, Attempts, Release, Rescue, SendAgain, rescue, strip_media
from reverie.context.stage import NOTHING
from reverie.errors import ContextTooLong, MediaTooLarge, Overloaded, Unavailable
from reverie.messages.blocks import DocumentBlock, Image
from reverie.messages.entries import BoundaryEntry, CollapseEntry
from reverie.messages.view import ItemKind
from reverie.models.ports import Flow
from reverie.settings import CollapseSettings, CompactionSettings, Settings
from reverie.testing.build import picture, tool_result
from tests.context.kit import Session, ask, embedded, long_session, resumed, texts, with_settings
from tests.requirements import requirement

TOO_LONG = ContextTooLong("too long", used_tokens=210_000, limit_tokens=200_000)
COLLAPSING = with_settings(collapse=CollapseSettings(enabled=True, summary_tokens=200))


def saved(
    session: Session, settings: Settings, error: Unavailable, attempts: Attempts = FIRST, window: int = 16_000
) -> Rescue:
    return embedded(rescue(session.case(window), settings, error, attempts))


@requirement("context:reactive:order")
def test_a_refusal_is_answered_by_a_compaction_and_a_second_one_without_paying() -> None:
    session = long_session()
    flow = rescue(session.case(16_000), Settings(), TOO_LONG)
    assert ask(flow).purpose == "summary"
    flow.close()
    first = saved(session, Settings(), TOO_LONG)

    assert isinstance(first, SendAgain)
    assert isinstance(first.outcome.entries[0], BoundaryEntry)
    session.take(first.outcome)
    session.say("Go on, please. " * 20).work("Bash", "more output " * 500)
    second = concluded_unasked(rescue(session.case(16_000), Settings(), TOO_LONG, first.attempts))
    assert isinstance(second, SendAgain)
    session.take(second.outcome)
    assert saved(session, Settings(), TOO_LONG, second.attempts) == Release(TOO_LONG)


def concluded_unasked(flow: Flow[Rescue]) -> Rescue:
    """The end of a flow that asks nobody."""
    with pytest.raises(StopIteration) as end:
        next(flow)
    found: Rescue = end.value.value
    return found


@requirement("context:reactive:order")
def test_staged_folds_go_first_then_the_compaction_then_the_error() -> None:
    session = long_session()
    stage = collapse_stage(COLLAPSING.collapse)
    session.take(stage(session.view, session.scene(int(session.tokens() / 0.93 / 0.8))))
    steps: list[str] = []
    attempts = FIRST
    while True:
        step = saved(session, COLLAPSING, TOO_LONG, attempts)
        if isinstance(step, Release):
            break
        attempts = step.attempts
        steps.append(type(step.outcome.entries[0]).__name__)
        session.take(step.outcome)

    assert steps[:2] == ["CollapseEntry", "BoundaryEntry"]
    assert len(steps) <= 3
    assert step.error is TOO_LONG


@requirement("context:reactive:order")
def test_what_is_switched_off_is_not_tried() -> None:
    session = long_session()

    for compaction in (CompactionSettings(reactive=False), CompactionSettings(enabled=False)):
        assert saved(session, with_settings(compaction=compaction), TOO_LONG) == Release(TOO_LONG)
    unpaid = with_settings(compaction=CompactionSettings(reactive_attempts=0))
    assert isinstance(concluded_unasked(rescue(session.case(16_000), unpaid, TOO_LONG)), SendAgain)


@requirement("context:reactive:order")
def test_another_error_is_not_withheld() -> None:
    error = Overloaded("busy")

    assert saved(long_session(), Settings(), error) == Release(error)


@requirement("context:reactive:order")
def test_a_conversation_that_cannot_shrink_releases_the_error() -> None:
    assert saved(Session().say("hi"), Settings(), TOO_LONG) == Release(TOO_LONG)


@requirement("context:reactive:order")
def test_the_result_fits_where_the_provider_counts_twice_as_much() -> None:
    session = long_session(10)
    tokens = session.tokens()
    error = ContextTooLong("too long", used_tokens=tokens * 2, limit_tokens=20_000)
    step = saved(session, Settings(), error, window=40_000)
    assert isinstance(step, SendAgain)
    session.take(step.outcome)

    assert session.tokens() * 2 < 20_000


@requirement("context:reactive:order", "context:compact:too-long")
def test_the_summary_request_leaves_out_the_tail_and_then_the_oldest_rounds() -> None:
    session = long_session()
    flow = rescue(session.case(16_000), Settings(), TOO_LONG)
    first = ask(flow)
    second = flow.throw(ContextTooLong("too long"))

    assert len(first.context) < len(session.view.items)
    assert 1 < len(second.context) < len(first.context)
    assert first.context[1 - len(second.context) :] == second.context[1:]
    flow.close()


@requirement("context:reactive:media")
def test_media_become_a_word_and_the_text_stays() -> None:
    session = Session().say("What is on this picture of the dialog?", picture()).reply("Let me read the file too.")
    session.call("Read", file_path="b.png").say(tool_result("call_1", "size 3x3", picture())).reply("seen")
    error = MediaTooLarge("image exceeds 5 MB")
    step = saved(session, Settings(), error)
    assert isinstance(step, SendAgain)
    session.take(step.outcome)

    blocks = [block for item in session.view.items for block in item.message.content]
    assert not any(isinstance(block, Image | DocumentBlock) for block in blocks)
    assert "What is on this picture of the dialog?\n[image]" in texts(session.view)
    assert "size 3x3\n[image]" in texts(session.view)
    seen = session.view
    session.entries = resumed(session.entries)
    assert session.view == seen
    assert saved(session, Settings(), error, step.attempts) == Release(error)


@requirement("context:reactive:media")
def test_only_what_is_too_large_is_stripped_when_something_is() -> None:
    huge = Image({"type": "base64", "media_type": "image/png", "data": "A" * (5 * 1024 * 1024 + 1)})
    session = Session().say("small", picture()).reply("ok").say("huge", huge).reply("ok")
    outcome = strip_media(session.case())

    assert [type(entry) for entry in outcome.entries] == [CollapseEntry]
    session.take(outcome)
    assert [item.kind for item in session.view.items] == [ItemKind.TYPED, ItemKind.REPLY, ItemKind.FOLD, ItemKind.REPLY]


@requirement("context:reactive:media")
def test_without_media_there_is_nothing_to_strip() -> None:
    error = MediaTooLarge("too large")

    assert strip_media(long_session(1).case()) is NOTHING
    assert saved(long_session(1), Settings(), error) == Release(error)
    assert replace(FIRST, stripped=True) != FIRST
