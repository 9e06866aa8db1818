from __future__ import annotations

import pytest
from hypothesis import given, strategies

from reverie.messages.entries import ToolSpec
from reverie.tools.desk import Desk
from reverie.tools.tool import ToolMistake
from reverie.tools.tool_search import MOST, ToolSearch, chosen
from tests.requirements import requirement
from tests.tools.kit import call, told

WAITING = (
    ToolSpec("mcp__hub__create_issue", "Open a ticket in a repository."),
    ToolSpec("mcp__hub__list_issues", "All tickets."),
    ToolSpec("mcp__mail__send", "Send a letter about an issue."),
)


@requirement("extensions:tool-search:choice")
async def test_tools_are_loaded_by_name_or_by_words(desk: Desk) -> None:
    loaded: list[str] = []
    search = ToolSearch(lambda: WAITING, loaded.extend)

    answer = await call(search, desk, query="select:mcp__mail__send, mcp__nobody__knows")
    assert loaded == ["mcp__mail__send"]
    assert "Send a letter" in told(answer)
    loaded.clear()
    await call(search, desk, query="create issue", max_results=2)
    assert loaded == ["mcp__hub__create_issue", "mcp__hub__list_issues"]


@requirement("extensions:tool-search:choice")
async def test_words_that_nothing_has_load_nothing(desk: Desk) -> None:
    loaded: list[str] = []
    with pytest.raises(ToolMistake, match="other words"):
        await call(ToolSearch(lambda: WAITING, loaded.extend), desk, query="weather")
    assert not loaded


@given(strategies.text(), strategies.integers(1, MOST))
@requirement("extensions:tool-search:choice")
def test_a_query_chooses_few_and_only_what_waits(query: str, most: int) -> None:
    found = chosen(WAITING, query, most)
    assert len(found) <= MOST
    assert {spec.name for spec in found} <= {spec.name for spec in WAITING}
    assert len(found) == len({spec.name for spec in found})
