"""Let a model choose among the best memories, within its time; the embedded choice stands whenever it does not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from reverie.agent.flow import run_flow
from reverie.errors import Error
from reverie.memory.recall.recall import Asked, CheckAnchors, Searched, chosen, named, ranked, selection
from reverie.memory.recall.recalled import Hit, Limits
from reverie.ports import Model, Request

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
        names = await asyncio.wait_for(run_flow(flow, model, Request(model.name, ())), settings.timeout_seconds)
    except (Error, TimeoutError, ValueError):
        return embedded
    return chosen(candidates, names, asked, now=now, limits=limits, check=check)
