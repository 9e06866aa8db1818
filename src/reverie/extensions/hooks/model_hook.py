"""Hooks that ask a model: the question as a flow, and parsing the answer. Without a model they allow."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files

from reverie.errors import Unavailable
from reverie.extensions.hooks.events import Event
from reverie.extensions.hooks.output import verdict_from_model
from reverie.extensions.hooks.verdict import HookVerdict
from reverie.messages.blocks import JsonObject
from reverie.messages.message import Usage, assistant
from reverie.models.ports import Ask, Flow, Reply

PURPOSE = "hook"
_MAX_TOKENS = 1_024
_ARGUMENTS = "$ARGUMENTS"
_POINTER = "(the data in <event> below)"
_NO_OBJECTION = '{"ok": true}'
_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}, "reason": {"type": "string"}},
    "required": ["ok"],
    "additionalProperties": False,
}


def question(event: Event, rule: str, facts: str) -> str:
    """The whole prompt. `$ARGUMENTS` points at the event's data, which stay where they cannot pass for the rule."""
    values = {"rule": rule.replace(_ARGUMENTS, _POINTER), "event": event.name, "facts": _escape_event_end(facts)}
    return re.sub(r"\{\{(\w+)\}\}", lambda match: values[match[1]], _prompt())


def judgement(event: Event, label: str, rule: str, facts: str, *, timeout_seconds: float) -> Flow[HookVerdict]:
    """Ask whether the work may go on."""
    reply = yield Ask(
        PURPOSE,
        question(event, rule, facts),
        embedded=lambda: _NO_OBJECTION,
        max_tokens=_MAX_TOKENS,
        output_schema=_SCHEMA,
        timeout_seconds=timeout_seconds,
    )
    return read_judgement(event, label, reply.text)


def read_judgement(event: Event, label: str, text: str) -> HookVerdict:
    """What the answer means. Raises `Unavailable` when it is none."""
    match = re.search(r"\{.*\}", text, re.DOTALL)
    try:
        answer = json.loads(match[0]) if match else None
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict) or not isinstance(answer.get("ok"), bool):
        raise Unavailable(f"its model did not answer the question: {text[:200]!r}")
    return verdict_from_model(event, label, ok=answer["ok"], reason=str(answer.get("reason") or ""))


async def without_model(flow: Flow[HookVerdict], _: str) -> HookVerdict:
    """Drive a flow by the answers it carries itself."""
    try:
        ask = next(flow)
        while True:
            ask = flow.send(Reply(assistant(ask.embedded()), Usage(), "end_turn", "embedded"))
    except StopIteration as end:
        verdict: HookVerdict = end.value
        return verdict


@cache
def _prompt() -> str:
    text = (files("reverie.extensions.hooks") / "prompts" / "judge.md").read_text(encoding="utf-8")
    return re.sub(r"\A\s*<!--.*?-->\s*", "", text, count=1, flags=re.DOTALL)


def _escape_event_end(facts: str) -> str:
    """Data cannot end the element it stands in."""
    return facts.replace("</event>", "<\\/event>")
