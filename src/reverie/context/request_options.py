"""What a request asks of its provider besides an answer: thinking, effort, a wider window, edits on its side.

Each option is switched by a setting and fitted to the model. A provider that refuses one is not asked for it again in
this session: the conversation goes on without.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from enum import StrEnum

from reverie.context.cache_edits import count_cache_edits
from reverie.context.microcompact import api_clearing
from reverie.errors import BadRequest, RateLimited, Unavailable
from reverie.messages.blocks import Json, JsonObject
from reverie.messages.rules import may_begin_thinking
from reverie.models.ports import Request
from reverie.models.profiles import Profile
from reverie.models.request_body import EXTENDED_WINDOW_BETA
from reverie.models.tokens.window import WindowBudget
from reverie.settings import CacheSettings, Settings

LEAST_THINKING_TOKENS = 1_024
"""The provider takes no smaller budget."""
LEAST_COMPACTION_TOKENS = 50_000
"""The provider compacts no smaller prompt."""


class Option(StrEnum):
    """Something that a provider may refuse; the value is what a person is told, with the setting that asks for it."""

    CACHE_EDITS = "clearing inside the provider's cache (clearing.cached)"
    CLEARING = "clearing by the provider (clearing.api)"
    COMPACTION = "compaction by the provider (compaction.server)"
    EFFORT = "effort (model.effort)"
    THINKING = "thinking (model.thinking)"
    WINDOW = "the extended window (window.extended)"
    LONG_CACHE = "a cache that lives an hour (cache.ttl, cache.system_ttl)"
    CACHE = "prompt caching (cache.enabled)"


_NAMED = {
    Option.CACHE_EDITS: re.compile(r"cache[-_]edits|cache_reference"),
    Option.CLEARING: re.compile(r"context[-_ ]management|clear_(?:tool_uses|thinking)"),
    Option.COMPACTION: re.compile(r"context[-_ ]management|compact"),
    Option.EFFORT: re.compile(r"\beffort\b|output_config"),
    Option.THINKING: re.compile(r"(?<!clear_)thinking"),
    Option.WINDOW: re.compile(r"long[- ]context|context-1m|1m context", re.IGNORECASE),
    Option.LONG_CACHE: re.compile(r"\bttl\b|cache-ttl"),
    Option.CACHE: re.compile(r"cache_control"),
}
"""How a refusal names an option."""


def with_options(
    request: Request, facts: Profile, settings: Settings, budget: WindowBudget, *, effort: str, off: Collection[Option]
) -> Request:
    """The request with every option that the settings ask for, the model has, and nobody refused."""
    can = facts.abilities
    thinking = _thinking(request, facts, settings) if Option.THINKING not in off else None
    thinks = thinking is not None and thinking["type"] != "disabled"
    edits: list[Json] = []
    if can.context_edits and Option.CLEARING not in off:
        edits += api_clearing(settings.clearing, budget, thinks=thinks)
    if can.server_compaction and settings.compaction.server and Option.COMPACTION not in off:
        edits += _compaction(budget)
    extends = settings.window.extended and facts.extends_window and Option.WINDOW not in off
    return replace(
        request,
        thinking=thinking,
        effort=effort if can.effort and Option.EFFORT not in off else "",
        context_management={"edits": edits} if edits else None,
        betas=(EXTENDED_WINDOW_BETA,) if extends else (),
    )


def cache_options(cache: CacheSettings, off: Collection[Option]) -> CacheSettings:
    """How the cache is asked for, as far as the provider takes it."""
    if Option.CACHE in off:
        return replace(cache, enabled=False)
    return replace(cache, system_ttl="5m", ttl="5m") if Option.LONG_CACHE in off else cache


def find_used_options(request: Request) -> frozenset[Option]:
    """The options that a request makes use of."""
    edits = str(request.context_management or "")
    used = {
        Option.CLEARING: "clear_" in edits,
        Option.COMPACTION: "compact_" in edits,
        Option.EFFORT: bool(request.effort),
        Option.THINKING: request.thinking is not None,
        Option.WINDOW: EXTENDED_WINDOW_BETA in request.betas,
        Option.LONG_CACHE: any(mark.ttl != "5m" for mark in request.cache_marks),
        Option.CACHE: bool(request.cache_marks),
        Option.CACHE_EDITS: count_cache_edits(request.messages) > 0,
    }
    return frozenset(option for option, is_used in used.items() if is_used)


def find_refused_options(problem: Unavailable, request: Request) -> frozenset[Option]:
    """What to leave out after a refusal: the options that it names, else all but the cache, which is never guessed."""
    if not isinstance(problem, BadRequest | RateLimited):
        return frozenset()
    used = find_used_options(request)
    named = frozenset(option for option in used if _NAMED[option].search(str(problem)))
    if isinstance(problem, RateLimited):
        return named & {Option.WINDOW}
    if Option.LONG_CACHE in named:
        return named - {Option.CACHE}
    return named or used - {Option.LONG_CACHE, Option.CACHE}


def _thinking(request: Request, facts: Profile, settings: Settings) -> JsonObject | None:
    model = settings.model
    if model.thinking == "auto" or not facts.abilities.thinking:
        return None
    if model.thinking == "off":
        return {"type": "disabled"}
    if facts.abilities.adaptive_thinking:
        return {"type": "adaptive"}
    tokens = min(model.thinking_tokens, request.max_tokens - 1)
    if tokens < LEAST_THINKING_TOKENS or not may_begin_thinking(request.messages):
        return None
    return {"type": "enabled", "budget_tokens": tokens}


def _compaction(budget: WindowBudget) -> list[Json]:
    """The provider's own compaction, somewhat before ours; none in a window that is too small for it."""
    if budget.error_tokens < LEAST_COMPACTION_TOKENS:
        return []
    trigger: dict[str, Json] = {"type": "input_tokens", "value": budget.error_tokens}
    return [{"type": "compact_20260112", "trigger": trigger}]
