from __future__ import annotations

import base64
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.messages.blocks import JsonObject
from reverie.models.tokens.media import FLAT_MEDIA_TOKENS, PDF_PAGE_TOKENS, image_tokens, pdf_tokens
from tests.requirements import requirement


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + bytes(20)


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + bytes(20)


def jpeg(width: int, height: int) -> bytes:
    thumbnail = b"\xff\xe1" + struct.pack(">H", 2_002) + b"\xff\xc0" + bytes(1_998)
    frame = b"\xff\xc0" + struct.pack(">HBHH", 17, 8, height, width) + bytes(12)
    return b"\xff\xd8" + thumbnail + frame + b"\xff\xda"


def webp(width: int, height: int) -> bytes:
    size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"RIFF" + bytes(4) + b"WEBPVP8X" + struct.pack("<I", 10) + bytes(4) + size + bytes(8)


def webp_lossless(width: int, height: int) -> bytes:
    bits = (width - 1) | (height - 1) << 14
    return b"RIFF" + bytes(4) + b"WEBPVP8L" + struct.pack("<I", 9) + b"\x2f" + bits.to_bytes(4, "little") + bytes(8)


def webp_lossy(width: int, height: int) -> bytes:
    return b"RIFF" + bytes(4) + b"WEBPVP8 " + bytes(4) + bytes(6) + struct.pack("<HH", width, height) + bytes(8)


def source(data: bytes, media_type: str = "image/png") -> JsonObject:
    return {"type": "base64", "media_type": media_type, "data": base64.b64encode(data).decode()}


def weigh(given: JsonObject) -> int:
    return image_tokens(given, long_edge_pixels=1_568, most_tokens=1_600)


@requirement("tokens:estimate:kinds")
@pytest.mark.parametrize("picture", [png, gif, jpeg, webp, webp_lossless, webp_lossy])
def test_a_picture_weighs_by_its_area(picture: type) -> None:
    assert weigh(source(picture(300, 250))) == 100
    assert weigh(source(picture(750, 1_000))) == 1_000


@requirement("tokens:estimate:kinds")
def test_a_large_picture_is_scaled_down_first() -> None:
    assert weigh(source(png(4_000, 3_000))) == 1_600
    assert weigh(source(png(15_680, 750))) == round(1_568 * 75 / 750)


@requirement("tokens:estimate:kinds")
@pytest.mark.parametrize(
    "given",
    [
        {"type": "url", "url": "https://example.com/a.png"},
        {"type": "base64", "data": "not base64 at all!"},
        {"type": "base64"},
        source(b"unknown kind of picture"),
        source(png(0, 10)),
    ],
)
def test_a_picture_of_unknown_size_has_a_flat_weight(given: JsonObject) -> None:
    assert image_tokens(given, long_edge_pixels=1_568, most_tokens=5_000) == FLAT_MEDIA_TOKENS


@given(st.binary(max_size=200), st.sampled_from([b"", b"\xff\xd8\xff", b"RIFF0000WEBP", b"GIF89a", b"%PDF-1.7"]))
def test_damaged_data_never_stops_the_scales(data: bytes, beginning: bytes) -> None:
    assert weigh(source(beginning + data)) > 0
    assert pdf_tokens(source(beginning + data)) > 0


@requirement("tokens:estimate:kinds")
def test_a_pdf_weighs_by_its_pages() -> None:
    pages = b"<< /Type /Pages /Count 3 >>" + b"<< /Type /Page >>" * 2 + b"<</Type/Page>>"
    assert pdf_tokens(source(b"%PDF-1.7\n" + pages)) == 3 * PDF_PAGE_TOKENS


@requirement("tokens:estimate:kinds")
def test_a_pdf_whose_pages_are_packed_away_weighs_by_its_size() -> None:
    assert pdf_tokens(source(b"%PDF-1.7\n" + bytes(100_000))) == 5 * PDF_PAGE_TOKENS
