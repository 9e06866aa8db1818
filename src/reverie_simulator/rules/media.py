"""Rules about images and documents: readable, of the type they claim, not too large, not too many."""

from __future__ import annotations

from collections.abc import Iterator

from reverie.messages.blocks import JsonObject
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
from reverie_simulator.wire import blocks_at, object_at, objects_at, text_at


def check_media(body: JsonObject) -> str | None:
    """The first rule about media that the request breaks."""
    return next(_problems(body), None)


def _problems(body: JsonObject) -> Iterator[str]:
    found = list(_media(body))
    images = sum(block.get("type") == "image" for _, block in found)
    documents = len(found) - images
    if images + documents > IMAGES_MAX:
        yield f"too many images and documents: {images} + {documents} > {IMAGES_MAX}"
    pages = 0
    for path, block in found:
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
