"""All checks of a request in the provider's order: JSON, body, cache marks, images and documents.

The first problem is the answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import chain

import msgspec

from reverie.messages.blocks import Json, JsonObject
from reverie_simulator.api_error import ApiError, invalid
from reverie_simulator.facts import ModelFacts, facts_of
from reverie_simulator.media import (
    IMAGE_BYTES_MAX,
    IMAGE_SIDE_MAX,
    IMAGES_MAX,
    MANY_IMAGES,
    MANY_IMAGES_SIDE_MAX,
    PDF_PAGES_MAX,
    Media,
    inspect,
)
from reverie_simulator.prompt import takes_mark
from reverie_simulator.rules.conversation import RoleTurn, check_conversation, turns_of
from reverie_simulator.rules.headers import INTERLEAVED_BETA, Headers
from reverie_simulator.rules.request import count_request, message_request
from reverie_simulator.rules.thinking import check_thinking
from reverie_simulator.wire import blocks_at, encode, flag_at, number_at, object_at, objects_at, text_at, texts_at


def validate(body: Json, headers: Headers = Headers(), *, counts_only: bool = False) -> ApiError | None:  # noqa: B008
    """What is wrong with a request, or None. Sizes are checked later, when the prompt is counted."""
    shape = count_request if counts_only else message_request
    if problem := shape(headers.features)(body, ""):
        return invalid(problem.removeprefix(": "))
    assert isinstance(body, dict)
    facts = facts_of(text_at(body, "model"))
    if facts is None:
        return ApiError(404, f"model: {text_at(body, 'model')}")
    problem = next(_problems(body, facts, headers), None)
    return invalid(problem) if problem else None


def _problems(body: JsonObject, facts: ModelFacts, headers: Headers) -> Iterator[str]:
    yield from _reply_problems(body, facts)
    yield from _tool_problems(body)
    yield from _edit_problems(body, facts)
    messages = objects_at(body, "messages")
    turns = turns_of(messages)
    interleaved = INTERLEAVED_BETA in headers.betas
    yield from _yield_problem(check_marks(body))
    yield from _yield_problem(_system_problem(body))
    yield from _yield_problem(check_conversation(messages, turns, facts))
    yield from _yield_problem(_cache_edits_problem(turns))
    yield from _yield_problem(check_thinking(body, turns, facts, interleaved=interleaved))
    yield from _yield_problem(check_media(body))


def _yield_problem(problem: str | None) -> Iterator[str]:
    if problem:
        yield problem


def _reply_problems(body: JsonObject, facts: ModelFacts) -> Iterator[str]:
    max_tokens = number_at(body, "max_tokens")
    if max_tokens == 0 and "max_tokens" in body and not _only_fills_the_cache(body):
        yield "max_tokens: Input should be greater than or equal to 1"
    if max_tokens > facts.max_output_tokens:
        yield (
            f"max_tokens: {max_tokens} > {facts.max_output_tokens}, "
            "which is the maximum allowed number of output tokens "
            f"for {facts.name}"
        )
    for setting in ("temperature", "top_p", "top_k"):
        if setting in body and not facts.takes_sampling:
            yield f"`{setting}` is deprecated for this model."
    if "temperature" in body and "top_p" in body and not facts.takes_both_samplings:
        yield "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
    if object_at(body, "output_config").get("effort") and not facts.profile.abilities.effort:
        yield "This model does not support the effort parameter."
    if any(not sequence.strip() for sequence in texts_at(body, "stop_sequences")):
        yield "stop_sequences: each stop sequence must contain non-whitespace"


def _only_fills_the_cache(body: JsonObject) -> bool:
    """Whether a request without a reply is one that the provider takes: something to keep, and nothing to write."""
    marks = b"cache_control" in encode(body)
    forced = object_at(body, "tool_choice").get("type") in {"any", "tool"}
    thinks = object_at(body, "thinking").get("type") == "enabled"
    is_shaped = bool(object_at(object_at(body, "output_config"), "format"))
    return marks and not (flag_at(body, "stream") or forced or thinks or is_shaped)


def _tool_problems(body: JsonObject) -> Iterator[str]:
    tools = objects_at(body, "tools")
    names = [text_at(tool, "name") for tool in tools if "name" in tool]
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique."
    choice = object_at(body, "tool_choice")
    if choice and not tools and choice.get("type") != "none":
        yield "tool_choice: `tool_choice` may only be specified while providing `tools`."
    if choice.get("type") == "tool" and text_at(choice, "name") not in names:
        yield f"Tool '{text_at(choice, 'name')}' not found in provided tools"
    if tools and all(tool.get("defer_loading") is True for tool in tools):
        yield "At least one tool must have defer_loading=false. All tools cannot be deferred."


def _edit_problems(body: JsonObject, facts: ModelFacts) -> Iterator[str]:
    kinds = [text_at(edit, "type") for edit in objects_at(object_at(body, "context_management"), "edits")]
    for kind in kinds:
        if kinds.count(kind) > 1:
            yield f"context_management.edits: `{kind}` may only be specified once"
    if "clear_thinking_20251015" in kinds:
        if kinds[0] != "clear_thinking_20251015":
            yield "context_management.edits: `clear_thinking_20251015` strategy must be first in the list of edits"
        if object_at(body, "thinking").get("type") in {None, "disabled"}:
            yield "`clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive"
    if "compact_20260112" in kinds and not facts.compacts:
        yield f"context_management.edits.{kinds.index('compact_20260112')}: compaction is not supported on this model"


def _system_problem(body: JsonObject) -> str | None:
    for block in objects_at(body, "system"):
        if not text_at(block, "text"):
            return "system: text content blocks must be non-empty"
        if not text_at(block, "text").strip():
            return "system: text content blocks must contain non-whitespace text"
    return None


def _cache_edits_problem(turns: Sequence[RoleTurn]) -> str | None:
    """Deletions name results that stand before them, each once."""
    results: set[str] = set()
    deleted: set[str] = set()
    for turn in turns:
        for placed in turn.blocks:
            if placed.kind == "tool_result":
                results.add(text_at(placed.block, "tool_use_id"))
            if placed.kind != "cache_edits":
                continue
            for at, edit in enumerate(objects_at(placed.block, "edits")):
                name, path = text_at(edit, "cache_reference"), f"{placed.path}.cache_edits.edits.{at}.cache_reference"
                if name not in results:
                    return f"{path}: no `tool_result` block with id {name} was found before this block"
                if name in deleted:
                    return f"{path}: {name} was already deleted by an earlier `cache_edits` block"
                deleted.add(name)
    return None


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


_SURROGATES = re.compile(r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>\\u[dD][89a-fA-F])")
"""Escaped backslashes and whole pairs are stepped over, so that what is left over is a half."""
_WORDS = {
    "Expecting value": "unexpected character",
    "Expecting property name enclosed in double quotes": "unexpected character",
    "Expecting ',' delimiter": "unexpected character",
    "Expecting ':' delimiter": "unexpected character",
    "Illegal trailing comma before end of object": "unexpected character",
    "Illegal trailing comma before end of array": "unexpected character",
    "Unterminated string starting at": "unexpected end of data",
    "Extra data": "unexpected content after document",
    "Invalid control character at": "unexpected control character in string",
    "Invalid \\escape": "invalid escape sequence in string",
    "Invalid \\uXXXX escape": "invalid escaped sequence in string",
}


def parse_body(raw: bytes) -> Json | ApiError:
    """The value that the bytes spell."""
    try:
        value: Json = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return invalid(f"The request body is not valid JSON: {_reason(raw)}")
    return value


def _reason(raw: bytes) -> str:
    """The parser says where; the provider's words and counting (line, column, character) are put around it."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return "str is not valid UTF-8: surrogates not allowed: line 1 column 1 (char 0)"
    try:
        json.loads(text)
    except json.JSONDecodeError as problem:
        at_end = problem.pos >= len(text.rstrip())
        words = "unexpected end of data" if at_end else _WORDS.get(problem.msg, "unexpected character")
        return f"{words}: line {problem.lineno} column {problem.colno} (char {problem.pos})"
    except RecursionError:
        return "recursion limit exceeded: line 1 column 1 (char 0)"
    lone = next((match for match in _SURROGATES.finditer(text) if match["lone"]), None)
    place = lone.start() if lone else 0
    line = text.count("\n", 0, place) + 1
    column = place - text.rfind("\n", 0, place)
    words = "no low surrogate in string" if lone else "unexpected character"
    return f"{words}: line {line} column {column} (char {place})"


