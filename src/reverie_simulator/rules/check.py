"""All checks of a request in the provider's order; the first problem is the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reverie.messages.blocks import Json, JsonObject
from reverie_simulator.api_error import ApiError, invalid
from reverie_simulator.facts import ModelFacts, facts_of
from reverie_simulator.rules.conversation import RoleTurn, check_conversation, turns_of
from reverie_simulator.rules.headers import INTERLEAVED_BETA, Headers
from reverie_simulator.rules.marks import check_marks
from reverie_simulator.rules.media import check_media
from reverie_simulator.rules.request import count_request, message_request
from reverie_simulator.rules.thinking import check_thinking
from reverie_simulator.wire import encode, flag_at, number_at, object_at, objects_at, text_at, texts_at


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
    yield from _found(check_marks(body))
    yield from _found(_system_problem(body))
    yield from _found(check_conversation(messages, turns, facts))
    yield from _found(_cache_edits_problem(turns))
    yield from _found(check_thinking(body, turns, facts, interleaved=interleaved))
    yield from _found(check_media(body))


def _found(problem: str | None) -> Iterator[str]:
    if problem:
        yield problem


def _reply_problems(body: JsonObject, facts: ModelFacts) -> Iterator[str]:
    asked = number_at(body, "max_tokens")
    if asked == 0 and "max_tokens" in body and not _only_fills_the_cache(body):
        yield "max_tokens: Input should be greater than or equal to 1"
    if asked > facts.max_output_tokens:
        yield (
            f"max_tokens: {asked} > {facts.max_output_tokens}, which is the maximum allowed number of output tokens "
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
