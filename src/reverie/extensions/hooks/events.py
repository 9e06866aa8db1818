"""The events at which the user's scripts may speak, and what each event makes of their words (spec 8 §1.8)."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Refusal(Enum):
    """What exit code 2 does."""

    BLOCKS = "the event does not happen"
    TELLS_MODEL = "too late to block; the model reads why"
    TELLS_USER = "only the user reads it"
    IGNORED = "nobody reads it"


class Event(NamedTuple):
    """One event."""

    name: str
    subject: str = ""
    """The field of the payload that matchers look at; empty when every hook runs."""
    refusal: Refusal = Refusal.TELLS_USER
    takes_context: bool = False
    """`additionalContext` reaches the model."""
    takes_stdout: bool = False
    """So does plain output."""
    takes_decision: bool = False
    """A `decision` of `block` counts."""
    has_env_file: bool = False
    """Hooks may leave variables for later commands in the file that `CLAUDE_ENV_FILE` names."""
    is_about_tool: bool = False


_TOOL = "tool_name"

EVENTS: dict[str, Event] = {
    event.name: event
    for event in (
        Event("SessionStart", "source", takes_context=True, takes_stdout=True, has_env_file=True),
        Event("Setup", "trigger", takes_context=True, has_env_file=True),
        Event("InstructionsLoaded", "load_reason", Refusal.IGNORED),
        Event("UserPromptSubmit", "", Refusal.BLOCKS, takes_context=True, takes_stdout=True, takes_decision=True),
        Event(
            "UserPromptExpansion",
            "command_name",
            Refusal.BLOCKS,
            takes_context=True,
            takes_stdout=True,
            takes_decision=True,
        ),
        Event("MessageDisplay"),
        Event("PreToolUse", _TOOL, Refusal.BLOCKS, takes_context=True, takes_decision=True, is_about_tool=True),
        Event("PermissionRequest", _TOOL, is_about_tool=True),
        Event("PermissionDenied", _TOOL, is_about_tool=True),
        Event("PostToolUse", _TOOL, Refusal.TELLS_MODEL, takes_context=True, takes_decision=True, is_about_tool=True),
        Event("PostToolUseFailure", _TOOL, Refusal.TELLS_MODEL, takes_context=True, is_about_tool=True),
        Event("PostToolBatch", "", Refusal.BLOCKS, takes_context=True, takes_decision=True),
        Event("Notification", "notification_type"),
        Event("SubagentStart", "agent_type", takes_context=True),
        Event("SubagentStop", "agent_type", Refusal.BLOCKS, takes_context=True, takes_decision=True),
        Event("TaskCreated", "", Refusal.BLOCKS, takes_decision=True),
        Event("TaskCompleted", "", Refusal.BLOCKS),
        Event("Stop", "", Refusal.BLOCKS, takes_context=True, takes_decision=True),
        Event("StopFailure", "error", Refusal.IGNORED),
        Event("TeammateIdle", "", Refusal.BLOCKS),
        Event("ConfigChange", "source", Refusal.BLOCKS, takes_decision=True),
        Event("CwdChanged", has_env_file=True),
        Event("DirectoryAdded", "source"),
        Event("FileChanged", "file_path", has_env_file=True),
        Event("WorktreeCreate", "", Refusal.BLOCKS),
        Event("WorktreeRemove"),
        Event("PreCompact", "trigger", Refusal.BLOCKS, takes_decision=True),
        Event("PostCompact", "trigger"),
        Event("Elicitation", "mcp_server_name", Refusal.BLOCKS),
        Event("ElicitationResult", "mcp_server_name", Refusal.BLOCKS),
        Event("SessionEnd", "reason"),
    )
}
