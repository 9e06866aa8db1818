"""What a tool call would do, as a value that a policy can judge without knowing the tool."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from reverie.values import value


class Act(StrEnum):
    """The kinds of effect that rules distinguish."""

    NONE = "none"
    """Touches nothing outside the conversation: a task list, a question to memory."""
    READ = "read"
    """Reads files or lists folders."""
    EDIT = "edit"
    """Creates or changes files."""
    RUN = "run"
    """Runs a shell command."""
    FETCH = "fetch"
    """Asks a server on the network."""
    OTHER = "other"
    """A tool of an MCP server, whose effects are unknown."""


@value
class Need:
    """What one call would do."""

    tool: str
    """The tool's name as rules spell it: `Bash`, `Edit`, `mcp__server__tool`."""
    act: Act
    paths: tuple[Path, ...] = ()
    """Files and folders that it would touch, absolute, links not yet followed."""
    command: str = ""
    """The shell command of a `RUN`."""
    url: str = ""
    """The address of a `FETCH`."""
    subject: str = ""
    """What a rule of another tool may name: the skill, the agent type."""
    directory: Path | None = None
    """Where the command would run."""
    summary: str = ""
    """One line for people: `Edit src/app.py`."""
    preview: str = ""
    """What a person should see before saying yes: a unified diff, the command, the address."""
