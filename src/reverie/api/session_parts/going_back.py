"""Going back in a session: the conversation, the files that its tools changed, or both.

Memories are files that belong to the store: what tools write there is noted after the fact, and put back by a commit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from reverie.agent.file_history import FileHistory, Return
from reverie.memory.history.tracked import is_topic_path
from reverie.memory.store import Store
from reverie.messages.blocks import JsonObject
from reverie.messages.entries import ToolSpec
from reverie.permissions.need import Need
from reverie.tools.desk import Desk
from reverie.tools.tool import Answer, Tool

RESTORED_KIND = "files_restored"
MEMORY_TOOLS = ("SaveMemory", "memory")


@dataclass(frozen=True, slots=True)
class NotedTool:
    """A tool that writes memories through the store; what it did is noted."""

    tool: Tool
    files: FileHistory
    directory: Path

    @property
    def spec(self) -> ToolSpec:
        return self.tool.spec

    def need(self, given: JsonObject, desk: Desk) -> Need:
        return self.tool.need(given, desk)

    def is_concurrent(self, given: JsonObject, desk: Desk) -> bool:
        return self.tool.is_concurrent(given, desk)

    async def run(self, given: JsonObject, desk: Desk) -> Answer:
        if self.tool.is_concurrent(given, desk):
            return await self.tool.run(given, desk)
        with self.files.noting(self.directory, is_topic_path):
            return await self.tool.run(given, desk)


def noted(tools: Iterable[Tool], files: FileHistory, directory: Path) -> tuple[Tool, ...]:
    """The tools, those that write memories noted."""
    return tuple(NotedTool(tool, files, directory) if tool.spec.name in MEMORY_TOOLS else tool for tool in tools)


def put_back(
    files: FileHistory, returns: Iterable[Return], directory: Path, store: Callable[[], Store], session: str
) -> tuple[Path, ...]:
    """Bring files back, memories through their store; the paths of those that were brought back."""

    def write(path: Path, content: bytes | None) -> bool:
        if not path.is_relative_to(directory):
            return False
        name = path.relative_to(directory).as_posix()
        if is_topic_path(name):
            text = content.decode("utf-8", "replace") if content is not None else None
            store().write_files({name: text}, author="user", reason="rewind", session=session)
        # The index and whatever else lies there follows the topics.
        return True

    return files.put_back(returns, write)


def restored_words(paths: Iterable[Path]) -> str:
    """What the model is told when files went back and the conversation did not."""
    names = "\n".join(f"- {path}" for path in paths)
    return f"The user brought these files back to an earlier state; read them again before you rely on them:\n{names}"
