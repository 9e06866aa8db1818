"""Lets a model choose among the best memories; if it fails, the choice without a model is used."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from reverie.errors import Error
from reverie.memory.search.recall import Asked, CheckAnchors, SearchedDirectory, chosen, named, ranked, selection
from reverie.memory.search.render import Hit, RenderLimits
from reverie.models.flow import run_flow
from reverie.models.ports import Model, Request

if TYPE_CHECKING:
    from reverie.settings import RecallSettings


async def select(
    searched: Sequence[SearchedDirectory],
    asked: Asked,
    embedded: Sequence[Hit],
    model: Model,
    settings: RecallSettings,
    *,
    now: datetime,
    limits: RenderLimits,
    check: CheckAnchors,
) -> Sequence[Hit]:
    """The hits that the model chooses, and the first embedded one; the embedded ones when it fails.

    The model orders and adds; it cannot veto the memory that fits the words best, for it sees no more than one line
    of each.
    """
    candidates = await asyncio.to_thread(
        lambda: ranked(searched, asked, now=now, abstains=False, limit=settings.rerank_candidates)
    )
    if not candidates:
        return embedded
    names_of = {each.path: name for name, each in named(candidates).items()}
    stands = [names_of[hit.path] for hit in embedded if hit.path in names_of]
    flow = selection(candidates, asked, embedded=stands, max_tokens=settings.selector_tokens)
    try:
        names = await run_flow(flow, model, Request(model.name, ()))
    except (Error, ValueError):
        return embedded
    first = stands[:1]
    kept = names if not first or first[0] in names else (*names[: asked.limit - 1], *first)
    return chosen(candidates, kept, asked, now=now, limits=limits, check=check)
