"""WebSearch: searches the web through the model's provider.

The call is permitted like any other before a word of it leaves; only then a model is asked with the provider's own tool
at hand. What comes back is data: invisible characters go, and nothing in it can pass for a word of the host.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from reverie.errors import Error
from reverie.messages.blocks import Json, JsonObject
from reverie.messages.injection import harmless
from reverie.permissions.need import Act, Need
from reverie.tools.describe import field, make_tool_spec
from reverie.tools.desk import Desk
from reverie.tools.schema import text
from reverie.tools.tool import ToolAnswer, ToolMistake


@dataclass(frozen=True, slots=True)
class WebSearchResult:
    """What a search found."""

    results: tuple[tuple[str, str], ...]
    """Titles and addresses."""
    summary: str
    problem: str = ""
    """Why the provider found nothing, in its own word."""


Search: TypeAlias = Callable[[str, JsonObject], Awaitable[WebSearchResult]]
"""Looks for something; the second argument is what the provider's tool is told besides: which hosts."""


class WebSearch:
    """Searches the web."""

    def __init__(self, search: Search) -> None:
        self._search = search
        hosts: dict[str, Json] = {"type": "array", "items": {"type": "string", "minLength": 1}}
        fields: dict[str, Json] = {
            "query": field("string", "What to look for.", minLength=2),
            "allowed_domains": {**hosts, "description": "Only results of these hosts."},
            "blocked_domains": {**hosts, "description": "No results of these hosts."},
        }
        self.spec = make_tool_spec("WebSearch", "web_search", fields, required=("query",))

    def need(self, arguments: JsonObject, desk: Desk) -> Need:  # noqa: ARG002 - the shape of every tool
        query = text(arguments, "query").strip()
        if arguments.get("allowed_domains") and arguments.get("blocked_domains"):
            raise ToolMistake("Give either `allowed_domains` or `blocked_domains`, not both.")
        return Need("WebSearch", Act.OTHER, subject=query, summary=f"Search the web for {query}", preview=query)

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:  # noqa: ARG002 - the shape of every tool
        return True

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:
        query = text(arguments, "query").strip()
        hosts = {key: arguments[key] for key in ("allowed_domains", "blocked_domains") if arguments.get(key)}
        desk.progress(f"searching the web for {query}")
        started = desk.now()
        try:
            answer = await self._search(query, hosts)
        except Error as problem:
            raise ToolMistake(f"The web was not searched: {problem}") from problem
        results: list[Json] = [{"title": title, "url": url} for title, url in answer.results]
        details: JsonObject = {
            "query": query,
            "results": results,
            "durationSeconds": (desk.now() - started).total_seconds(),
        }
        if not answer.results:
            why = f" ({answer.problem})" if answer.problem else ""
            return ToolAnswer(harmless(f"Nothing was found{why}.\n\n{answer.summary}").strip(), bool(why), details)
        listed = "\n".join(f"- {title} {url}" for title, url in answer.results)
        return ToolAnswer(harmless(f"{listed}\n\n{answer.summary}").strip(), details=details)
