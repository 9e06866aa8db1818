"""Drives every flow that asks a model: summaries, notes, collapse, recall, extraction, dreams.

A flow yields what it asks and is sent what was answered. "Too long" is thrown into the flow, because asking again with
less is written where the cutting is; every other failure is the caller's, unless the question says that its embedded
answer may stand in. The flow is closed whatever happens.

`answer` sends one request and waits for the whole reply: a stream holds a connection, and leaving it half-read would
close that at a moment nobody chose. It reads to the end, and closes the stream when the listener fails or the task is
cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any, Generic, TypeVar, cast

from reverie.errors import ContextTooLong, Unavailable
from reverie.messages.blocks import JsonObject
from reverie.messages.message import Message, Usage, assistant, user
from reverie.messages.rules import conform, may_begin_thinking
from reverie.models.offline import run_embedded_model
from reverie.models.ports import Ask, CacheMark, CountsTokens, Event, Finished, Flow, Model, Reply, Request
from reverie.values import value


def _ignore_event(_: Event) -> None:
    return


async def answer(model: Model, request: Request, listen: Callable[[Event], None] = _ignore_event) -> Reply:
    """Ask, pass every event on, and return the complete reply. Raises the `Unavailable` family."""
    reply: Reply | None = None
    async with aclosing(model.stream(request)) as events:
        async for event in events:
            listen(event)
            if isinstance(event, Finished):
                reply = event.reply
    assert reply is not None, "a stream ends with Finished"
    return reply


async def exact_tokens(model: Model, request: Request) -> int | None:
    """How many input tokens the provider counts for a request; None where it does not count, or not now."""
    counting_model: object = model
    while not hasattr(counting_model, "count_tokens"):
        # What books or names calls stands around the model that makes them.
        counting_model = getattr(counting_model, "inner", None)
        if counting_model is None:
            return None
    try:
        return await cast("CountsTokens", counting_model).count_tokens(request)
    except Unavailable:
        return None


EMBEDDED = "embedded"
"""The model's name in a reply that no model gave."""

Result = TypeVar("Result")


def _ignore_booking(_: Ask, __: Reply) -> None:
    return


async def run_flow(
    flow: Flow[Result],
    model: Model,
    parent: Request,
    *,
    timeout_seconds: float | None = None,
    booked: Callable[[Ask, Reply], None] = _ignore_booking,
    in_thread: bool = False,
) -> Result:
    """Answer every question of a flow and return what it concludes.

    `parent` is the request whose system text, tools and model the questions share, so that they read its cache.
    `booked` hears of every answer. A question's own time limit goes before `timeout_seconds`. With `in_thread` the
    flow's own work is done in a thread, one step after another; it must touch nothing that others may change meanwhile.
    Raises the `Unavailable` family.
    """

    async def advance(step: Callable[[], Ask]) -> Ask | _End[Result]:
        return await asyncio.to_thread(_advance, step) if in_thread else _advance(step)

    try:
        ask = await advance(lambda: next(flow))
        while not isinstance(ask, _End):
            try:
                reply = await _reply(ask, model, parent, timeout_seconds)
            except ContextTooLong as problem:
                ask = await advance(partial(flow.throw, problem))
                continue
            booked(ask, reply)
            ask = await advance(partial(flow.send, reply))
        return ask.result
    finally:
        flow.close()


@value
class _End(Generic[Result]):
    """What a flow concluded."""

    result: Result


def _advance(step: Callable[[], Ask]) -> Ask | _End[Any]:
    try:
        return step()
    except StopIteration as end:
        return _End(end.value)


async def _reply(ask: Ask, model: Model, parent: Request, timeout_seconds: float | None) -> Reply:
    limit = ask.timeout_seconds if ask.timeout_seconds is not None else timeout_seconds
    try:
        async with asyncio.timeout(limit):
            return await answer(model, as_request(ask, parent, model.name))
    except ContextTooLong:
        raise
    except (Unavailable, TimeoutError) as problem:
        if not ask.embedded_on_failure:
            if isinstance(problem, TimeoutError):
                raise Unavailable(f"no answer to the {ask.purpose} question within {limit} seconds") from None
            raise
        return Reply(assistant(await run_embedded_model(ask.purpose, ask.embedded)), Usage(), "end_turn", EMBEDDED)


def as_request(ask: Ask, parent: Request, model: str) -> Request:
    """A question as the request that is sent: the parent's prefix, the context, the prompt.

    What the parent asks of its provider is part of what is cached, and means nothing to another model.
    """
    messages = conform((*ask.context, user(ask.prompt)))
    is_the_parents = model.removesuffix("[1m]") == parent.model.removesuffix("[1m]")
    request = Request(
        parent.model if is_the_parents else model,
        messages,
        system=parent.system,
        tools=parent.tools,
        max_tokens=ask.max_tokens,
        cache_marks=shared_cache_marks(parent, messages),
        output_schema=ask.output_schema,
        purpose=ask.purpose,
        embedded=ask.embedded,
    )
    if not is_the_parents:
        return request
    thinking = parent.thinking or {}
    budget = thinking.get("budget_tokens")
    if isinstance(budget, int):
        # Thinking counts as output.
        request = replace(request, max_tokens=ask.max_tokens + budget)
    return replace(
        request,
        thinking=parent.thinking if not budget or may_begin_thinking(messages) else None,
        effort=parent.effort,
        context_management=_clearing(parent.context_management),
        betas=parent.betas,
    )


def _clearing(management: JsonObject | None) -> JsonObject | None:
    """The parent's edits without compaction: who is asked for a summary must not begin with one."""
    edits = management.get("edits") if management else None
    clearing = [edit for edit in edits if "compact" not in str(edit)] if isinstance(edits, list) else []
    return {"edits": clearing} if clearing else None


def shared_cache_marks(parent: Request, messages: Sequence[Message]) -> tuple[CacheMark, ...]:
    """The parent's breakpoints up to where these messages leave its own, so that what it wrote is read."""
    same = 0
    for ours, theirs in zip(messages, parent.messages, strict=False):
        if ours is not theirs and ours != theirs:
            break
        same += 1
    blocks = 0
    if same < min(len(messages), len(parent.messages)) and messages[same].role is parent.messages[same].role:
        for block, other in zip(messages[same].content, parent.messages[same].content, strict=False):
            if block != other:
                break
            blocks += 1
    return tuple(
        mark
        for mark in parent.cache_marks
        if mark.level != "messages" or mark.index < same or (mark.index == same and 0 <= mark.block < blocks)
    )
