from __future__ import annotations

import struct
from base64 import b64encode

import pytest

from reverie_simulator.media import Media, image_tokens, inspect


def encoded(raw: bytes) -> str:
    return b64encode(raw).decode()


PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", 800, 600)
GIF = b"GIF89a" + struct.pack("<HH", 800, 600)
JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08" + struct.pack(">HH", 600, 800) + b"\x03" * 8
WEBP = b"RIFF\x00\x00\x00\x00WEBPVP8X" + b"\x00" * 8 + (799).to_bytes(3, "little") + (599).to_bytes(3, "little")
WEBP_LOSSLESS = b"RIFF\x00\x00\x00\x00WEBPVP8L" + b"\x00" * 5 + (799 | (599 << 14)).to_bytes(4, "little")


@pytest.mark.parametrize(
    ("raw", "media_type"),
    [
        (PNG, "image/png"),
        (GIF, "image/gif"),
        (JPEG, "image/jpeg"),
        (WEBP, "image/webp"),
        (WEBP_LOSSLESS, "image/webp"),
    ],
)
def test_type_and_size_are_read_from_the_header(raw: bytes, media_type: str) -> None:
    assert inspect(encoded(raw)) == Media(len(raw), media_type, 800, 600)


@pytest.mark.parametrize("raw", [PNG[:18], JPEG[:8], GIF[:7], WEBP[:14]])
def test_a_cut_off_header_has_no_size(raw: bytes) -> None:
    media = inspect(encoded(raw))

    assert media is not None
    assert (media.width, media.height) == (0, 0)


@pytest.mark.parametrize("data", ["%%%%", "AAAAA", "data:image/png;base64,AAAA", "AA=A", "=AAA"])
def test_what_is_no_base64_is_no_media(data: str) -> None:
    assert inspect(data) is None


def test_pages_of_a_document_are_counted() -> None:
    media = inspect(encoded(b"%PDF-1.7 /Type /Pages /Type /Page x /Type/Page y"))

    assert media is not None
    assert media.pages == 2


@pytest.mark.parametrize(
    ("width", "height", "tokens"), [(750, 100, 100), (200, 200, 53), (3136, 1568, 1600), (0, 0, 1600)]
)
def test_an_image_costs_its_area_until_it_is_scaled_down(width: int, height: int, tokens: int) -> None:
    assert image_tokens(Media(1, "image/png", width, height), most=1600) == tokens
