"""Rules about cache marks: how many, in which order, on what."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from reverie.messages.blocks import JsonObject
from reverie_simulator.prompt import takes_mark
from reverie_simulator.wire import blocks_at, object_at, objects_at, text_at

MARKS_MAX = 4


def check_marks(body: JsonObject) -> str | None:
    """The first rule about cache marks that the request breaks."""
    return next(chain(_empty_text(body), _number_and_order(body)), None)


def _empty_text(body: JsonObject) -> Iterator[str]:
    for at, block in enumerate(objects_at(body, "system")):
        if block.get("cache_control") and not text_at(block, "text"):
            yield f"system.{at}: cache_control cannot be set for empty text blocks"
    for path, block in _message_blocks(body):
        if block.get("type") == "text" and block.get("cache_control") and not text_at(block, "text"):
            yield f"{path}.text: cache_control cannot be set for empty text blocks"


def _number_and_order(body: JsonObject) -> Iterator[str]:
    marks = list(_marks(body))
    automatic = object_at(body, "cache_control")
    if automatic:
        last_ttl = _last_block_ttl(body)
        ttl = text_at(automatic, "ttl", "5m")
        if last_ttl is None:
            marks.append(("", ttl))
        elif last_ttl != ttl:
            yield (
                f"cache_control.ttl: the top-level cache_control has ttl='{ttl}' but the last cacheable block already "
                f"has a cache_control with ttl='{last_ttl}'"
            )
    if len(marks) > MARKS_MAX:
        yield f"A maximum of {MARKS_MAX} blocks with cache_control may be provided. Found {len(marks)}."
    seen_short = False
    for path, ttl in marks:
        if ttl == "1h" and seen_short:
            place = f"{path}.cache_control.ttl" if path else "cache_control.ttl"
            yield (
                f"{place}: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note "
                "that blocks are processed in the following order: `tools`, `system`, `messages`."
            )
        seen_short = seen_short or ttl == "5m"


def _marks(body: JsonObject) -> Iterator[tuple[str, str]]:
    """Place and lifetime of every mark in the order of the prompt, those inside tool results included."""
    for path, block in _all_blocks(body):
        if cache_control := object_at(block, "cache_control"):
            yield path, text_at(cache_control, "ttl", "5m")


def _all_blocks(body: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    for at, tool in enumerate(objects_at(body, "tools")):
        yield f"tools.{at}", tool
    for at, block in enumerate(objects_at(body, "system")):
        yield f"system.{at}", block
    for path, block in _message_blocks(body):
        yield path, block
        for at, inside in enumerate(objects_at(block, "content")):
            yield f"{path}.content.{at}", inside


def _message_blocks(body: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    for number, message in enumerate(objects_at(body, "messages")):
        for at, block in enumerate(blocks_at(message, "content")):
            yield f"messages.{number}.content.{at}", block


def _last_block_ttl(body: JsonObject) -> str | None:
    last = [block for _, block in _message_blocks(body) if takes_mark(block)][-1:]
    cache_control = object_at(last[0], "cache_control") if last else {}
    return text_at(cache_control, "ttl", "5m") if cache_control else None
