"""What the parent of a child agent is told, as words for the model and as data in the shape of other writers' files."""

from __future__ import annotations

import re
from pathlib import Path

from reverie.amounts import format_count
from reverie.messages.blocks import Json, JsonObject
from reverie.messages.injection import harmless
from reverie.messages.message import Usage
from reverie.messages.reminder import reminder
from reverie.messages.view import ItemKind, View
from reverie.models.ports import Ending
from reverie.session.events import TurnEnded
from reverie.session.loop import JoinedAttachment
from reverie.session.subagents.children import ENDED_KIND, Child
from reverie.tools.agent import NAME as AGENT_TOOL
from reverie.tools.tool import ToolAnswer

_STARTED = re.compile(r'The agent "(?P<name>[^"\n]*)" \((?P<id>\w+)\) works in the background\.')
"""How `report_started` begins."""


def report_finished(child: Child, ended: TurnEnded, prompt: str, note: str = "") -> ToolAnswer:
    """The report of an agent that was waited for."""
    words = harmless(report(child, ended))
    tokens = ended.usage.context_tokens + ended.usage.output_tokens
    work = f"{format_count(ended.rounds, 'round')}, {format_count(child.count, 'tool call')}"
    spent = f"{work}, {tokens:,} tokens, {ended.seconds:.0f} s"
    parts = [words, note, f"[agent {child.name}, {child.id}: {spent}]"]
    text = "\n\n".join(part for part in parts if part)
    details: JsonObject = {
        "status": child.state.value,
        "prompt": prompt,
        "agentId": child.id,
        "content": [{"type": "text", "text": words}],
        "totalDurationMs": round(ended.seconds * 1000),
        "totalTokens": tokens,
        "totalToolUseCount": child.count,
        "usage": _usage(ended.usage),
    }
    return ToolAnswer(text, is_error=ended.ending in (Ending.FAILED, Ending.CANCELLED), details=details)


def report_started(child: Child, prompt: str, output: Path) -> ToolAnswer:
    """What is said at once of an agent in the background."""
    text = (
        f'The agent "{child.name}" ({child.id}) works in the background. You are told when it ends; until then you '
        f"know nothing of its result. SendMessage reaches it as {child.name!r}."
    )
    details: JsonObject = {
        "isAsync": True,
        "status": "async_launched",
        "agentId": child.id,
        "description": child.title,
        "prompt": prompt,
        "outputFile": str(output),
    }
    return ToolAnswer(text, details=details)


def lost(view: View) -> tuple[JoinedAttachment, ...]:
    """Words on agents that a conversation believes to be at work although nobody runs them any more."""
    calls = {call.id for item in view.items for call in item.message.tool_uses if call.name == AGENT_TOOL}
    ended = "\n".join(item.message.text for item in view.items if item.label == ENDED_KIND)
    joined = []
    for item in view.items:
        for result in item.message.tool_results:
            match = _STARTED.match(result.text) if result.tool_use_id in calls else None
            if match is not None and match["id"] not in ended:
                name, agent_id = match["name"], match["id"]
                words = (
                    f'The background agent "{name}" ({agent_id}) was lost when the session stopped; it left no report.'
                )
                data: JsonObject = {"agentId": agent_id, "name": name, "status": "killed"}
                text = reminder(words)
                joined.append(JoinedAttachment(ENDED_KIND, text, f"agent {name} was lost", data))
    return tuple(joined)


def report(child: Child, ended: TurnEnded) -> str:
    """The last words of an agent; where it did not come to an end, why, and what it said last."""
    if ended.ending is Ending.COMPLETED:
        return ended.text or "(It ended without a word.)"
    items = reversed(child.loop.parts.log.view.items)
    last_text = next((item.message.text for item in items if item.kind is ItemKind.REPLY and item.message.text), "")
    why = f"The agent did not finish: {ended.text}."
    return f"{why} The last that it said:\n\n{last_text}" if last_text else why


def _usage(usage: Usage) -> dict[str, Json]:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
    }
