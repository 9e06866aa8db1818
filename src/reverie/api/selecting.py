"""Let a model choose among the best memories, within its time; the embedded choice stands whenever it does not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from reverie.errors import Error
from reverie.memory.recall import Asked, CheckAnchors, Searched, chosen, named, ranked, selection
from reverie.memory.recalled import Hit, Limits
from reverie.messages.message import user
from reverie.models.answer import answer
from reverie.ports import Flow, Model, Request, Result

if TYPE_CHECKING:
    from reverie.settings import Recall


async def select(
    searched: Sequence[Searched],
    asked: Asked,
    embedded: tuple[Hit, ...],
    model: Model,
    settings: Recall,
    *,
    now: datetime,
    limits: Limits,
    check: CheckAnchors,
) -> tuple[Hit, ...]:
    """The hits that the model chooses, or the embedded ones."""
    candidates = ranked(searched, asked, now=now, abstains=False, limit=settings.rerank_candidates)
    if not candidates:
        return embedded
    shown = {hit.path for hit in embedded}
    stands = [name for name, each in named(candidates).items() if each.path in shown]
    flow = selection(
        candidates,
        asked,
        embedded=stands,
        max_tokens=settings.selector_tokens,
        timeout_seconds=settings.timeout_seconds,
    )
    try:
        names = await asyncio.wait_for(run(flow, model), settings.timeout_seconds)
    except (Error, TimeoutError, ValueError):
        return embedded
    return chosen(candidates, names, asked, now=now, limits=limits, check=check)


async def run(flow: Flow[Result], model: Model) -> Result:
    """Put each question of a flow to the model until the flow has concluded."""
    try:
        ask = next(flow)
        while True:
            request = Request(
                model=model.name,
                messages=(*ask.context, user(ask.prompt)),
                max_tokens=ask.max_tokens,
                output_schema=ask.output_schema,
                purpose=ask.purpose,
                embedded=ask.embedded,
            )
            ask = flow.send(await answer(model, request))
    except StopIteration as done:
        result: Result = done.value
        return result
    finally:
        flow.close()
