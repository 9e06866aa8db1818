"""The model without a network."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from reverie.messages.blocks import Text
from reverie.messages.message import Usage
from reverie.models.offline import OfflineModel
from reverie.models.ports import BlockDone, Finished, Reply, Request, TextDelta
from reverie.testing.build import request
from reverie.testing.model_contract import ModelContract, Outcome
from tests.requirements import requirement


async def reply_to(asked: Request) -> Reply:
    *_, last = [event async for event in OfflineModel().stream(asked)]
    assert isinstance(last, Finished)
    return last.reply


@requirement("models:port:contract")
class TestTheEmbeddedEngineKeepsTheContract(ModelContract):
    can_think = False
    can_call_tools = False
    can_fail = False
    tries_again = False

    @asynccontextmanager
    async def open_model(self, *_: Outcome) -> AsyncIterator[OfflineModel]:
        yield OfflineModel()


@requirement("models:offline:embedded")
async def test_the_systems_own_questions_are_answered_by_what_they_bring() -> None:
    asked = request("Sum it up.", purpose="summary", embedded=lambda: "it went well")
    events = [event async for event in OfflineModel().stream(asked)]

    assert events[:2] == [TextDelta("it went well"), BlockDone(Text("it went well"))]
    assert (await reply_to(asked)).usage == Usage()


@requirement("models:offline:embedded")
async def test_an_embedded_answer_is_found_only_when_it_is_asked_for() -> None:
    asked: list[str] = []

    def embedded() -> str:
        asked.append("once")
        return "yes"

    stream = OfflineModel().stream(request(embedded=embedded))
    assert asked == []
    [event async for event in stream]
    assert asked == ["once"]


@requirement("models:offline:honest")
async def test_free_talk_is_refused_with_what_works_and_what_to_do() -> None:
    reply = await reply_to(request("Write me a parser."))

    first, second, third = reply.text.splitlines()
    assert "No model" in first
    assert "ANTHROPIC_API_KEY" in second
    assert "recall" in third
    assert reply.stop_reason == "end_turn"
    assert reply == await reply_to(request("Something else."))