def check_media(body: JsonObject) -> str | None:
    """The first rule about media that the request breaks."""
    return next(_media_problems(body), None)


def _media_problems(body: JsonObject) -> Iterator[str]:
    media_blocks = list(_media(body))
    images = sum(block.get("type") == "image" for _, block in media_blocks)
    documents = len(media_blocks) - images
    if images + documents > IMAGES_MAX:
        yield f"too many images and documents: {images} + {documents} > {IMAGES_MAX}"
    pages = 0
    for path, block in media_blocks:
        source = object_at(block, "source")
        if source.get("type") != "base64":
            continue
        data = text_at(source, "data")
        media = inspect(data)
        if block.get("type") == "image":
            yield from _image_problems(f"{path}.image.source.base64", data, media, source, many=images > MANY_IMAGES)
        elif media is None or media.media_type != "application/pdf":
            yield f"{path}.pdf.source.base64.data: The PDF specified was not valid."
        else:
            pages += media.pages
    if pages > PDF_PAGES_MAX:
        yield f"A maximum of {PDF_PAGES_MAX} PDF pages may be provided."


def _image_problems(path: str, data: str, media: Media | None, source: JsonObject, *, many: bool) -> Iterator[str]:
    if not data:
        yield f"{path}: image cannot be empty"
        return
    if media is None:
        yield f"{path}: invalid base64 data"
        return
    # The limit is on the encoded size: that is what travels.
    if len(data) > IMAGE_BYTES_MAX:
        yield f"{path}: image exceeds 5 MB maximum: {len(data)} bytes > {IMAGE_BYTES_MAX} bytes"
    if media.media_type is None:
        yield "Could not process image"
    elif media.media_type != source.get("media_type"):
        yield f"{path}.data: Image does not match the provided media type {text_at(source, 'media_type')}"
    longest = max(media.width, media.height)
    if longest > IMAGE_SIDE_MAX:
        yield f"{path}.data: At least one of the image dimensions exceed max allowed size: {IMAGE_SIDE_MAX} pixels"
    elif many and longest > MANY_IMAGES_SIDE_MAX:
        yield (
            f"{path}.data: At least one of the image dimensions exceed max allowed size for many-image requests: "
            f"{MANY_IMAGES_SIDE_MAX} pixels"
        )


def _media(body: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    for number, message in enumerate(objects_at(body, "messages")):
        for at, block in enumerate(blocks_at(message, "content")):
            path = f"messages.{number}.content.{at}"
            if block.get("type") in {"image", "document"}:
                yield path, block
            elif block.get("type") == "tool_result":
                for inner, inside in enumerate(objects_at(block, "content")):
                    if inside.get("type") in {"image", "document"}:
                        yield f"{path}.tool_result.content.{inner}", inside
