"""Lets a model choose among the best memories; if it fails, the choice without a model is used."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from reverie.errors import Error
from reverie.memory.prompt_files import fill_prompt
from reverie.memory.search.document import Query
from reverie.memory.search.recall import CheckAnchors, SearchedDirectory, rank_memories, render_hits
from reverie.memory.search.render import Hit, RenderLimits
from reverie.models.flow import run_flow
from reverie.models.ports import Ask, Flow, Model, Request

if TYPE_CHECKING:
    from reverie.messages.blocks import JsonObject
    from reverie.settings import RecallSettings

_SELECTED = "selected_memories"
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {_SELECTED: {"type": "array", "items": {"type": "string"}}},
    "required": [_SELECTED],
    "additionalProperties": False,
}


async def select(
    searched: Sequence[SearchedDirectory],
    query: Query,
    embedded: Sequence[Hit],
    model: Model,
    settings: RecallSettings,
    *,
    limits: RenderLimits,
    check: CheckAnchors,
) -> Sequence[Hit]:
    """The hits that the model chooses, and the first embedded one; the embedded ones when it fails.

    The model orders and adds; it cannot veto the memory that fits the words best, for it sees no more than one line
    of each.
    """
    wide = replace(query, abstains=False, limit=settings.rerank_candidates)
    by_name = name_hits(await asyncio.to_thread(rank_memories, searched, wide))
    if not by_name:
        return embedded
    names_of = {hit.path: name for name, hit in by_name.items()}
    default = [names_of[hit.path] for hit in embedded if hit.path in names_of]
    flow = ask_selector(by_name, query, embedded=default, max_tokens=settings.selector_tokens)
    try:
        names = await run_flow(flow, model, Request(model.name, ()))
    except (Error, ValueError):
        return embedded
    first = default[:1]
    chosen = names if not first or first[0] in names else (*names[: query.limit - 1], *first)
    return render_hits([replace(by_name[name], shown="whole") for name in chosen], query, limits, check)


def name_hits(hits: Iterable[Hit]) -> dict[str, Hit]:
    """The hits by the names that a manifest gives them: paths inside their directory, with the scope if repeated."""
    by_name: dict[str, Hit] = {}
    for hit in hits:
        path = hit.topic.path
        by_name[path if path not in by_name else f"{hit.scope}:{path}"] = hit
    return by_name


def ask_selector(
    hits: Mapping[str, Hit], query: Query, *, embedded: Sequence[str], max_tokens: int = 256
) -> Flow[tuple[str, ...]]:
    """Ask a model which of the hits to show; `embedded` names what stands without one.

    Raises:
        ValueError: the answer is not what was asked for; the embedded choice then stands.
    """
    reply = yield Ask(
        purpose="recall",
        prompt=_prompt(hits, query),
        embedded=lambda: json.dumps({_SELECTED: list(embedded)}),
        max_tokens=max_tokens,
        output_schema=SCHEMA,
    )
    try:
        answer = json.loads(_json_in(reply.text))
    except RecursionError:
        raise ValueError("the selector's answer is nested too deeply") from None
    names = answer.get(_SELECTED) if isinstance(answer, dict) else None
    if not isinstance(names, list):
        raise ValueError(f"the selector named no {_SELECTED}")
    known = tuple(dict.fromkeys(name for name in names if isinstance(name, str) and name in hits))
    if names and not known:
        raise ValueError("the selector named no memory of the list")
    return known[: query.limit]


def _json_in(text: str) -> str:
    """The object in an answer that wraps it in words or a fence."""
    return text[text.find("{") : text.rfind("}") + 1]


def _prompt(hits: Mapping[str, Hit], query: Query) -> str:
    tools = (
        f"- In use right now: {', '.join(query.tools)}. Notes that only explain how to use these are not needed; notes "
        "that warn of their traps and known problems are needed most now.\n"
        if query.tools
        else ""
    )
    values = {
        "limit": str(query.limit),
        "tools_rule": tools,
        "query": query.text,
        "manifest": "\n".join(manifest_line(name, hit) for name, hit in hits.items()),
    }
    return fill_prompt("select", values)


def manifest_line(name: str, hit: Hit) -> str:
    """One line on a memory: type, file, time, description; what is missing is left out."""
    kind = f"[{hit.topic.type}] " if hit.topic.type else ""
    time = f" ({hit.file_time.isoformat(timespec='seconds')})" if hit.file_time else ""
    about = f": {hit.topic.description}" if hit.topic.description else ""
    return f"- {kind}{name}{time}{about}"
