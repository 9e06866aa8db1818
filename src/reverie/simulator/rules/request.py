"""The fields of a request: their names, types and ranges.

Blocks and tools that belong to the provider's own server tools are accepted with any fields. What a field needs besides
its shape (pairs, order, limits) is checked by the modules beside this one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from reverie.messages.blocks import Json, JsonObject
from reverie.simulator.rules.shape import (
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
    tagged,
)

MESSAGES_MAX = 100_000
COMPACTION_TRIGGER_MIN = 50_000
TOOL_NAME = r"^[a-zA-Z0-9_-]{1,128}$"
CALL_ID = r"^[a-zA-Z0-9_-]+$"

SERVER_BLOCKS = (
    "bash_code_execution_tool_result",
    "code_execution_tool_result",
    "container_upload",
    "fallback",
    "mcp_tool_result",
    "mcp_tool_use",
    "server_tool_use",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "web_fetch_tool_result",
    "web_search_tool_result",
)
SERVER_TOOLS = (
    "advisor_20260301",
    "bash_20241022",
    "bash_20250124",
    "browser_20260801",
    "code_execution_20250522",
    "code_execution_20250825",
    "code_execution_20260120",
    "code_execution_20260521",
    "computer_20241022",
    "computer_20250124",
    "computer_20251124",
    "mcp_toolset",
    "memory_20250818",
    "text_editor_20241022",
    "text_editor_20250124",
    "text_editor_20250429",
    "text_editor_20250728",
    "tool_search_tool_bm25",
    "tool_search_tool_bm25_20251119",
    "tool_search_tool_regex",
    "tool_search_tool_regex_20251119",
    "web_fetch_20250910",
    "web_fetch_20260209",
    "web_fetch_20260309",
    "web_fetch_20260318",
    "web_search_20250305",
    "web_search_20260209",
    "web_search_20260318",
)


@dataclass(frozen=True, slots=True)
class Features:
    """What the headers of a request switch on."""

    context_management: bool = False
    compaction: bool = False
    cache_edits: bool = False
    cache_scope: bool = False
    """A mark may carry a `scope`; some clients of the provider send one."""
    turn_settings: bool = False
    """A system message may carry settings for the turns after it."""
    tool_changes: bool = False
    """Tools may be added and removed in mid-conversation."""


@lru_cache(maxsize=16)
def message_request(features: Features) -> Shape:
    """The body of `POST /v1/messages`."""
    return record({**_shared_fields(features), **_reply_fields()})


@lru_cache(maxsize=16)
def count_request(features: Features) -> Shape:
    """The body of `POST /v1/messages/count_tokens`; it takes what shapes the prompt."""
    return record(_shared_fields(features))


def _shared_fields(features: Features) -> Fields:
    mark = _mark(features)
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
        "tools": array(_tool(mark)),
    }
    if features.context_management or features.compaction:
        fields["context_management"] = nullable(_context_management(features))
    return fields


def _reply_fields() -> Fields:
    return {
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


def _mark(features: Features) -> Shape:
    fields: dict[str, Shape | Required] = {"type": anything, "ttl": literal("5m", "1h")}
    if features.cache_scope:
        fields["scope"] = anything
    return nullable(tagged({"ephemeral": record(fields)}))


def _message(features: Features) -> Shape:
    fields: dict[str, Shape | Required] = {
        "role": Required(_role),
        "content": Required(string_or_array(_content_block(features))),
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


def _content_block(features: Features) -> Shape:
    mark = _mark(features)
    blocks: dict[str, Shape] = dict.fromkeys(SERVER_BLOCKS, any_object)
    blocks |= {
        "text": _text(mark),
        "image": _image(mark),
        "document": _document(mark),
        "search_result": _search_result(mark),
        "thinking": record(
            {"type": anything, "signature": Required(string()), "thinking": Required(string())},
        ),
        "redacted_thinking": record({"type": anything, "data": Required(string())}),
        "tool_use": record(
            {
                "type": anything,
                "id": Required(string(pattern=CALL_ID)),
                "input": Required(any_object),
                "name": Required(string(at_least=1, at_most=200)),
                "cache_control": mark,
                "caller": nullable(any_object),
                "toolset_name": nullable(string()),
            }
        ),
        "tool_result": record(
            {
                "type": anything,
                "tool_use_id": Required(string(pattern=CALL_ID)),
                "cache_control": mark,
                "content": string_or_array(_result_block(mark)),
                "is_error": nullable(boolean),
                "toolset_name": nullable(string()),
            }
        ),
    }
    if features.compaction:
        blocks["compaction"] = record(
            {
                "type": anything,
                "cache_control": mark,
                "content": nullable(string(at_least=1)),
                "encrypted_content": nullable(string()),
                "signature": nullable(string()),
                "tool_changes": nullable(array(any_object)),
            }
        )
    if features.tool_changes:
        blocks |= {"tool_addition": any_object, "tool_removal": any_object}
    if features.cache_edits:
        edit = record({"type": Required(literal("delete")), "cache_reference": Required(string(pattern=CALL_ID))})
        blocks["cache_edits"] = record({"type": anything, "edits": Required(array(edit, at_least=1))})
    return tagged(blocks)


def _text(mark: Shape) -> Shape:
    return record(
        {
            "type": anything,
            "text": Required(string()),
            "cache_control": mark,
            "citations": nullable(array(any_object)),
        }
    )


def _image(mark: Shape) -> Shape:
    base64 = record(
        {
            "type": anything,
            "data": Required(string()),
            "media_type": Required(literal("image/jpeg", "image/png", "image/gif", "image/webp")),
        }
    )
    return record(
        {
            "type": anything,
            "source": Required(tagged({"base64": base64, "url": _URL, "file": _FILE})),
            "cache_control": mark,
            "transformations": nullable(any_object),
        }
    )


def _document(mark: Shape) -> Shape:
    base64 = record({"type": anything, "data": Required(string()), "media_type": Required(literal("application/pdf"))})
    text = record({"type": anything, "data": Required(string()), "media_type": Required(literal("text/plain"))})
    content = record({"type": anything, "content": Required(string_or_array(any_object))})
    sources = {"base64": base64, "text": text, "content": content, "url": _URL, "file": _FILE}
    return record(
        {
            "type": anything,
            "source": Required(tagged(sources)),
            "cache_control": mark,
            "citations": nullable(record({"enabled": boolean})),
            "context": nullable(string(at_least=1)),
            "title": nullable(string(at_least=1, at_most=500)),
        }
    )


def _search_result(mark: Shape) -> Shape:
    return record(
        {
            "type": anything,
            "content": Required(array(tagged({"text": _text(mark)}))),
            "source": Required(string()),
            "title": Required(string()),
            "cache_control": mark,
            "citations": record({"enabled": boolean}),
        }
    )


def _result_block(mark: Shape) -> Shape:
    reference = record({"type": anything, "tool_name": Required(string()), "cache_control": mark})
    return tagged(
        {
            "text": _text(mark),
            "image": _image(mark),
            "document": _document(mark),
            "search_result": _search_result(mark),
            "tool_reference": reference,
            "browser_state": any_object,
        }
    )


def _tool(mark: Shape) -> Shape:
    custom = record(
        {
            "type": nullable(literal("custom")),
            "name": Required(string(pattern=TOOL_NAME)),
            "input_schema": Required(_input_schema),
            "allowed_callers": array(string()),
            "cache_control": mark,
            "defer_loading": boolean,
            "description": string(),
            "eager_input_streaming": nullable(boolean),
            "input_examples": array(any_object),
            "strict": boolean,
        }
    )
    tools: dict[str, Shape] = dict.fromkeys(SERVER_TOOLS, any_object)
    return tagged({**tools, "custom": custom}, default="custom")


def _input_schema(value: Json, path: str) -> str | None:
    outline = record({"type": Required(literal("object"))}, is_open=True)
    if problem := outline(value, path):
        return problem
    assert isinstance(value, dict)
    if any(key in value for key in ("oneOf", "allOf", "anyOf")):
        return f"{path}: input_schema does not support oneOf, allOf, or anyOf at the top level"
    if not _is_json_schema(value):
        return (
            f"{path}: JSON schema is invalid. It must match JSON Schema draft 2020-12 "
            "(https://json-schema.org/draft/2020-12). Learn more about tool use at "
            "https://docs.claude.com/en/docs/tool-use."
        )
    return None


_SCHEMA_TYPES = {"string", "number", "integer", "boolean", "object", "array", "null"}


def _is_json_schema(schema: JsonObject) -> bool:
    """Whether the parts that people get wrong are right: types, properties, required, items."""
    kind, properties, required = schema.get("type"), schema.get("properties"), schema.get("required")
    kinds = kind if isinstance(kind, list) else [kind] if kind is not None else []
    if not all(isinstance(each, str) and each in _SCHEMA_TYPES for each in kinds):
        return False
    if properties is not None and not isinstance(properties, dict):
        return False
    if required is not None and not (isinstance(required, list) and all(isinstance(name, str) for name in required)):
        return False
    inside = [*(properties or {}).values(), *([schema["items"]] if "items" in schema else [])]
    return all(isinstance(each, bool) or (isinstance(each, dict) and _is_json_schema(each)) for each in inside)


def _context_management(features: Features) -> Shape:
    def amount(*kinds: str, at_least: int = 0) -> Shape:
        value = record({"type": anything, "value": Required(integer(at_least=at_least))})
        return tagged(dict.fromkeys(kinds, value))

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
        keep = tagged({"thinking_turns": turns, "all": record({"type": anything})})
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
    return record({"edits": array(tagged(edits))})


def _boolean_or_strings(value: Json, path: str) -> str | None:
    return None if isinstance(value, bool) else array(string())(value, path)


_URL = record({"type": anything, "url": Required(string())})
_FILE = record({"type": anything, "file_id": Required(string())})

_OUTPUT_CONFIG = record(
    {
        "effort": nullable(literal("low", "medium", "high", "xhigh", "max")),
        "format": nullable(record({"type": Required(literal("json_schema")), "schema": Required(any_object)})),
        "task_budget": nullable(any_object),
    }
)

_DISPLAY = nullable(literal("summarized", "omitted", "updates"))
_THINKING = tagged(
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

_TOOL_CHOICE = tagged(
    {
        "auto": record({"type": anything, "disable_parallel_tool_use": boolean}),
        "any": record({"type": anything, "disable_parallel_tool_use": boolean}),
        "tool": record({"type": anything, "name": Required(string()), "disable_parallel_tool_use": boolean}),
        "none": record({"type": anything}),
    }
)
