"""The fields of a request: their names, types and ranges.

Blocks and tools are described in `block_shapes` and `tool_shapes`. What a field needs besides its shape (pairs, order,
limits) is checked by the modules beside this one.
"""

from __future__ import annotations

from functools import lru_cache

from reverie.messages.blocks import Json
from reverie_simulator.rules.block_shapes import content_block, mark_shape
from reverie_simulator.rules.headers import RequestFeatures
from reverie_simulator.rules.shape import (
    Fields,
    Required,
    Shape,
    any_object,
    anything,
    array,
    boolean,
    integer,
    literal,
    nullable,
    number,
    record,
    string,
    string_or_array,
    tagged_union,
)
from reverie_simulator.rules.tool_shapes import tool_shape

MESSAGES_MAX = 100_000
COMPACTION_TRIGGER_MIN = 50_000


@lru_cache(maxsize=16)
def message_request(features: RequestFeatures) -> Shape:
    """The body of `POST /v1/messages`."""
    return record({**_shared_fields(features), **_reply_fields(features)})


@lru_cache(maxsize=16)
def count_request(features: RequestFeatures) -> Shape:
    """The body of `POST /v1/messages/count_tokens`; it takes what shapes the prompt."""
    return record(_shared_fields(features))


def _shared_fields(features: RequestFeatures) -> Fields:
    mark = mark_shape(features)
    fields: dict[str, Shape | Required] = {
        "model": Required(string(at_least=1, at_most=256)),
        "messages": Required(array(_message(features), at_most=MESSAGES_MAX)),
        "cache_control": mark,
        "mcp_servers": array(any_object),
        "output_config": _OUTPUT_CONFIG,
        "speed": nullable(literal("standard", "fast")),
        "system": string_or_array(_system_block(mark)),
        "thinking": _THINKING,
        "tool_choice": _TOOL_CHOICE,
        "tools": array(tool_shape(mark)),
    }
    if features.context_management or features.compaction:
        fields["context_management"] = nullable(_context_management(features))
    return fields


def _reply_fields(features: RequestFeatures) -> Fields:
    threads: Fields = {"thread": nullable(_THREAD)} if features.threads else {}
    return {
        **threads,
        "max_tokens": Required(integer(at_least=0)),
        "container": anything,
        "diagnostics": nullable(record({"previous_message_id": nullable(string())})),
        "inference_geo": nullable(string()),
        "metadata": record({"user_id": nullable(string(at_most=256))}),
        "output_format": any_object,
        "service_tier": literal("auto", "standard_only"),
        "stop_sequences": array(string()),
        "stream": boolean,
        "temperature": number(0, 1),
        "top_k": integer(at_least=0),
        "top_p": number(0, 1),
    }


def _message(features: RequestFeatures) -> Shape:
    fields: dict[str, Shape | Required] = {
        "role": Required(_role),
        "content": Required(string_or_array(content_block(features))),
    }
    if features.turn_settings:
        fields["output_config"] = nullable(any_object)
        fields["clear_at"] = nullable(literal("next_user_message", "never"))
    return record(fields)


def _role(value: Json, path: str) -> str | None:
    # Only some models take system messages; `conversation` refuses them for the others in other words.
    return None if value == "system" else literal("user", "assistant")(value, path)


def _system_block(mark: Shape) -> Shape:
    return record(
        {
            "type": Required(literal("text")),
            "text": Required(string()),
            "cache_control": mark,
            "citations": nullable(array(any_object)),
        }
    )


def _context_management(features: RequestFeatures) -> Shape:
    def amount(*kinds: str, at_least: int = 0) -> Shape:
        value = record({"type": anything, "value": Required(integer(at_least=at_least))})
        return tagged_union(dict.fromkeys(kinds, value))

    edits: dict[str, Shape] = {}
    if features.context_management:
        edits["clear_tool_uses_20250919"] = record(
            {
                "type": anything,
                "clear_at_least": nullable(amount("input_tokens")),
                "clear_tool_inputs": nullable(_boolean_or_strings),
                "exclude_tools": nullable(array(string())),
                "keep": amount("tool_uses"),
                "trigger": amount("input_tokens", "tool_uses", at_least=1),
            }
        )
        turns = record({"type": anything, "value": Required(integer(at_least=1))})
        keep = tagged_union({"thinking_turns": turns, "all": record({"type": anything})})
        edits["clear_thinking_20251015"] = record(
            {"type": anything, "keep": lambda value, path: None if value == "all" else keep(value, path)}
        )
    if features.compaction:
        edits["compact_20260112"] = record(
            {
                "type": anything,
                "instructions": nullable(string()),
                "pause_after_compaction": boolean,
                "trigger": nullable(amount("input_tokens", at_least=COMPACTION_TRIGGER_MIN)),
            }
        )
    return record({"edits": array(tagged_union(edits))})


def _boolean_or_strings(value: Json, path: str) -> str | None:
    return None if isinstance(value, bool) else array(string())(value, path)


_OUTPUT_CONFIG = record(
    {
        "effort": nullable(literal("low", "medium", "high", "xhigh", "max")),
        "format": nullable(record({"type": Required(literal("json_schema")), "schema": Required(any_object)})),
        "task_budget": nullable(any_object),
    }
)

_DISPLAY = nullable(literal("summarized", "omitted", "updates"))
_THINKING = tagged_union(
    {
        "enabled": record(
            {
                "type": anything,
                "budget_tokens": Required(integer(at_least=1024)),
                "block_binding": nullable(any_object),
                "display": _DISPLAY,
            }
        ),
        "disabled": record({"type": anything}),
        "adaptive": record({"type": anything, "block_binding": nullable(any_object), "display": _DISPLAY}),
        "between_tools": record({"type": anything}),
    }
)

_THREAD = tagged_union(
    {
        "create": record({"type": anything}),
        "continue": record({"type": anything, "previous_message_id": Required(string())}),
    }
)

_TOOL_CHOICE = tagged_union(
    {
        "auto": record({"type": anything, "disable_parallel_tool_use": boolean}),
        "any": record({"type": anything, "disable_parallel_tool_use": boolean}),
        "tool": record({"type": anything, "name": Required(string()), "disable_parallel_tool_use": boolean}),
        "none": record({"type": anything}),
    }
)
