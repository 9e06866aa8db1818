"""The model that follows a script."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from reverie.errors import Overloaded
from reverie.messages.blocks import Thinking
from reverie.messages.message import assistant
from reverie.models.ports import Finished, Request, TextDelta
from reverie.testing.build import reply, request, tool_call
from reverie.testing.model_contract import ModelContract, Outcome, Says
from reverie.testing.scripted_model import ScriptedModel, Step
from tests.requirements import requirement


def step(outcome: Outcome) -> Step:
    if not isinstance(outcome, Says):
        return outcome.error("as the script says")
    calls = [tool_call(name, id=f"call_{n}", **given) for n, (name, given) in enumerate(outcome.calls)]
    thinking = [Thinking(outcome.thinking, "signed")] if outcome.thinking else []
    return assistant(*thinking, *([outcome.text] if outcome.text else []), *calls)


@requirement("models:port:contract")
class TestTheScriptedModelKeepsTheContract(ModelContract):
    tries_again = False

    @asynccontextmanager
    async def open_model(self, *outcomes: Outcome) -> AsyncIterator[ScriptedModel]:
        yield ScriptedModel([step(outcome) for outcome in outcomes])


async def play(model: ScriptedModel, asked: Request) -> str:
    *_, last = [event async for event in model.stream(asked)]
    assert isinstance(last, Finished)
    return last.reply.text


@requirement("testing:scripted-model")
async def test_steps_are_played_in_order_and_requests_are_kept() -> None:
    model = ScriptedModel(["one", reply("two"), lambda asked: f"you said {asked.messages[-1].text}"])

    assert [await play(model, request(word)) for word in "abc"] == ["one", "two", "you said c"]
    assert [asked.messages[-1].text for asked in model.requests] == ["a", "b", "c"]


@requirement("testing:scripted-model")
async def test_a_step_may_fail_and_a_script_may_end() -> None:
    model = ScriptedModel([Overloaded("busy")])
    with pytest.raises(Overloaded):
        await play(model, request())
    with pytest.raises(AssertionError, match="1 steps"):
        await play(model, request())


@requirement("testing:scripted-model")
async def test_events_may_be_given_as_they_are() -> None:
    model = ScriptedModel([(TextDelta("cut"),)])

    assert [event async for event in model.stream(request())] == [TextDelta("cut")]
