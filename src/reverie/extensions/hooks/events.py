"""The hook events, and what a hook's output means for each of them."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class RefusalEffect(Enum):
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
    refusal: RefusalEffect = RefusalEffect.TELLS_USER
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
        Event("InstructionsLoaded", "load_reason", RefusalEffect.IGNORED),
        Event("UserPromptSubmit", "", RefusalEffect.BLOCKS, takes_context=True, takes_stdout=True, takes_decision=True),
        Event(
            "UserPromptExpansion",
            "command_name",
            RefusalEffect.BLOCKS,
            takes_context=True,
            takes_stdout=True,
            takes_decision=True,
        ),
        Event("MessageDisplay"),
        Event("PreToolUse", _TOOL, RefusalEffect.BLOCKS, takes_context=True, takes_decision=True, is_about_tool=True),
        Event("PermissionRequest", _TOOL, is_about_tool=True),
        Event("PermissionDenied", _TOOL, is_about_tool=True),
        Event(
            "PostToolUse", _TOOL, RefusalEffect.TELLS_MODEL, takes_context=True, takes_decision=True, is_about_tool=True
        ),
        Event("PostToolUseFailure", _TOOL, RefusalEffect.TELLS_MODEL, takes_context=True, is_about_tool=True),
        Event("PostToolBatch", "", RefusalEffect.BLOCKS, takes_context=True, takes_decision=True),
        Event("Notification", "notification_type"),
        Event("SubagentStart", "agent_type", takes_context=True),
        Event("SubagentStop", "agent_type", RefusalEffect.BLOCKS, takes_context=True, takes_decision=True),
        Event("TaskCreated", "", RefusalEffect.BLOCKS, takes_decision=True),
        Event("TaskCompleted", "", RefusalEffect.BLOCKS),
        Event("Stop", "", RefusalEffect.BLOCKS, takes_context=True, takes_decision=True),
        Event("StopFailure", "error", RefusalEffect.IGNORED),
        Event("TeammateIdle", "", RefusalEffect.BLOCKS),
        Event("ConfigChange", "source", RefusalEffect.BLOCKS, takes_decision=True),
        Event("CwdChanged", has_env_file=True),
        Event("DirectoryAdded", "source"),
        Event("FileChanged", "file_path", has_env_file=True),
        Event("WorktreeCreate", "", RefusalEffect.BLOCKS),
        Event("WorktreeRemove"),
        Event("PreCompact", "trigger", RefusalEffect.BLOCKS, takes_decision=True),
        Event("PostCompact", "trigger"),
        Event("Elicitation", "mcp_server_name", RefusalEffect.BLOCKS),
        Event("ElicitationResult", "mcp_server_name", RefusalEffect.BLOCKS),
        Event("SessionEnd", "reason"),
    )
}
