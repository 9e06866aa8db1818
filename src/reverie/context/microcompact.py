"""Empty old tool results and nothing else: after a pause, inside the server's cache, or by its own rule.

Time-based clearing is tried first; only when it did not fire, the cached one. Thinking, replies and the user's words
are never touched. API-level clearing is no stage: it is a parameter of the request, and each clearing an announced
break.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from reverie.context.cache_breaks import LIFETIMES
from reverie.context.cache_edits import find_deleted
from reverie.context.prefix import message_ttl
from reverie.context.spans import list_pinned
from reverie.context.stage import CHARS_PER_TOKEN, NOTHING, Reduction, Stage, StageContext, StageOutcome
from reverie.messages.blocks import DocumentBlock, Image, Json, ToolResult
from reverie.messages.entries import ClearEntry
from reverie.messages.records import CLEARED
from reverie.messages.view import SERVER_CLEARS, Item, ItemKind, View
from reverie.models.tokens.media import FLAT_MEDIA_TOKENS
from reverie.models.tokens.window import WindowBudget
from reverie.settings import CacheSettings, ClearingSettings

_USUAL_CACHE = CacheSettings()
REFERENCE_WINDOW_TOKENS = 200_000
"""The window for which the numbers of API-level clearing are stated."""


def microcompact(settings: ClearingSettings, cache: CacheSettings = _USUAL_CACHE) -> Stage:
    """Make the stage."""

    def stage(view: View, scene: StageContext) -> StageOutcome:
        cleared = _after_a_pause(view, scene, settings, cache)
        if cleared is NOTHING and scene.edits_cache and settings.cached.enabled:
            cleared = _inside_the_cache(view, scene, settings)
        return cleared

    return stage


def api_clearing(settings: ClearingSettings, budget: WindowBudget, *, thinks: bool) -> list[Json]:
    """The edits with which a provider clears by itself; thinking only where a request asks for it."""
    api = settings.api
    if not api.enabled:
        return []
    scale = budget.window_tokens / REFERENCE_WINDOW_TOKENS if api.scale_to_window else 1.0
    # The provider must act before our own compaction does, or its rule never fires.
    trigger = min(round(api.trigger_tokens * scale), budget.warning_tokens)
    thinking: dict[str, Json] = {
        "type": "clear_thinking_20251015",
        "keep": "all" if api.keep_all_thinking else {"type": "thinking_turns", "value": api.keep_thinking_turns},
    }
    tools: dict[str, Json] = {
        "type": "clear_tool_uses_20250919",
        "trigger": {"type": "input_tokens", "value": trigger},
        "clear_at_least": {
            "type": "input_tokens",
            "value": min(round(api.clear_at_least_tokens * scale), trigger * 3 // 4),
        },
    }
    return [thinking, tools] if thinks else [tools]


def clearable(
    items: Sequence[Item], settings: ClearingSettings, *, pinned: Collection[str] = ()
) -> list[tuple[str, int]]:
    """Results that may be emptied, oldest first, with about their sizes in characters.

    Those that are no longer than what would stand in their place are left out.
    """
    names = {call.id: call.name for item in items for call in item.message.tool_uses}
    return [
        (result.tool_use_id, size)
        for item in items
        for result in item.message.tool_results
        if names.get(result.tool_use_id) in settings.tools
        and item.uuid not in pinned
        and (size := _size_chars(result)) > len(CLEARED)
    ]


def _after_a_pause(view: View, scene: StageContext, settings: ClearingSettings, cache: CacheSettings) -> StageOutcome:
    time = settings.time
    if not time.enabled or scene.budget.used_tokens <= time.min_fill_fraction * scene.budget.effective_tokens:
        return NOTHING
    place, replied = _last_reply(view.items)
    # What was kept is what the last request asked for, whatever the pause since would make of the next one.
    lifetime = LIFETIMES[message_ttl(view.items[:place], cache)]
    gap = lifetime if time.gap_minutes is None else timedelta(minutes=time.gap_minutes)
    if replied is None or scene.now - replied < gap:
        return NOTHING
    # What the server was asked to delete is whole here, and the server's cache is gone: it is emptied too.
    pinned = list_pinned(scene.entries)
    old = clearable(view.items, settings, pinned=pinned)[: -max(time.keep_results, time.keep_floor)]
    if not old:
        return NOTHING
    freed = sum(size for _, size in old) // CHARS_PER_TOKEN
    entry = ClearEntry(scene.envelope(), tuple(one for one, _ in old), CLEARED, "time", freed)
    return StageOutcome((entry,), reductions=(Reduction("clear", freed, len(old), "after a pause"),))


def _inside_the_cache(view: View, scene: StageContext, settings: ClearingSettings) -> StageOutcome:
    gone, pinned = find_deleted(view.items), list_pinned(scene.entries)
    results = [one for one in clearable(view.items, settings, pinned=pinned) if one[0] not in gone]
    if len(results) <= settings.cached.trigger_results:
        return NOTHING
    old = results[: -settings.cached.keep_results or None]
    freed = sum(size for _, size in old) // CHARS_PER_TOKEN
    entry = ClearEntry(scene.envelope(), tuple(one for one, _ in old), "", SERVER_CLEARS, freed)
    return StageOutcome((entry,), reductions=(Reduction("clear", freed, len(old), "inside the server's cache"),))


def _size_chars(result: ToolResult) -> int:
    media = (
        0
        if isinstance(result.content, str)
        else sum(isinstance(part, Image | DocumentBlock) for part in result.content)
    )
    return len(result.text) + media * FLAT_MEDIA_TOKENS * CHARS_PER_TOKEN


def _last_reply(items: Sequence[Item]) -> tuple[int, datetime | None]:
    """Where the newest reply stands, and when it was given."""
    for place in range(len(items) - 1, -1, -1):
        item = items[place]
        if item.kind is ItemKind.REPLY and item.timestamp:
            try:
                return place, datetime.fromisoformat(item.timestamp)
            except ValueError:
                return place, None
    return 0, None
