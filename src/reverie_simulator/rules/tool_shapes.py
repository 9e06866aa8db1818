"""The fields of tool definitions. The provider's own tools are accepted with any fields."""

from __future__ import annotations

from reverie.messages.blocks import Json, JsonObject
from reverie_simulator.rules.shape import (
    Required,
    Shape,
    any_object,
    array,
    boolean,
    literal,
    nullable,
    record,
    string,
    tagged_union,
)

TOOL_NAME = r"^[a-zA-Z0-9_-]{1,128}$"

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


def tool_shape(mark: Shape) -> Shape:
    """A tool that the model may call."""
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
    return tagged_union({**tools, "custom": custom}, default="custom")


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
