from __future__ import annotations

from base64 import b64encode

import pytest

from reverie.messages.blocks import Json
from tests.requirements import requirement
from tests.simulator.requests import (
    answer,
    assistant,
    call,
    provider,
    refusal,
    request,
    result,
    text,
    user,
)
from tests.simulator.rules.damage import assert_refused, content

PNG = b64encode(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x10\x00\x00\x00\x10").decode()
WIDE_PNG = b64encode(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x27\x10\x00\x00\x00\x10").decode()
PDF = b64encode(b"%PDF-1.4 " + b"/Type /Page " * 101).decode()


def image(data: str = PNG, media_type: str = "image/png") -> dict[str, Json]:
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


def pdf(data: str) -> dict[str, Json]:
    return {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": data}}


MEDIA = [
    (content(image("")), "messages.0.content.0.image.source.base64: image cannot be empty"),
    (content(image("not base64!")), "messages.0.content.0.image.source.base64: invalid base64 data"),
    (content(image("data:image/png;base64," + PNG)), "messages.0.content.0.image.source.base64: invalid base64 data"),
    (
        request([user("x"), assistant(call("a")), user(result("a", [image("?")]))]),
        "messages.2.content.0.tool_result.content.0.image.source.base64: invalid base64 data",
    ),
    (
        content(image(PNG, "image/tiff")),
        (
            "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', "
            "'image/gif' or 'image/webp'"
        ),
    ),
    (
        content(image(PNG, "image/jpeg")),
        "messages.0.content.0.image.source.base64.data: Image does not match the provided media type image/jpeg",
    ),
    (content(image(b64encode(b"no picture").decode())), "Could not process image"),
    (
        content(image(PNG + "A" * 6_000_000)),
        (
            f"messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: {len(PNG) + 6_000_000} bytes > "
            "5242880 bytes"
        ),
    ),
    (
        content(image(WIDE_PNG)),
        (
            "messages.0.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed "
            "size: 8000 pixels"
        ),
    ),
    (content(*[image() for _ in range(101)]), "too many images and documents: 101 + 0 > 100"),
    (content(pdf("AAAA")), "messages.0.content.0.pdf.source.base64.data: The PDF specified was not valid."),
    (content(pdf(PDF)), "A maximum of 100 PDF pages may be provided."),
    (
        content({"type": "document", "source": {"type": "base64", "media_type": "text/html", "data": PNG}}),
        "messages.0.content.0.document.source.base64.media_type: Input should be 'application/pdf'",
    ),
]


@requirement("simulator:rules:error-shapes")
@pytest.mark.parametrize(("body", "words"), MEDIA, ids=[words[:60] for _, words in MEDIA])
def test_media_that_break_a_rule_are_refused(body: Json, words: str) -> None:
    assert_refused(body, words)


@requirement("simulator:rules:error-shapes")
def test_many_images_must_be_small() -> None:
    large = b64encode(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x08\x98\x00\x00\x00\x10").decode()

    error = refusal(provider(), content(*[image(large) for _ in range(21)])).error

    assert error.message == (
        "messages.0.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size "
        "for many-image requests: 2000 pixels"
    )


@requirement("simulator:rules:error-shapes")
def test_sound_images_are_answered_alone_and_inside_results() -> None:
    alone = content(text("look"), image())
    inside = request([user("x"), assistant(call("a")), user(result("a", [text("x"), image()]))])

    assert answer(provider(), alone).message["type"] == answer(provider(), inside).message["type"] == "message"
