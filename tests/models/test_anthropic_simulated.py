"""The adapter for the Messages API against our own simulator: the contract, the cache, the server's own compaction."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from reverie.errors import (
    BadRequest,
    ContextTooLong,
    Interrupted,
    MediaTooLarge,
    Overloaded,
    RateLimited,
    Unauthenticated,
    Unavailable,
)
from reverie.messages.blocks import CompactionBlock, JsonObject
from reverie.messages.message import assistant, user
from reverie.models.anthropic import AnthropicModel
from reverie.models.ports import CacheMark, Finished, Reply, Request
from reverie.testing.build import request, system, tool
from reverie.testing.clock import SettableClock
from reverie.testing.model_contract import ModelContract, Outcome, Says
from reverie.testing.simulator import RunningSimulator, simulator
from reverie_simulator.script import Fault, ScriptAction, ToolCall, in_order
from tests.requirements import requirement

FAULTS: dict[type[Unavailable], Fault] = {
    ContextTooLong: Fault("prompt_too_long"),
    MediaTooLarge: Fault("too_large"),
    RateLimited: Fault("rate_limit", retry_after_seconds=2),
    Overloaded: Fault("overloaded"),
    Unauthenticated: Fault("authentication"),
    BadRequest: Fault("invalid"),
    Interrupted: Fault("drop", after_events=3),
}


def action(outcome: Outcome) -> ScriptAction:
    if not isinstance(outcome, Says):
        return ScriptAction(fault=FAULTS[outcome.error])
    calls = tuple(ToolCall(name, dict(given)) for name, given in outcome.calls)
    return ScriptAction(text=outcome.text, thinking=outcome.thinking or None, tool_calls=calls)


def model_at(sim: RunningSimulator) -> AnthropicModel:
    return AnthropicModel(
        "claude-sonnet-4-5", key=sim.api_key, base_url=sim.base_url, sleep=SettableClock().sleep, random=lambda: 0.5
    )


async def reply_of(sim: RunningSimulator, asked: Request) -> Reply:
    *_, last = [event async for event in model_at(sim).stream(asked)]
    assert isinstance(last, Finished)
    return last.reply


@requirement("models:port:contract")
class TestTheAdapterKeepsTheContractWithTheSimulator(ModelContract):
    @asynccontextmanager
    async def open_model(self, *outcomes: Outcome) -> AsyncIterator[AnthropicModel]:
        with simulator(in_order(*(action(outcome) for outcome in outcomes))) as sim:
            yield model_at(sim)


@requirement("models:body:cache-marks")
async def test_a_marked_prefix_is_read_from_the_cache_the_second_time() -> None:
    marks = (CacheMark("system", -1), CacheMark("messages", -1))
    long_text = system("Every word of this text stays the same. " * 400)
    first = request("one", system=long_text, tools=(tool("look", at="string"),), cache_marks=marks)
    second = request(user("one"), assistant("yes"), user("two"), system=long_text, tools=first.tools, cache_marks=marks)
    with simulator() as sim:
        written, read = await reply_of(sim, first), await reply_of(sim, second)

    assert written.usage.cache_write_tokens > 1024
    assert written.usage.cache_read_tokens == 0
    assert read.usage.cache_read_tokens >= written.usage.cache_write_tokens
    assert read.usage.input_tokens < 100


@requirement("models:anthropic:count")
async def test_a_count_is_what_the_answer_then_reports() -> None:
    asked = request("How long is this?", system=system("Be brief."), tools=(tool("look", at="string"),))
    with simulator() as sim:
        counted = await model_at(sim).count_tokens(asked)
        reply = await reply_of(sim, asked)

    assert counted == reply.usage.context_tokens > 0


@requirement("models:body:betas")
async def test_the_servers_own_compaction_comes_back_as_a_block_with_its_cost() -> None:
    edits: JsonObject = {"edits": [{"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 50_000}}]}
    asked = request(
        user("Remember: the harbour is closed. " * 12_000),
        assistant("Noted."),
        user("Where were we?"),
        model="claude-sonnet-4-6",
        context_management=edits,
    )
    with simulator(in_order(ScriptAction(text="at the harbour", summary="The harbour is closed."))) as sim:
        reply = await reply_of(sim, asked)

    assert reply.message.content[0] == CompactionBlock("The harbour is closed.")
    assert reply.text == "at the harbour"
    assert reply.compaction_usage.context_tokens > 50_000 > reply.usage.context_tokens
