"""Estimates the tokens of pictures and documents from the first bytes of their data.

A picture costs by its area after the provider has scaled it down; a PDF by its pages. Where the data does not show them
(a URL, a file id, a damaged header) a flat figure stands.
"""

from __future__ import annotations

import base64
import binascii
import struct

from reverie.messages.blocks import JsonObject

FLAT_MEDIA_TOKENS = 2_000
"""Per picture or document of unknown size."""
PIXELS_PER_TOKEN = 750
PDF_PAGE_TOKENS = 1_800
"""A page is sent as text and as a picture; measured 21,900 tokens on a paper of 12 pages."""
PDF_BYTES_PER_PAGE = 20_000
"""Where the page objects are packed away."""
_HEADER_CHARS = 64 * 1_024


def image_tokens(source: JsonObject, *, long_edge_pixels: int, most_tokens: int) -> int:
    """The weight of a picture by its width and height, scaled down to what the provider looks at."""
    size = _image_size(_bytes(source, _HEADER_CHARS))
    if size is None:
        return min(FLAT_MEDIA_TOKENS, most_tokens)
    width, height = size
    scale = min(1.0, long_edge_pixels / max(width, height))
    area = (width * scale) * (height * scale)
    return max(1, min(most_tokens, round(area / PIXELS_PER_TOKEN)))


def pdf_tokens(source: JsonObject) -> int:
    """The weight of a PDF by its pages, or by its size where they cannot be counted."""
    data = _bytes(source, None)
    if not data.startswith(b"%PDF"):
        return FLAT_MEDIA_TOKENS
    compact = data.replace(b"/Type /Page", b"/Type/Page")
    pages = compact.count(b"/Type/Page") - compact.count(b"/Type/Pages")
    return PDF_PAGE_TOKENS * (pages if pages > 0 else max(1, round(len(data) / PDF_BYTES_PER_PAGE)))


def _bytes(source: JsonObject, limit_chars: int | None) -> bytes:
    data = source.get("data")
    if source.get("type") != "base64" or not isinstance(data, str):
        return b""
    head = data if limit_chars is None else data[: limit_chars - limit_chars % 4]
    try:
        return base64.b64decode(head + "=" * (-len(head) % 4))
    except (binascii.Error, ValueError):
        return b""


def _image_size(data: bytes) -> tuple[int, int] | None:
    size = _png(data) or _gif(data) or _webp(data) or _jpeg(data)
    return size if size is not None and min(size) > 0 else None


def _png(data: bytes) -> tuple[int, int] | None:
    if len(data) < 24 or not data.startswith(b"\x89PNG\r\n\x1a\n"):
        return None
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _gif(data: bytes) -> tuple[int, int] | None:
    if len(data) < 10 or data[:6] not in (b"GIF87a", b"GIF89a"):
        return None
    width, height = struct.unpack_from("<HH", data, 6)
    return width, height


def _webp(data: bytes) -> tuple[int, int] | None:
    if len(data) < 30 or data[:4] != b"RIFF" or data[8:12] != b"WEBP":
        return None
    match data[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
        case _:
            return None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    """Walk the segments to the frame header; a thumbnail inside a segment is stepped over."""
    if not data.startswith(b"\xff\xd8"):
        return None
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
            continue
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        if marker == 0xDA:
            return None
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None
