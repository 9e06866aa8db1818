"""Converts the result of a remote tool: text and pictures for the model, data for programs.

A server's text is data: invisible characters are removed, and tags that imitate this program are made harmless.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reverie.messages.blocks import Image, Json, JsonObject, Text
from reverie.messages.codec import encode_json
from reverie.messages.injection import harmless
from reverie.tools.tool import ToolAnswer

_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


MAX_CHARS = 4_000_000
"""Of all text of one result; what is longer than the window takes is spilled, and nobody reads more than this."""
MAX_BLOCKS = 1_000
MAX_PICTURE_CHARS = 7_000_000
"""About 5 MB, which is what providers take."""
MAX_DATA_BYTES = 1_000_000
"""Of the data kept beside the text."""


def answer_from(result: JsonObject) -> ToolAnswer:
    """The answer in a `CallToolResult`."""
    content = result.get("content")
    listed = content if isinstance(content, list) else []
    blocks = [block for each in listed[:MAX_BLOCKS] for block in _blocks(each)]
    data = result.get("structuredContent")
    encoded = b"" if data is None else encode_json(data)
    if not blocks and encoded:
        blocks = [Text(harmless(encoded[: 4 * MAX_CHARS].decode("utf-8", "ignore")))]
    failed = result.get("isError") is True
    details: JsonObject = {"structuredContent": data} if data is not None and len(encoded) <= MAX_DATA_BYTES else {}
    if all(isinstance(block, Text) for block in blocks):
        answer_text = _limit_text("\n".join(block.text for block in blocks if isinstance(block, Text)), listed)
        return ToolAnswer(
            answer_text or ("The tool failed and said nothing." if failed else "(no output)"), failed, details
        )
    bounded = (Text(_limit_text(block.text, listed)) if isinstance(block, Text) else block for block in blocks)
    return ToolAnswer(tuple(bounded), failed, details)


def text_from(blocks: Iterable[JsonObject]) -> str:
    """The content blocks of a prompt as text; embedded resources with their address, pictures as a line."""
    shown = (block for each in blocks for block in _blocks(dict(each)))
    return "\n\n".join(block.text if isinstance(block, Text) else "[picture]" for block in shown)


def resource_answer(contents: Iterable[JsonObject]) -> ToolAnswer:
    """The contents of a resource that was read."""
    return answer_from({"content": [{"type": "resource", "resource": dict(one)} for one in contents]})


def _limit_text(text: str, listed: list[Json]) -> str:
    """The text with a word on what is left out."""
    notes = [f"({len(text):,} characters; the rest is left out)"] if len(text) > MAX_CHARS else []
    if len(listed) > MAX_BLOCKS:
        notes.append(f"({len(listed):,} pieces; those after the first {MAX_BLOCKS:,} are left out)")
    return "\n".join([text[:MAX_CHARS], *notes])


def _blocks(block: Json) -> Iterator[Text | Image]:
    if not isinstance(block, dict):
        return
    match block.get("type"):
        case "text":
            yield Text(harmless(_text(block, "text")))
        case "image":
            yield _picture(_text(block, "mimeType"), _text(block, "data"), "picture")
        case "resource":
            inner = block.get("resource")
            if isinstance(inner, dict):
                yield _resource(inner)
        case "resource_link":
            about = " ".join(filter(None, [_text(block, "title") or _text(block, "name"), _text(block, "description")]))
            yield Text(harmless(f"[resource {_text(block, 'uri')}: {about}]"))
        case kind:
            yield Text(f"[{harmless(str(kind))}: this kind of content cannot be shown]")


def _resource(inner: JsonObject) -> Text | Image:
    name = f"resource {_text(inner, 'uri')}"
    if "text" in inner:
        return Text(harmless(f"[{name}]\n{_text(inner, 'text')}"))
    return _picture(_text(inner, "mimeType"), _text(inner, "blob"), name)


def _picture(kind: str, data: str, name: str) -> Text | Image:
    if kind in _PICTURES and 0 < len(data) <= MAX_PICTURE_CHARS:
        return Image({"type": "base64", "media_type": kind, "data": data})
    return Text(harmless(f"[{name}: {kind or 'unknown kind'}, {len(data) * 3 // 4:,} bytes, cannot be shown]"))


def _text(block: JsonObject, key: str) -> str:
    value = block.get(key)
    return value if isinstance(value, str) else ""
