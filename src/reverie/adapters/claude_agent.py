"""Hooks for the Claude Agent SDK: `ClaudeAgentOptions(hooks=memory_hooks(memory))`.

With each prompt the agent gets what is remembered that matters for it, once per session, and the prompt is learnt from.
For tools that recall and save, add the MCP server: `mcp_servers={"reverie": {"command": "reverie", "args": ["mcp"]}}`.
"""

from __future__ import annotations

import asyncio
from typing import Any

from reverie.adapters import refuse_missing
from reverie.memory.conversation import ConversationMemory
from reverie.memory.memory import Memory

try:
    from claude_agent_sdk import HookContext, HookMatcher
    from claude_agent_sdk.types import HookEvent, HookInput, HookJSONOutput
except ImportError as problem:
    refuse_missing("claude-agent-sdk", "claude-agent", problem)

__all__ = ["memory_hooks"]

_SESSIONS = 64
"""Of how many sessions it is kept what was shown in them."""


def memory_hooks(memory: Memory) -> dict[HookEvent, list[HookMatcher]]:
    """The hooks that recall and learn; merge them with your own."""
    conversations: dict[str, ConversationMemory] = {}

    async def recall(given: HookInput, _: str | None, __: HookContext) -> HookJSONOutput:
        fields: dict[str, Any] = dict(given)
        session, prompt = str(fields.get("session_id", "")), str(fields.get("prompt", ""))
        if session not in conversations:
            if len(conversations) >= _SESSIONS:
                del conversations[next(iter(conversations))]
            conversations[session] = memory.follow_conversation(session)
        conversation = conversations[session]
        conversation.learn(prompt)
        recalled = await asyncio.to_thread(conversation.recall, prompt)
        if not recalled:
            return {}
        return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": recalled}}

    return {"UserPromptSubmit": [HookMatcher(hooks=[recall])]}
