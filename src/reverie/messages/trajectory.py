"""Reads runs of mini-swe-agent as entries, and detects the format of a recording.

A trajectory is one JSON document whose model answers with a shell command in a fenced block and whose user messages
are the outputs. Such a pair is read as a call of `Bash` and its result, because that is what it was; the words stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from reverie.errors import Damaged
from reverie.messages.blocks import Block, Text, ToolResult, ToolUse
from reverie.messages.codec import decode_json
from reverie.messages.entries import AssistantEntry, Entry, Envelope, PromptEntry, SystemBlock, UserEntry
from reverie.messages.message import Message, Role
from reverie.messages.transcript import read_entries

_COMMAND = re.compile(r"```(?:bash|sh|shell|mswea_bash_command)\s*\n(.*?)\n?```", re.DOTALL)
_OUTPUT = re.compile(r"\s*<returncode>(-?\d+)</returncode>")


def read_recording(path: Path) -> list[Entry]:
    """The entries of a recorded session: a transcript in lines, or a trajectory in one document."""
    if path.suffix != ".json":
        return read_entries(path)
    try:
        document = decode_json(path.read_bytes())
        return list(_entries(document["messages"], path.stem))
    except (ValueError, KeyError, TypeError) as problem:
        raise Damaged(
            f"{path} is not a transcript or trajectory ({problem}); name a .jsonl transcript", path=path
        ) from None


def _entries(messages: list[Mapping[str, Any]], session: str) -> Iterator[Entry]:
    parent: str | None = None
    open_call: str | None = None
    for number, message in enumerate(messages):
        envelope = Envelope(f"{number}-{session}", parent, session, "")
        parent = envelope.uuid
        text = _text(message["content"])
        match message["role"]:
            case "system":
                yield PromptEntry(envelope, (SystemBlock(text, "static"),), ())
            case "assistant":
                content, open_call = _reply(text, number)
                yield AssistantEntry(envelope, Message(Role.ASSISTANT, content), f"{number}-reply-{session}")
            case _:
                yield UserEntry(envelope, Message(Role.USER, (_answer(text, open_call),)))
                open_call = None


def _reply(text: str, number: int) -> tuple[tuple[Block, ...], str | None]:
    match = _COMMAND.search(text)
    if match is None:
        return (Text(text),), None
    call = f"call_{number}"
    prose = text[: match.start()].rstrip() + text[match.end() :].rstrip()
    blocks: tuple[Block, ...] = (ToolUse(call, "Bash", {"command": match[1]}),)
    return ((Text(prose), *blocks) if prose.strip() else blocks), call


def _answer(text: str, call: str | None) -> Block:
    if call is None:
        return Text(text)
    status = _OUTPUT.match(text)
    return ToolResult(call, text, is_error=status is not None and status[1] != "0")


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    raise TypeError("a message holds text or parts")
