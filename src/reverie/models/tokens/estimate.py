"""Estimates the tokens of texts, blocks, messages, tools and views without a network.

Pure arithmetic over `pieces`, `media` and `rates`: the same value always weighs the same. Only what is sent is weighed.
How the estimate is anchored on what the provider reported, and how it learns from that, is told in `count`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from reverie.messages.blocks import (
    Block,
    CompactionBlock,
    DocumentBlock,
    Image,
    Json,
    Opaque,
    RedactedThinking,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from reverie.messages.codec import encode_json
from reverie.messages.entries import SystemBlock, ToolSpec
from reverie.messages.message import Message
from reverie.messages.view import View
from reverie.models.profiles import Profile
from reverie.models.tokens.media import FLAT_MEDIA_TOKENS, image_tokens, pdf_tokens
from reverie.models.tokens.rates import Rates, pieces, rates_for

REDACTED_CHARS_PER_TOKEN = 10
"""Hidden reasoning comes encrypted and encoded; measured on a recorded exchange."""

_BUILT_IN_TOOLS = {
    "memory": 1_220,
    "code_execution": 1_740,
    "text_editor": 700,
    "str_replace": 700,
    "computer": 735,
    "bash": 245,
    "web_search": 1_000,
    "web_fetch": 1_000,
}
"""Tools that the provider describes itself, by the beginning of their type; from recordings and vendor pages."""


def weigh_text(text: str, rates: Rates) -> float:
    """Tokens of a bare text, without framing."""
    return rates.tokens(pieces(text))


def weigh_json(value: Json, rates: Rates) -> float:
    """Tokens of a value as JSON; a string is weighed as it is, because models see parameters without quotes."""
    return weigh_text(value if isinstance(value, str) else _json(value), rates)


def weigh_block(block: Block, rates: Rates) -> float:
    """Tokens of one block with its framing."""
    match block:
        case Text():
            return weigh_text(block.text, rates)
        case Thinking():
            return weigh_text(block.thinking, rates)
        case RedactedThinking():
            return len(block.data) / REDACTED_CHARS_PER_TOKEN
        case ToolUse():
            return rates.call + sum(rates.parameter + weigh_json(value, rates) for value in block.input.values())
        case ToolResult():
            if isinstance(block.content, str):
                return rates.result + weigh_text(block.content, rates)
            return rates.result + sum(weigh_block(part, rates) for part in block.content)
        case Image():
            return image_tokens(
                block.source, long_edge_pixels=rates.image_long_edge_pixels, most_tokens=rates.image_most_tokens
            )
        case DocumentBlock():
            return _document(block, rates)
        case CompactionBlock():
            return weigh_text(block.content or "", rates)
        case Opaque():
            return weigh_text(_json(dict(block.wire)), rates)
        case _:
            assert_never(block)


def weigh_message(message: Message, rates: Rates) -> float:
    """Tokens of a message with its framing."""
    return rates.message + sum(weigh_block(block, rates) for block in message.content)


def weigh_tool(tool: ToolSpec, rates: Rates) -> float:
    """Tokens of one tool definition."""
    kind = str(tool.extra.get("type", ""))
    for beginning, tokens in _BUILT_IN_TOOLS.items():
        if kind.startswith(beginning):
            return tokens
    return (
        rates.tool + weigh_text(f"{tool.name} {tool.description}", rates) + weigh_json(dict(tool.input_schema), rates)
    )


def weigh_request(
    facts: Profile,
    *,
    system: Iterable[SystemBlock] = (),
    tools: Iterable[ToolSpec] = (),
    messages: Iterable[Message] = (),
    rates: Rates | None = None,
) -> int:
    """Tokens of a whole request, with what the provider puts around tools."""
    rates = rates or rates_for(facts)
    total = rates.request + sum(weigh_text(block.text, rates) for block in system)
    tool_weights = [weigh_tool(tool, rates) for tool in tools]
    if tool_weights:
        total += facts.tool_prompt_tokens + sum(tool_weights)
    spoken = [weigh_message(message, rates) for message in messages]
    return round(total + sum(spoken)) if spoken or total > rates.request else 0


def weigh_view(view: View, facts: Profile, rates: Rates | None = None) -> int:
    """Tokens of everything a view would send, from nothing but the view."""
    return weigh_request(facts, system=view.system, tools=view.tools, messages=view.messages, rates=rates)


def _document(block: DocumentBlock, rates: Rates) -> float:
    source = block.source
    match source.get("type"):
        case "text":
            return weigh_text(str(source.get("data", "")), rates)
        case "content":
            return weigh_json(source.get("content"), rates)
        case "base64":
            return pdf_tokens(source)
        case _:
            return FLAT_MEDIA_TOKENS


def _json(value: Json) -> str:
    return encode_json(value).decode("utf-8", "surrogatepass")
