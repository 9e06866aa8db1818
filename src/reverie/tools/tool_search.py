"""ToolSearch: schemas of remote tools, loaded when they are needed instead of being sent with every request."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from reverie.messages.blocks import Json, JsonObject
from reverie.messages.entries import ToolSpec
from reverie.permissions.need import Act, Need
from reverie.tools.describe import field, make_tool_spec
from reverie.tools.desk import Desk
from reverie.tools.schema import number, text
from reverie.tools.tool import ToolAnswer, ToolMistake

NAME = "ToolSearch"
MOST = 20
_USUAL = 5
_SELECT = "select:"
_WORD = re.compile(r"[a-z0-9]+")


class ToolSearch:
    """Finds tools that wait, and loads them."""

    def __init__(self, waiting: Callable[[], Sequence[ToolSpec]], load: Callable[[Sequence[str]], None]) -> None:
        """`waiting` are the tools that could be loaded; `load` sees to it that the next request has them."""
        self._waiting = waiting
        self._load = load
        self.spec = make_tool_spec(
            NAME,
            "tool_search",
            {
                "query": field("string", "`select:` and names, or words to look for.", minLength=1),
                "max_results": field("integer", "Most tools to load, by words.", minimum=1, maximum=MOST),
            },
            required=("query",),
        )

    def need(self, arguments: JsonObject, desk: Desk) -> Need:  # noqa: ARG002 - the shape of every tool
        return Need(NAME, Act.NONE, summary=f"Load tools: {text(arguments, 'query')}")

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:  # noqa: ARG002 - the shape of every tool
        return False

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:  # noqa: ARG002 - the shape of every tool
        waiting = self._waiting()
        matches = chosen(waiting, text(arguments, "query"), number(arguments, "max_results", _USUAL))
        if not matches:
            raise ToolMistake(
                f"None of the {len(waiting)} tools that wait has these words. Try other words, or "
                f"`{_SELECT}` with names as they were announced."
            )
        names = [spec.name for spec in matches]
        self._load(names)
        lines = "\n".join(f"- {spec.name}: {_short(spec.description)}" for spec in matches)
        loaded: list[Json] = [*names]
        return ToolAnswer(f"Loaded; you can call them from your next step on:\n{lines}", details={"loaded": loaded})


def chosen(waiting: Sequence[ToolSpec], query: str, most: int) -> list[ToolSpec]:
    """The tools that a query means: by exact names, or the best by words, a name counting for more."""
    if query.strip().lower().startswith(_SELECT):
        names = [name.strip() for name in query.strip()[len(_SELECT) :].split(",")]
        by_name = {spec.name: spec for spec in waiting}
        return [by_name[name] for name in dict.fromkeys(names) if name in by_name][:MOST]
    words = set(_WORD.findall(query.lower()))
    scored = [(_score(spec, words), spec) for spec in waiting]
    return [spec for score, spec in sorted(scored, key=lambda pair: -pair[0]) if score][:most]


def _score(spec: ToolSpec, words: set[str]) -> int:
    name, about = spec.name.lower(), set(_WORD.findall(spec.description.lower()))
    parts = set(_WORD.findall(name.replace("_", " ")))
    return sum(4 * (word in parts) + 2 * (word in name) + (word in about) for word in words)


def _short(description: str, limit_chars: int = 200) -> str:
    line = " ".join(description.split())
    return line if len(line) <= limit_chars else f"{line[:limit_chars]}…"
