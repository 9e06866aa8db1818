"""A request's bytes as JSON, or the provider's words for why they are none."""

from __future__ import annotations

import json
import re

import msgspec

from reverie.messages.blocks import Json
from reverie_simulator.api_error import ApiError, invalid

_SURROGATES = re.compile(r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>\\u[dD][89a-fA-F])")
"""Escaped backslashes and whole pairs are stepped over, so that what is left over is a half."""
_WORDS = {
    "Expecting value": "unexpected character",
    "Expecting property name enclosed in double quotes": "unexpected character",
    "Expecting ',' delimiter": "unexpected character",
    "Expecting ':' delimiter": "unexpected character",
    "Illegal trailing comma before end of object": "unexpected character",
    "Illegal trailing comma before end of array": "unexpected character",
    "Unterminated string starting at": "unexpected end of data",
    "Extra data": "unexpected content after document",
    "Invalid control character at": "unexpected control character in string",
    "Invalid \\escape": "invalid escape sequence in string",
    "Invalid \\uXXXX escape": "invalid escaped sequence in string",
}


def parse_body(raw: bytes) -> Json | ApiError:
    """The value that the bytes spell."""
    try:
        value: Json = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return invalid(f"The request body is not valid JSON: {_reason(raw)}")
    return value


def _reason(raw: bytes) -> str:
    """The parser says where; the provider's words and counting (line, column, character) are put around it."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return "str is not valid UTF-8: surrogates not allowed: line 1 column 1 (char 0)"
    try:
        json.loads(text)
    except json.JSONDecodeError as problem:
        at_end = problem.pos >= len(text.rstrip())
        words = "unexpected end of data" if at_end else _WORDS.get(problem.msg, "unexpected character")
        return f"{words}: line {problem.lineno} column {problem.colno} (char {problem.pos})"
    except RecursionError:
        return "recursion limit exceeded: line 1 column 1 (char 0)"
    lone = next((found for found in _SURROGATES.finditer(text) if found["lone"]), None)
    place = lone.start() if lone else 0
    line = text.count("\n", 0, place) + 1
    column = place - text.rfind("\n", 0, place)
    words = "no low surrogate in string" if lone else "unexpected character"
    return f"{words}: line {line} column {column} (char {place})"
