"""Recorded requests with the input tokens that were billed for them, and the published pairs of lengths and tokens."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.tokens.series import Errors
from reverie.messages.codec import message_from_wire, tool_from_wire
from reverie.messages.entries import SystemBlock, ToolSpec
from reverie.messages.message import Message, user
from reverie.models.profiles import profile
from reverie.models.tokens.estimate import weigh_request, weigh_text
from reverie.models.tokens.rates import rates_for

THINKING_PROMPT_TOKENS = 26
"""What asking for reasoning adds, in both recordings that have it."""
DROPPED_CHARS_PER_TOKEN = 15
"""A request with more characters per billed token was cut by the provider itself before it was billed."""
_PROSE = (
    "The importer reads every file of the folder, checks its header and writes one row for each record that it finds. "
    "When a record is damaged it is skipped, and the report at the end names the file, the line and the reason. "
)
_SCHEMA = '{"type":"object","properties":{"query":{"type":"string"}},"required":["query"],"additionalProperties":false}'
_TOOL_CHARS = 180
"""A small tool definition."""


def recorded(folder: Path) -> list[tuple[str, int, int]]:
    """Name, estimated and billed tokens of every recorded request whose body and price are both known."""
    found = []
    for path in sorted(folder.glob("test_*.json")):
        for exchange in json.loads(path.read_text(encoding="utf-8")):
            body, billed = _request(exchange), _billed(exchange["response"])
            if body is None or not billed:
                continue
            estimate = _estimate(body)
            if estimate / billed < DROPPED_CHARS_PER_TOKEN:
                found.append((path.stem, estimate, billed))
    return found


def published(path: Path) -> list[tuple[str, int, int]]:
    """Name, estimated and billed tokens of the published pairs, which give only lengths.

    Prose and schemas of those lengths are weighed; each further request of one recording holds one tool round more.
    """
    found: list[tuple[str, int, int]] = []
    for pair in json.loads(path.read_text(encoding="utf-8"))["http"]:
        chars, tool_chars, billed = pair["text_chars"], pair["tools_json_chars"], pair["input_tokens"]
        if chars / billed > DROPPED_CHARS_PER_TOKEN or not chars:
            continue
        facts = profile(pair["model"] or "claude-sonnet-4-5")
        estimate = weigh_request(facts, tools=_tools(tool_chars), messages=(user(_filler(_PROSE, chars)),))
        earlier = sum(name == pair["cassette"] for name, _, _ in found)
        if tool_chars:
            rates = rates_for(facts)
            estimate += round(earlier * (rates.call + rates.parameter + rates.result + 2 * rates.message))
        found.append((pair["cassette"], estimate, billed))
    return found


def _tools(chars: int) -> tuple[ToolSpec, ...]:
    """Tools whose definitions together have this many characters as JSON."""
    number = max(1, round(chars / _TOOL_CHARS))
    each = chars // number - len(_SCHEMA)
    schema = json.loads(_SCHEMA)
    return (ToolSpec("look_up", _filler(_PROSE, max(each, 0)), schema),) * number if chars else ()


def _filler(text: str, chars: int) -> str:
    return (text * (chars // len(text) + 1))[:chars]


def by_bytes(path: Path) -> Errors:
    """The published pairs by the rule of four characters to a token."""
    pairs = json.loads(path.read_text(encoding="utf-8"))["http"]
    kept = [pair for pair in pairs if pair["text_chars"] and pair["text_chars"] / pair["input_tokens"] <= 15]
    return Errors(
        tuple((pair["text_chars"] + pair["tools_json_chars"]) / 4 / pair["input_tokens"] - 1 for pair in kept)
    )


def answers(folder: Path) -> list[tuple[str, int, int]]:
    """Name, estimated and billed output tokens of recorded answers that are one text."""
    found = []
    for path in sorted(folder.glob("test_*.json")):
        for exchange in json.loads(path.read_text(encoding="utf-8")):
            body, reply = _request(exchange), exchange["response"]["body"]
            if body is None or not isinstance(reply, dict) or "usage" not in reply or len(reply["content"]) != 1:
                continue
            text, billed = reply["content"][0].get("text"), reply["usage"]["output_tokens"]
            if text and billed > 50:
                rates = rates_for(profile(body["model"]))
                found.append((path.stem, round(weigh_text(text, rates)), billed))
    return found


def errors(pairs: list[tuple[str, int, int]]) -> Errors:
    return Errors(tuple(estimate / billed - 1 for _, estimate, billed in pairs))


def _request(exchange: dict[str, Any]) -> dict[str, Any] | None:
    request = exchange["request"]
    body = request["body"]
    if exchange["response"]["status"] != 200 or not isinstance(body, dict):
        return None
    if "invokeModel" in body.get("input", {}):
        body = json.loads(base64.b64decode(body["input"]["invokeModel"]["body"]))
    if "model" not in body:
        body = {**body, "model": request["uri"].split("/model/")[1].split("/")[0]}
    return body if "messages" in body else None


def _estimate(body: dict[str, Any]) -> int:
    system = body.get("system") or ()
    blocks = (SystemBlock(system),) if isinstance(system, str) else tuple(SystemBlock(one["text"]) for one in system)
    messages: tuple[Message, ...] = tuple(message_from_wire(one) for one in body["messages"])
    tools = tuple(tool_from_wire(one) for one in body.get("tools", ()))
    thinking = THINKING_PROMPT_TOKENS if body.get("thinking") else 0
    return thinking + weigh_request(profile(body["model"]), system=blocks, tools=tools, messages=messages)


def _billed(response: dict[str, Any]) -> int | None:
    body = response["body"]
    if "string" in body:
        return next(
            (_context(event["message"]["usage"]) for event in _events(body["string"]) if "message" in event), None
        )
    if "usage" in body:
        first: dict[str, Any] = (body["usage"].get("iterations") or [body["usage"]])[0]
        return _context(first)
    counted = body.get("input_tokens") or body.get("inputTokens")
    return int(counted) if counted else None


def _events(stream: str) -> Iterator[dict[str, Any]]:
    for line in stream.splitlines():
        if line.startswith("data:"):
            yield json.loads(line[5:])


def _context(usage: dict[str, Any]) -> int:
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return sum(int(usage.get(name) or 0) for name in names)
