"""Hook events of other agents in one form, and answers in the form that each agent takes.

An agent starts a program and writes the event as JSON to its standard input. The keys and names of events differ, and
so does the answer that puts text before the model: Codex rejects unknown keys, Copilot takes a flat object only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from reverie.patterns import lazy_regex
from reverie.values import value

AGENTS = ("claude-code", "codex", "copilot", "opencode", "qwen", "gemini", "cursor", "cline", "goose")
"""Agents that `reverie install` knows."""
TAG = "reverie-memory"
"""Bounds of what a hook tells the model; learning leaves out what stands between them."""

_BOUND = lazy_regex(rf"<(?=\W{{0,3}}{TAG})", re.IGNORECASE)


class HookMoment(StrEnum):
    """What an event means to a memory."""

    START = "start"
    PROMPT = "prompt"
    BEFORE_COMPACTION = "before compaction"
    AFTER_COMPACTION = "after compaction"
    STOP = "stop"
    END = "end"


MOMENTS: Mapping[str, HookMoment] = {
    "sessionstart": HookMoment.START,
    "userpromptsubmit": HookMoment.PROMPT,
    "userpromptsubmitted": HookMoment.PROMPT,
    "beforeagent": HookMoment.PROMPT,
    "precompact": HookMoment.BEFORE_COMPACTION,
    "precompress": HookMoment.BEFORE_COMPACTION,
    "postcompact": HookMoment.AFTER_COMPACTION,
    "stop": HookMoment.STOP,
    "agentstop": HookMoment.STOP,
    "afteragent": HookMoment.STOP,
    "sessionend": HookMoment.END,
}
"""Names of events in lower case, as the agents call them."""


@value
class HookEvent:
    """One event, whoever sent it."""

    agent: str
    """Who sent it and reads the answer."""
    name: str
    """As the agent calls it."""
    moment: HookMoment | None
    """None for an event that a memory has no use for."""
    session: str = ""
    prompt: str = ""
    prompt_id: str = ""
    """Empty where the agent has none."""
    cwd: str = ""
    transcript: str = ""
    source: str = ""
    """What started the session: `startup`, `resume`, `clear`, `compact`."""
    named_agent: str = ""
    """For whom the hook was installed; another agent may run it too."""
    is_subagent: bool = False


@value
class HookAnswer:
    """What the model and the user are told."""

    context: str = ""
    message: str = ""
    """A line for the user."""


def read_event(name: str, payload: Mapping[str, Any], environ: Mapping[str, str], named_agent: str = "") -> HookEvent:
    """The event that an agent sent; `named_agent` is what the installed command says."""
    caller = find_caller(payload, environ)
    agent = caller if caller and named_agent in ("", "claude-code") else named_agent or "claude-code"
    said = str(name or payload.get("hook_event_name") or "")
    roots = payload.get("workspace_roots")
    return HookEvent(
        agent=agent,
        name=said,
        moment=MOMENTS.get(said.lower()),
        session=_text(payload, "session_id", "sessionId", "conversation_id"),
        prompt=_text(payload, "prompt"),
        prompt_id=_text(payload, "prompt_id", "turn_id", "promptId", "generation_id"),
        cwd=_text(payload, "cwd", "directory") or (str(roots[0]) if isinstance(roots, list) and roots else ""),
        transcript=_text(payload, "transcript_path", "transcriptPath"),
        source=_text(payload, "source"),
        named_agent=named_agent or agent,
        is_subagent=bool(_text(payload, "agent_id", "agentId")),
    )


def find_caller(payload: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """Which agent runs a hook, by signs that only it leaves; empty when there is none.

    The path of the transcript comes first: a variable may come from an agent in whose shell another one was started.
    """
    path = _text(payload, "transcript_path", "transcriptPath").replace("\\", "/")
    for agent, pattern in _TRANSCRIPTS if path else ():
        if re.search(pattern, path):
            return agent
    if "hookName" in payload and "taskId" in payload:
        return "cline"
    variables = (
        ("GEMINI_SESSION_ID", "gemini"),
        ("QWEN_CODE_SESSION_ID", "qwen"),
        ("COPILOT_CLI", "copilot"),
        ("CURSOR_VERSION", "cursor"),
    )
    return next((agent for variable, agent in variables if environ.get(variable)), "")


_TRANSCRIPTS = (
    ("codex", r"/rollout-[^/]*\.jsonl"),
    ("copilot", r"/session-state/[^/]+/events\.jsonl\Z"),
    ("gemini", r"/[^/]+/chats/session-[^/]*\.jsonl?\Z"),
    ("qwen", r"/projects/[^/]+/chats/[^/]+\.jsonl\Z"),
    ("cursor", r"/agent-transcripts/"),
    ("claude-code", r"/projects/[^/]+/[0-9a-f-]{36}\.jsonl\Z"),
)


def render_answer(event: HookEvent, answer: HookAnswer) -> str:
    """The answer as the agent reads it; empty where there is nothing to say, or the event takes nothing."""
    takes_context = event.moment in (HookMoment.START, HookMoment.PROMPT)
    context = answer.context if takes_context else ""
    document: dict[str, Any] = {}
    match event.agent:
        case "opencode":
            context = answer.context
            document = {"context": context, "message": answer.message} if context or answer.message else {}
        case "copilot":
            document = {"additionalContext": context} if context else {}
        case "cursor":
            document = {"additional_context": context} if context else {}
        case _:
            if context:
                document["hookSpecificOutput"] = {"hookEventName": event.name, "additionalContext": context}
            if answer.message:
                document["systemMessage"] = answer.message
    return json.dumps(document, ensure_ascii=False) if document else ""


def shows_messages(agent: str) -> bool:
    """Whether an agent shows its user a line that a hook returns."""
    return agent in ("claude-code", "codex", "qwen", "gemini", "opencode")


def tag_text(text: str) -> str:
    """The text between our bounds, which nothing in it can close."""
    return f"<{TAG}>\n{_BOUND.sub('&lt;', text)}\n</{TAG}>"


def _text(payload: Mapping[str, Any], *keys: str) -> str:
    return next((said for key in keys if isinstance(said := payload.get(key), str) and said), "")
