"""What the result of a remote tool becomes: text and pictures for the model, data for everybody else.

A server's words are data: invisible characters go, and nothing in them can pass for a word of the host.
"""

from __future__ import annotations

from collections.abc import Iterator

from reverie.memory.injection import harmless
from reverie.messages.blocks import Image, Json, JsonObject, Text
from reverie.messages.codec import encode_json
from reverie.tools.tool import Answer

_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def answer_from(result: JsonObject) -> Answer:
    """The answer in a `CallToolResult`."""
    content = result.get("content")
    blocks = [block for each in (content if isinstance(content, list) else ()) for block in _blocks(each)]
    if not blocks and result.get("structuredContent") is not None:
        blocks = [Text(harmless(encode_json(result["structuredContent"]).decode()))]
    failed = result.get("isError") is True
    texts = [block.text for block in blocks if isinstance(block, Text)]
    details: JsonObject = {"structuredContent": result["structuredContent"]} if "structuredContent" in result else {}
    if len(texts) == len(blocks):
        said = "\n".join(texts)
        return Answer(said or ("The tool failed and said nothing." if failed else "(no output)"), failed, details)
    return Answer(tuple(blocks), failed, details)


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
    if kind in _PICTURES and data:
        return Image({"type": "base64", "media_type": kind, "data": data})
    return Text(harmless(f"[{name}: {kind or 'unknown kind'}, {len(data) * 3 // 4:,} bytes, cannot be shown]"))


def _text(block: JsonObject, key: str) -> str:
    value = block.get(key)
    return value if isinstance(value, str) else ""
