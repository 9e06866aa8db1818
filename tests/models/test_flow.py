""""""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from reverie.context.compact import compact
from reverie.context.receipt import receipts
from reverie.errors import ContextTooLong, Overloaded, Unavailable
from reverie.messages.blocks import Json, JsonObject
from reverie.messages.message import assistant, user
from reverie.models.flow import EMBEDDED, answer, run_flow
from reverie.models.offline import OfflineModel
from reverie.models.ports import Ask, Event, Finished, Flow, Request, TextDelta
from reverie.testing.build import request, system, tool, tool_call
from reverie.testing.scripted_model import ScriptedModel
from tests.context.kit import long_session
from tests.requirements import requirement

PARENT = request("hello", system=system("You are careful."), tools=(tool("read", path="string"),))


def asking(closed: list[str], **changes: object) -> Flow[list[str]]:
    """Ask two questions and return both answers."""
    heard: list[str] = []
    try:
        for number in (1, 2):
            question = Ask("test", f"question {number}", lambda: "embedded answer", **changes)  # type: ignore[arg-type]
            try:
                reply = yield question
            except ContextTooLong:
                heard.append("too long")
                continue
            heard.append(f"{reply.text} by {reply.model}")
        return heard
    finally:
        closed.append("closed")


class Silent:
    """A model that never answers."""

    name = "silent"

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        await asyncio.Event().wait()
        assert request
        yield TextDelta("never")


@requirement("agent:flow:drives")
async def test_questions_are_answered_in_turn_and_share_the_parents_prefix() -> None:
    model = ScriptedModel(["one", "two"], name=PARENT.model)
    booked: list[tuple[str, str]] = []
    context = (user("first"), assistant(tool_call("read")))

    result = await run_flow(
        asking([], context=context), model, PARENT, booked=lambda ask, reply: booked.append((ask.prompt, reply.text))
    )

    assert result == ["one by scripted", "two by scripted"]
    assert booked == [("question 1", "one"), ("question 2", "two")]
    sent = model.requests[0]
    assert (sent.model, sent.system, sent.tools, sent.purpose) == (PARENT.model, PARENT.system, PARENT.tools, "test")
    assert sent.messages[:2] == context
    assert sent.messages[2].text == "question 1"
    assert sent.messages[2].tool_results, "an open call is answered"


@requirement("agent:flow:drives")
async def test_a_flow_that_asks_nothing_is_only_its_result() -> None:
    def quiet(questions: list[Ask]) -> Flow[int]:
        yield from questions
        return 7

    assert await run_flow(quiet([]), ScriptedModel([]), PARENT) == 7


@requirement("agent:flow:too-long")
async def test_too_long_is_the_flows_own_business() -> None:
    model = ScriptedModel([ContextTooLong("no"), "two"])

    assert await run_flow(asking([]), model, PARENT) == ["too long", "two by scripted"]


@requirement("agent:flow:too-long", "agent:flow:closes")
async def test_another_failure_is_the_callers_and_the_flow_is_closed() -> None:
    closed: list[str] = []

    with pytest.raises(Overloaded):
        await run_flow(asking(closed), ScriptedModel([Overloaded("busy")]), PARENT)

    assert closed == ["closed"]


@requirement("agent:flow:closes")
async def test_too_long_that_the_flow_does_not_take_ends_it() -> None:
    def naive() -> Flow[str]:
        reply = yield Ask("test", "question", lambda: "x")
        return reply.text

    with pytest.raises(ContextTooLong):
        await run_flow(naive(), ScriptedModel([ContextTooLong("no")]), PARENT)


@requirement("agent:flow:closes")
async def test_a_cancelled_driver_closes_the_flow() -> None:
    closed: list[str] = []
    task = asyncio.create_task(run_flow(asking(closed), Silent(), PARENT))
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed == ["closed"]


@requirement("agent:flow:embedded")
async def test_the_embedded_answer_stands_in_where_the_question_says_so() -> None:
    model = ScriptedModel([Overloaded("busy"), "two"])

    result = await run_flow(asking([], embedded_on_failure=True), model, PARENT)

    assert result == [f"embedded answer by {EMBEDDED}", "two by scripted"]


@requirement("agent:flow:embedded")
async def test_a_slow_model_is_given_up_after_the_time_allowed() -> None:
    result = await run_flow(asking([], embedded_on_failure=True, timeout_seconds=0.01), Silent(), PARENT)
    assert result == [f"embedded answer by {EMBEDDED}"] * 2

    with pytest.raises(Unavailable, match=r"within 0\.01 seconds"):
        await run_flow(asking([]), Silent(), PARENT, timeout_seconds=0.01)


@requirement("agent:flow:embedded")
async def test_without_a_model_a_compaction_runs_by_structure() -> None:
    session = long_session()
    outcome = await run_flow(compact(session.case(16_000)), OfflineModel(), PARENT)
    session.take(outcome)

    assert receipts(session.entries)[-1].written_by == "offline"
    assert isinstance(outcome.entries, tuple)
    assert session.tokens() < 10_000


@requirement("agent:flow:thread")
async def test_the_work_of_a_flow_and_a_long_embedded_answer_leave_the_loop_free() -> None:
    steps, answers = threading.Event(), threading.Event()

    def answer() -> str:
        assert answers.wait(5), "nobody else got a turn"
        return "the answer"

    def slow() -> Flow[str]:
        assert steps.wait(5), "nobody else got a turn"
        reply = yield Ask("summary", "sum it up", answer)
        return reply.text

    running = asyncio.create_task(run_flow(slow(), OfflineModel(), PARENT, in_thread=True))
    await asyncio.sleep(0.01)
    steps.set()
    await asyncio.sleep(0.01)
    answers.set()

    assert await running == "the answer"


@requirement("agent:flow:thread")
@pytest.mark.parametrize("in_thread", [False, True])
async def test_a_flow_concludes_the_same_in_a_thread(in_thread: bool) -> None:
    closed: list[str] = []
    model = ScriptedModel(["one", ContextTooLong("too long")])

    assert await run_flow(asking(closed), model, PARENT, in_thread=in_thread) == ["one by scripted", "too long"]
    assert closed == ["closed"]


@requirement("agent:flow:own-model")
async def test_another_model_is_asked_by_its_own_name_and_for_nothing_of_the_parents() -> None:
    asks = replace(PARENT, thinking={"type": "adaptive"}, effort="high", betas=("context-1m-2025-08-07",))
    other = ScriptedModel(["one", "two"], name="gpt-small")

    await run_flow(asking([]), other, asks)

    sent = other.requests[0]
    assert (sent.model, sent.thinking, sent.effort, sent.betas) == ("gpt-small", None, "", ())


@requirement("agent:flow:own-model")
async def test_the_parents_model_is_asked_as_the_parent_is() -> None:
    edits: list[Json] = [{"type": "clear_tool_uses_20250919"}, {"type": "compact_20260112"}]
    thinking: JsonObject = {"type": "enabled", "budget_tokens": 2_000}
    asks = replace(PARENT, thinking=thinking, effort="high", context_management={"edits": edits})
    model = ScriptedModel(["one", "two"], name=PARENT.model)

    await run_flow(asking([], max_tokens=500), model, asks)

    sent = model.requests[0]
    assert (sent.thinking, sent.effort, sent.max_tokens) == (thinking, "high", 2_500)
    assert sent.context_management == {"edits": edits[:1]}


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
