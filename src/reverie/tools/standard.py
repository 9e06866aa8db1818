"""The standard tools of every agent: the same ones in the same order for the same arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.settings import Settings
from reverie.tools.bash import Bash, BashOutput, KillShell, ReadOnly, never_concurrent
from reverie.tools.edit import Edit
from reverie.tools.glob import Glob
from reverie.tools.grep import Grep
from reverie.tools.plan import ExitPlanMode
from reverie.tools.read import Read
from reverie.tools.remember import RecallMemory, SaveMemory
from reverie.tools.shells import Shells
from reverie.tools.span import ReadSpan, RecallSpan
from reverie.tools.tasks import TodoWrite
from reverie.tools.tool import Tool
from reverie.tools.write import Write

if TYPE_CHECKING:
    from reverie.memory.memory import Memory
    from reverie.memory.store.topic_store import Store
    from reverie.tools.page_fetch import Fetch
    from reverie.tools.web_search import Search


def standard_tools(
    settings: Settings,
    shells: Shells,
    *,
    is_read_only: ReadOnly = never_concurrent,
    ripgrep: str | None = None,
    memory: Memory | None = None,
    session: str = "",
    memory_store: Store | None = None,
    read_span: ReadSpan | None = None,
    fetch: Fetch | None = None,
    search: Search | None = None,
) -> tuple[Tool, ...]:
    """The tools for what is at hand; `shells` belongs to the caller, who closes it at the end of the session.

    `ripgrep` is the path of that program; `memory_store` adds the provider's own memory tool; `search` is how
    the web is searched, where the provider does that.
    """
    tools: list[Tool] = [
        Bash(shells, is_read_only),
        BashOutput(shells),
        KillShell(shells),
        Read(),
        Write(),
        Edit(),
        Glob(),
        Grep(ripgrep),
        TodoWrite(),
        ExitPlanMode(),
    ]
    if settings.tools.web_fetch:
        from reverie.tools.page_fetch import fetch_page
        from reverie.tools.web_fetch import WebFetch

        tools.append(WebFetch(fetch or fetch_page))
    if search is not None:
        from reverie.tools.web_search import WebSearch

        tools.append(WebSearch(search))
    if memory is not None:
        tools += [SaveMemory(), RecallMemory(memory, session)]
    if read_span is not None:
        tools.append(RecallSpan(read_span))
    if memory_store is not None:
        from reverie.tools.memory_files import MemoryFiles

        tools.append(MemoryFiles(memory_store))
    return tuple(tools)
