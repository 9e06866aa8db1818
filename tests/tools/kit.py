"""What the tests of the tools share: a desk in a temporary project, and a call as the loop makes it."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from reverie.context.conversation import Conversation
from reverie.memory.memory import Memory
from reverie.messages.blocks import Json
from reverie.session.file_history import FileHistory
from reverie.session.memory_writes import MemoryWrites
from reverie.settings import Settings
from reverie.tools.desk import Desk
from reverie.tools.registry import CheckedTool
from reverie.tools.tool import Tool, ToolAnswer


def desk_at(folder: Path) -> Desk:
    """A desk whose project lies in this folder, with the process's own environment."""
    project = folder.resolve() / "project"
    scratch = folder.resolve() / "scratch"
    project.mkdir(exist_ok=True)
    scratch.mkdir(exist_ok=True)
    return Desk(
        directory=project,
        project=project,
        scratch=scratch,
        settings=Settings(),
        now=lambda: datetime(2026, 3, 1, tzinfo=UTC),
        environment=dict(os.environ),
    )


def give_memory(desk: Desk, memory: Memory) -> Conversation:
    """Let the tools of a desk write memories; returned is the conversation in which they do."""
    numbers = count(1)
    log = Conversation(session="session-1", now=desk.now, new_id=lambda: f"id-{next(numbers)}")
    desk.memories = MemoryWrites(memory, log, FileHistory(log, lambda session: desk.scratch / session, desk.now))
    return log


async def call(tool: Tool, desk: Desk, /, **given: Json) -> ToolAnswer:
    """Judge a call and run it."""
    checked = CheckedTool(tool)
    checked.need(given, desk)
    return await checked.run(given, desk)


def told(answer: ToolAnswer) -> str:
    """The text of an answer."""
    assert isinstance(answer.content, str)
    return answer.content
