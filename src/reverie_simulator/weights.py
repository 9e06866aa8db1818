"""How many tokens each kind of block adds to a prompt: its text and the frame that the provider puts around it.

Text is counted by `toktok` where it is installed and by a rough pattern elsewhere, never by the product's own
estimator, then stretched by the model's generation and by a random skew that is drawn once per run, so that no estimate
can be tuned to the simulator. Remembering counts is `prompt`'s part.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from math import ceil
from typing import TypeAlias

from reverie.messages.blocks import JsonObject
from reverie_simulator.facts import ModelFacts
from reverie_simulator.media import image_tokens, inspect
from reverie_simulator.wire import blocks_at, encode, object_at, objects_at, text_at

REPLY_OPENING_TOKENS = 3
"""The turn that the reply begins; always behind the last breakpoint (recorded: 2 or 3 tokens uncached)."""
MESSAGE_TOKENS = 4
"""The frame of one turn."""
TOOLS_TOKENS = 346
"""The instructions that the provider adds when there are tools."""
TOOL_TOKENS = 12
CALL_TOKENS = 8
COMPACTION_TOKENS = 70
"""The frame of a summary that stands for what was said before (recorded: 70 to 95)."""
IMAGE_TOKENS_MAX = 1_600
PDF_PAGE_TOKENS = 1_800
CLEARED_TOKENS = 8
"""The placeholder that takes the place of cleared content."""
PROVIDER_TOOL_TOKENS = {
    "memory_": 1_200,
    "web_search_": 1_900,
    "web_fetch_": 1_500,
    "code_execution_": 1_900,
    "text_editor_": 700,
    "computer_": 735,
    "bash_": 245,
}
"""Tools that the provider defines itself, by the beginning of their type."""


def tool_tokens(tool: JsonObject, facts: ModelFacts, counter: TokenCounter) -> int:
    """Tokens of one tool definition."""
    kind = text_at(tool, "type", "custom")
    for beginning, tokens in PROVIDER_TOOL_TOKENS.items():
        if kind.startswith(beginning):
            return counter.stretch(tokens, facts.tokens_factor)
    shown = {key: value for key, value in tool.items() if key in {"name", "description", "input_schema"}}
    return TOOL_TOKENS + counter.text(encode(shown).decode(), facts.tokens_factor)


def block_tokens(block: JsonObject, facts: ModelFacts, counter: TokenCounter) -> int:
    """Tokens of one content block."""

    def text(value: str) -> int:
        return counter.text(value, facts.tokens_factor)

    match block.get("type"):
        case "text":
            return text(text_at(block, "text"))
        case "thinking":
            return text(text_at(block, "thinking"))
        case "redacted_thinking":
            return counter.stretch(len(text_at(block, "data")) // 6, facts.tokens_factor)
        case "tool_use":
            return CALL_TOKENS + text(text_at(block, "name")) + text(encode(block.get("input")).decode())
        case "tool_result":
            inside = blocks_at(block, "content")
            return CALL_TOKENS + sum(block_tokens(each, facts, counter) for each in inside)
        case "image":
            return image_tokens(inspect(text_at(object_at(block, "source"), "data")), most=IMAGE_TOKENS_MAX)
        case "document":
            return _document_tokens(block, facts, counter)
        case "search_result":
            return CALL_TOKENS + text(" ".join(text_at(each, "text") for each in objects_at(block, "content")))
        case "compaction":
            return COMPACTION_TOKENS + text(text_at(block, "content"))
        case "cache_edits":
            return 0
        case _:
            return CALL_TOKENS + text(encode(block).decode())


def _document_tokens(block: JsonObject, facts: ModelFacts, counter: TokenCounter) -> int:
    source = object_at(block, "source")
    frame = CALL_TOKENS + counter.text(text_at(block, "title") + text_at(block, "context"), facts.tokens_factor)
    match source.get("type"):
        case "text":
            return frame + counter.text(text_at(source, "data"), facts.tokens_factor)
        case "content":
            return frame + sum(block_tokens(each, facts, counter) for each in blocks_at(source, "content"))
        case "base64":
            media = inspect(text_at(source, "data"))
            return frame + PDF_PAGE_TOKENS * (media.pages if media else 1)
        case _:
            return frame + PDF_PAGE_TOKENS


TextCount: TypeAlias = Callable[[str], int]

SKEW_RANGE = (0.9, 1.15)
_OLD_TOKENIZER = 1.1
"""Tokens of the provider's older models per token of the counting vocabulary, from recorded prose."""
_ROUGH_TOKEN = re.compile(r"\w{1,5}|[^\w\s]{1,2}|\s+(?=\s)|\n", re.UNICODE)


class TokenCounter:
    """Counts text for one run."""

    seed: int
    skew: float
    """By how much this run's tokens are smaller or larger than usual."""

    def __init__(self, seed: int, *, count_text: TextCount | None = None, skew: float | None = None) -> None:
        self.seed = seed
        self.skew = random.Random(seed).uniform(*SKEW_RANGE) if skew is None else skew
        self._count = count_text or best_text_count()

    def text(self, text: str, factor: float = 1.0) -> int:
        """Tokens of a text for a model with the given factor."""
        return self.stretch(self._count(text), factor) if text else 0

    def stretch(self, tokens: int, factor: float) -> int:
        """What a plain count is in this run."""
        return ceil(tokens * _OLD_TOKENIZER * factor * self.skew)

    def warm(self) -> None:
        """Build the tokenizer's tables now, which takes up to a second, instead of at the first request."""
        self._count("warm")


def best_text_count() -> TextCount:
    """`toktok` when it is installed, else the rough pattern."""
    try:
        from toktok import batch_count
    except ImportError:
        return rough_text_count

    def count(text: str) -> int:
        try:
            return int(batch_count([text], "o200k_base", 1)[0])
        except UnicodeEncodeError:
            return rough_text_count(text)

    return count


def rough_text_count(text: str) -> int:
    """Pieces of up to five letters, runs of signs, and two tokens for each letter of a script without spaces."""
    dense = sum(1 for letter in text if letter > "\u2e7f")
    return dense + sum(1 for _ in _ROUGH_TOKEN.finditer(text))
