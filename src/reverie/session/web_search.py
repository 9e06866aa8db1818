"""How the web is searched: a question of its own to the model, with the provider's own search tool at hand.

The tool runs on the provider's side and cannot be stopped there, so the model of the conversation never holds it: it
calls `WebSearch`, which is judged and asked like every tool, and only then this question is sent. It is booked as
`web_search`, with what the provider asks for each search.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reverie.messages.blocks import Block, JsonObject, Opaque, Text
from reverie.messages.entries import ToolSpec
from reverie.messages.message import Message, user
from reverie.models.flow import answer
from reverie.models.ports import Model, Request
from reverie.session.prompt_text import prompt_text
from reverie.tools.web_search import Search, WebSearchResult

SEARCH_TOOL = "web_search_20250305"
MAX_SEARCHES = 5
"""How often the provider may search for one call."""
MAX_PAUSES = 3
"""How often a provider that paused in the middle is asked to go on."""


def build_search(model: Model) -> Search:
    """A search that asks this model."""

    async def search(query: str, hosts: JsonObject) -> WebSearchResult:
        tool = ToolSpec("web_search", extra={"type": SEARCH_TOOL, "max_uses": MAX_SEARCHES, **hosts})
        messages = [user(prompt_text("web_search", query=query))]
        blocks: list[Block] = []
        for _ in range(MAX_PAUSES + 1):
            request = Request(model.name, tuple(messages), tools=(tool,), max_tokens=4_096, purpose="web_search")
            reply = await answer(model, request)
            blocks += reply.message.content
            if reply.stop_reason != "pause_turn":
                break
            messages = [messages[0], Message(reply.message.role, tuple(blocks))]
        hits = list(_results(blocks))
        results = dict.fromkeys((_line(one.get("title")), _line(one.get("url"))) for one in hits if one.get("url"))
        problem = next((str(one["error_code"]) for one in hits if "error_code" in one), "")
        text = "".join(block.text for block in blocks if isinstance(block, Text))
        return WebSearchResult(tuple(results), text.strip(), problem)

    return search


def _results(blocks: Iterable[Block]) -> Iterator[Mapping[str, Any]]:
    """What the provider's tool answered: results, or why there are none."""
    for block in blocks:
        if isinstance(block, Opaque) and block.kind == "web_search_tool_result":
            content = block.wire.get("content")
            yield from (one for one in (content if isinstance(content, list) else [content]) if isinstance(one, dict))


def _line(value: object) -> str:
    """A title or an address on one line."""
    return " ".join(str(value or "").split())
