"""Estimates tokens from the shape of a text: pieces first, then a few factors per tokenizer generation.

`OLD` and its framing were fitted to replies and tool rounds of recorded sessions whose exact token counts are known,
`NEW` to recorded exchanges of newer models; `bench.tokens` fits them again without the series it measures. No recording
holds Han or Cyrillic text, so `script` is the careful side of what is publicly reported.

For pieces, bytes are mapped to a few classes and counted; each count has a weight that was fitted to an open vocabulary
of 200,000 words over prose, code, JSON, logs, base64 and thirty languages (median error 5 %). Long texts are counted in
samples, so that a megabyte takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from reverie.models.profiles import Profile, Tokenizer
from reverie.values import value


@value
class Rates:
    """Tokens per piece, and tokens of framing that no text shows."""

    plain: float
    script: float
    terminal: float
    call: float
    """Around each tool call…"""
    parameter: float
    """…and around each of its parameters, name included."""
    result: float
    """Around each tool result."""
    message: float
    request: float
    """Once per request."""
    tool: float
    """Around each tool definition."""
    image_long_edge_pixels: int
    image_most_tokens: int

    def tokens(self, text_pieces: Pieces) -> float:
        """The weight of a text's pieces."""
        return self.plain * text_pieces.plain + self.script * text_pieces.script + self.terminal * text_pieces.terminal


RATES: Mapping[Tokenizer, Rates] = {
    Tokenizer.OLD: Rates(
        plain=1.17,
        script=1.3,
        terminal=0.5,
        call=20,
        parameter=23,
        result=25,
        message=3,
        request=4,
        tool=12,
        image_long_edge_pixels=1_568,
        image_most_tokens=1_600,
    ),
    Tokenizer.NEW: Rates(
        plain=1.45,
        script=1.55,
        terminal=0.6,
        call=24,
        parameter=27,
        result=28,
        message=4,
        request=4,
        tool=15,
        image_long_edge_pixels=2_576,
        image_most_tokens=4_784,
    ),
    Tokenizer.OTHER: Rates(
        plain=1.0,
        script=1.0,
        terminal=1.0,
        call=12,
        parameter=4,
        result=8,
        message=4,
        request=3,
        tool=8,
        image_long_edge_pixels=2_048,
        image_most_tokens=1_600,
    ),
}


def rates_for(facts: Profile) -> Rates:
    """The rates of a model's tokenizer."""
    return RATES[facts.tokenizer]


EXACT_CHARS = 8_192
"""Up to here every character is looked at."""
CELL_CHARS = 16_384
"""Beyond, the text is taken in cells of this size…"""
SAMPLE_CHARS = 2_048
"""…of which the first part stands for the whole."""


class Pieces(NamedTuple):
    """Three sums that different vocabularies weigh differently."""

    plain: float = 0.0
    """Latin letters, digits, punctuation, white space and symbols."""
    script: float = 0.0
    """Characters of other scripts: Han, Kana, Hangul, Cyrillic, Arabic, Indic and so on."""
    terminal: float = 0.0
    """Escape sequences of coloured terminal output."""


def pieces(text: str) -> Pieces:
    """Count the pieces of a text. A longer text never has fewer than its beginning."""
    total = _count(text[:EXACT_CHARS])
    for start in range(EXACT_CHARS, len(text), CELL_CHARS):
        sample = text[start : start + SAMPLE_CHARS]
        factor = min(CELL_CHARS, len(text) - start) / len(sample)
        part = _count(sample)
        total = Pieces(
            total.plain + factor * part.plain,
            total.script + factor * part.script,
            total.terminal + factor * part.terminal,
        )
    return total


def _classes() -> bytes:
    """The class of every first byte of a UTF-8 sequence; see `_count` for what each letter stands for."""
    table = bytearray(b"." * 256)
    for first, last, letter in (
        (0x09, 0x0D, b"n"),
        (0x1B, 0x1B, b"E"),
        (0x20, 0x20, b" "),
        (0x30, 0x39, b"0"),
        (0x41, 0x5A, b"A"),
        (0x61, 0x7A, b"a"),
        (0xC2, 0xC9, b"l"),
        (0xCA, 0xDF, b"c"),
        (0xE0, 0xE1, b"i"),
        (0xE2, 0xE2, b"s"),
        (0xE3, 0xED, b"k"),
        (0xEE, 0xEE, b"s"),
        (0xEF, 0xEF, b"k"),
        (0xF0, 0xF4, b"e"),
    ):
        table[first : last + 1] = letter * (last - first + 1)
    return bytes(table)


_CLASSES = _classes()
_FOLLOWING_BYTES = bytes(range(0x80, 0xC0))
_FOLD_CASE = bytes.maketrans(b"A", b"a")
_LETTERS_ONLY = bytes(ord("a") if byte == ord("a") else ord(" ") for byte in range(256))

_WORD, _HUMP, _LETTER, _LONG_RUN = 0.816, 2.291, 0.044, 3.0
_DIGIT_PAIR, _DIGIT_THEN_LETTER = 1.146, 0.498
_MARK_PAIR, _MARK = 0.190, 0.365
_LINE_PAIR, _SPACE = 1.131, 0.035
_ESCAPE = 1.793
_ACCENTED, _SYMBOL, _EMOJI = 1.486, 0.539, 2.039
_ALPHABETIC, _INDIC, _EAST_ASIAN = 0.348, 0.421, 0.735


def _count(text: str) -> Pieces:
    """Words count by their starts; runs of digits, marks and line ends by half their length, rounded up."""
    classes = text.encode("utf-8", "surrogatepass").translate(_CLASSES, _FOLLOWING_BYTES)
    humps = classes.count(b"aA")
    classes = classes.translate(_FOLD_CASE)
    others = classes.translate(None, b"a")
    letters, digits, marks = len(classes) - len(others), others.count(b"0"), others.count(b".")
    words = classes.translate(_LETTERS_ONLY).count(b" a") + classes.startswith(b"a")
    plain = _WORD * words + _HUMP * humps + _LETTER * letters + _LONG_RUN * classes.count(b"a" * 16)
    if digits:
        after_digits = classes.count(b"0a")
        plain += _DIGIT_PAIR * (digits - classes.count(b"00")) - (_WORD - _DIGIT_THEN_LETTER) * after_digits
    plain += _MARK_PAIR * (marks - classes.count(b"..")) + _MARK * marks
    plain += _LINE_PAIR * (others.count(b"n") - classes.count(b"nn")) + _SPACE * others.count(b" ")
    script = terminal = 0.0
    if "\x1b" in text:
        terminal = _ESCAPE * others.count(b"E")
    if not text.isascii():
        count = others.count
        plain += _ACCENTED * count(b"l") + _SYMBOL * count(b"s") + _EMOJI * count(b"e")
        script = _ALPHABETIC * count(b"c") + _INDIC * count(b"i") + _EAST_ASIAN * count(b"k")
    return Pieces(plain, script, terminal)
