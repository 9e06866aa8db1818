"""Listening to a model until it has answered."""

from __future__ import annotations

import pytest

from reverie.errors import Overloaded
from reverie.models.answer import answer
from reverie.models.ports import Event, Finished, TextDelta
from reverie.testing.build import request
from reverie.testing.scripted_model import ScriptedModel
from tests.requirements import requirement


@requirement("models:port:answer")
async def test_the_reply_comes_back_and_every_event_was_heard() -> None:
    heard: list[Event] = []
    reply = await answer(ScriptedModel(["two words"]), request(), heard.append)

    assert reply.text == "two words"
    assert heard[:2] == [TextDelta("two "), TextDelta("words")]
    assert heard[-1] == Finished(reply)


@requirement("models:port:answer")
async def test_a_failure_passes_through() -> None:
    with pytest.raises(Overloaded):
        await answer(ScriptedModel([Overloaded("busy")]), request())


@requirement("models:port:answer")
async def test_a_listener_that_fails_ends_the_stream() -> None:
    def fall(event: Event) -> None:
        raise ZeroDivisionError

    model = ScriptedModel(["one", "two"])
    with pytest.raises(ZeroDivisionError):
        await answer(model, request(), fall)

    assert (await answer(model, request())).text == "two"
