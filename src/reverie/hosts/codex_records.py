"""The records of Codex's rollouts: kinds that need no reading, and which text was typed.

| written | a line is | what was typed stands in |
| --- | --- | --- |
| until about September 2025 | a bare item | an item of role user that does not begin like injected text |
| from September 2025 | `{timestamp, type, payload}` | the event `user_message`, and again an item |
| from February 2026 | the same, more kinds | the event where there is one, else as in the beginning |
| from version 0.149 | the same, with `ordinal` | the event `item_completed`, and an item with provenance `user` |
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from reverie.hosts.fields import Fields, join_texts

CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"})
CALLS_WITHOUT_OUTPUT = frozenset({"web_search_call", "image_generation_call"})
OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output", "local_shell_output"})
SILENT_ITEMS = frozenset({"ghost_snapshot", "compaction", "context_compaction", "compaction_trigger", "other"})
SILENT_LINES = re.compile(r"world_state|inter_agent_communication(?:_metadata)?|security_risk_score")
SILENT_EVENTS = re.compile(
    r"""agent_(?:message|reasoning\w*) | (?:task|turn)_(?:started|complete|aborted|diff) | \w+_(?:begin|end)
      | (?:web_search|exec_command|mcp_tool_call|patch_apply)_\w+ | view_image_tool_call
      | dynamic_tool_call_(?:request|response) | thread_(?:settings_applied|goal_updated) | context_compacted
      | sub_agent_activity | (?:entered|exited)_review_mode | guardian_assessment | undo_(?:started|completed)
      | (?:stream_)?error | warning | background_event | plan_update | deprecation_notice | session_configured
      | item_started""",
    re.VERBOSE,
)
"""Events that show on the screen what the items say, or nothing that was said."""

_INJECTED = (
    *("# AGENTS.md instructions", "<environment_context>", "<user_instructions>", "<skill>", "<user_shell_command>"),
    *("<turn_aborted>", "<subagent_notification>", "<recommended_plugins>", "<codex_internal_context"),
    *("<goal_context>", "<external_", "<hook_prompt", "<permissions instructions>", "<collaboration_mode>"),
)
_CWD = re.compile(r"<environment_context>.*?<cwd>([^<\n]+)</cwd>", re.DOTALL)


class TypedPrompts:
    """Which prompts of a rollout were typed, and which of them were met already."""

    def __init__(self, records: Iterable[Fields | None]) -> None:
        self._announced = {text for record in records if record and (text := announced_prompt(record))}
        self._written: Counter[tuple[str, str]] = Counter()
        self._met: Counter[str] = Counter()

    def is_typed(self, item: Fields, text: str) -> bool:
        """Whether an item of role user was typed."""
        parts = item.at("internal_chat_message_metadata_passthrough").each("content_item_metadata")
        sources = [part.at("provenance").get("type") for part in parts]
        if any(sources):
            return "user" in sources
        if {bare_prompt(text), text.strip()} & self._announced:
            return True
        return not text.lstrip().startswith(("<", "# ") if self._announced else _INJECTED)

    def is_new(self, text: str, form: str) -> bool:
        """Whether this prompt was not met yet in the other form: it is written as item and event, in either order."""
        self._written[form, text] += 1
        if self._written[form, text] <= self._met[text]:
            return False
        self._met[text] += 1
        return True


def announced_prompt(record: Fields) -> str:
    """What the user typed, as an event tells it; empty for any other record."""
    event, item = record.at("payload"), record.at("payload", "item")
    if record.get("type") != "event_msg":
        return ""
    if event.get("type") == "user_message" and event.get("kind", "plain") == "plain":
        return bare_prompt(event.text("message"))
    return bare_prompt(join_texts(item.get("content"))) if item.get("type") == "UserMessage" else ""


def bare_prompt(text: str) -> str:
    """A prompt without what an editor puts before it."""
    return text.rpartition("## My request for Codex:")[2].strip()


def find_directory(text: str) -> str:
    """The working directory that an environment block names; empty where the text is none."""
    match = _CWD.search(text)
    return match[1].strip() if match else ""
