"""The fields of content blocks. Blocks of the provider's own server tools are accepted with any fields."""

from __future__ import annotations

from reverie_simulator.rules.headers import RequestFeatures
from reverie_simulator.rules.shape import (
    Required,
    Shape,
    any_object,
    anything,
    array,
    boolean,
    literal,
    nullable,
    record,
    string,
    string_or_array,
    tagged_union,
)

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


def mark_shape(features: RequestFeatures) -> Shape:
    """A cache mark."""
    fields: dict[str, Shape | Required] = {"type": anything, "ttl": literal("5m", "1h")}
    if features.cache_scope:
        fields["scope"] = anything
    return nullable(tagged_union({"ephemeral": record(fields)}))


def content_block(features: RequestFeatures) -> Shape:
    """Any block of a message."""
    mark = mark_shape(features)
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
    return tagged_union(blocks)


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
            "source": Required(tagged_union({"base64": base64, "url": _URL, "file": _FILE})),
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
            "source": Required(tagged_union(sources)),
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
            "content": Required(array(tagged_union({"text": _text(mark)}))),
            "source": Required(string()),
            "title": Required(string()),
            "cache_control": mark,
            "citations": record({"enabled": boolean}),
        }
    )


def _result_block(mark: Shape) -> Shape:
    reference = record({"type": anything, "tool_name": Required(string()), "cache_control": mark})
    return tagged_union(
        {
            "text": _text(mark),
            "image": _image(mark),
            "document": _document(mark),
            "search_result": _search_result(mark),
            "tool_reference": reference,
            "browser_state": any_object,
        }
    )


_URL = record({"type": anything, "url": Required(string())})
_FILE = record({"type": anything, "file_id": Required(string())})
