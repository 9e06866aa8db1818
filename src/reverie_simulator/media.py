"""Images and documents inside a request: what they are, how large, how many tokens.

Only headers are read; nothing is decoded as a picture.
"""

from __future__ import annotations

import binascii
import re
import struct
from base64 import b64decode

from reverie.values import value
from reverie_simulator.memo import Memo, digest

IMAGE_BYTES_MAX = 5 * 1024 * 1024
IMAGE_SIDE_MAX = 8_000
MANY_IMAGES = 20
MANY_IMAGES_SIDE_MAX = 2_000
IMAGES_MAX = 100
PDF_PAGES_MAX = 100
LONGEST_SIDE_SEEN = 1_568
"""Larger images are scaled down before the model sees them."""

_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_PDF_PAGE = re.compile(rb"/Type\s*/Page(?![a-zA-Z])")


@value
class Media:
    """What could be read of one image or document."""

    size_bytes: int
    media_type: str | None
    """What the first bytes say, or None when they say nothing known."""
    width: int = 0
    height: int = 0
    pages: int = 0


_SEEN: Memo[Media | None] = Memo(512)


def inspect(data: str) -> Media | None:
    """Read the header of base64 data; None when it is no base64."""
    return _SEEN.get(digest(data.encode(errors="replace")), lambda: _read(data))


def _read(data: str) -> Media | None:
    if not _BASE64.fullmatch(data) or len(data.rstrip("=")) % 4 == 1:
        return None
    try:
        raw = b64decode(data + "=" * (-len(data) % 4))
    except (binascii.Error, ValueError):
        return None
    if raw.startswith(b"%PDF-"):
        return Media(len(raw), "application/pdf", pages=max(1, len(_PDF_PAGE.findall(raw))))
    media_type = _image_type(raw)
    width, height = _image_size(raw, media_type)
    return Media(len(raw), media_type, width, height)


def _image_type(raw: bytes) -> str | None:
    if raw.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if raw.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if raw.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
        return "image/webp"
    return None


def _image_size(raw: bytes, media_type: str | None) -> tuple[int, int]:
    try:
        match media_type:
            case "image/png":
                return struct.unpack(">II", raw[16:24])
            case "image/gif":
                return struct.unpack("<HH", raw[6:10])
            case "image/jpeg":
                return _jpeg_size(raw)
            case "image/webp":
                return _webp_size(raw)
    except (struct.error, IndexError):
        pass
    return (0, 0)


def _jpeg_size(raw: bytes) -> tuple[int, int]:
    at = 2
    while at + 9 < len(raw) and raw[at] == 0xFF:
        marker = raw[at + 1]
        # Start-of-frame markers carry the size; C4, C8 and CC look like them and are not.
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height, width = struct.unpack(">HH", raw[at + 5 : at + 9])
            return (width, height)
        at += 2 + struct.unpack(">H", raw[at + 2 : at + 4])[0]
    return (0, 0)


def _webp_size(raw: bytes) -> tuple[int, int]:
    match raw[12:16]:
        case b"VP8X":
            return (1 + int.from_bytes(raw[24:27], "little"), 1 + int.from_bytes(raw[27:30], "little"))
        case b"VP8L":
            bits = int.from_bytes(raw[21:25], "little")
            return (1 + (bits & 0x3FFF), 1 + ((bits >> 14) & 0x3FFF))
        case b"VP8 ":
            width, height = struct.unpack("<HH", raw[26:30])
            return (width & 0x3FFF, height & 0x3FFF)
        case _:
            return (0, 0)


def image_tokens(media: Media | None, *, most: int) -> int:
    """Width times height by 750 after scaling down; the most an image can have when its size is unknown."""
    if media is None or not media.width or not media.height:
        return most
    scale = min(1.0, LONGEST_SIDE_SEEN / max(media.width, media.height))
    return min(most, max(1, round(media.width * scale * media.height * scale / 750)))
