"""Factors from pieces to tokens, a few numbers per tokenizer generation.

`OLD` and its framing were fitted to replies and tool rounds of recorded sessions whose exact token counts are known,
`NEW` to recorded exchanges of newer models; `bench.tokens` fits them again without the series it measures. No recording
holds Han or Cyrillic text, so `script` is the careful side of what is publicly reported.
"""

from __future__ import annotations

from collections.abc import Mapping

from reverie.models.profiles import Profile, Tokenizer
from reverie.models.tokens.pieces import Pieces
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

    def tokens(self, found: Pieces) -> float:
        """The weight of a text's pieces."""
        return self.plain * found.plain + self.script * found.script + self.terminal * found.terminal


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
