"""Reads rollouts of Codex CLI: JSON lines in four forms since 2025, told apart by their fields.

The oldest has bare items; then each line is `{timestamp, type, payload}`, with events for the screen beside the items
that the model saw. What was typed is known from an event (`user_message`, later `item_completed`), from the provenance
of an item, or, where a file has neither, from an item not beginning like text that the program injects.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reverie.hosts.session import (
    BAD_LINE,
    HostSession,
    ListedSession,
    SessionBuilder,
    as_dict,
    as_input,
    as_list,
    as_text,
    as_tokens,
    as_usage,
    join_texts,
    list_session_files,
    read_json_lines,
)
from reverie.messages.blocks import Text, Thinking, ToolUse

AGENT = "codex"

_INJECTED = (
    "# AGENTS.md instructions",
    "<environment_context>",
    "<user_instructions>",
    "<skill>",
    "<user_shell_command>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<recommended_plugins>",
    "<codex_internal_context",
    "<goal_context>",
    "<external_",
    "<hook_prompt",
    "<permissions instructions>",
    "<collaboration_mode>",
)
_REQUEST = "## My request for Codex:"
_CWD = re.compile(r"<cwd>([^<\n]+)</cwd>")
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"})
_DONE_CALLS = frozenset({"web_search_call", "image_generation_call"})
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output", "local_shell_output"})
_PASSED_ITEMS = frozenset({"ghost_snapshot", "compaction", "context_compaction", "compaction_trigger", "other"})
_PASSED_LINES = frozenset(
    {"world_state", "inter_agent_communication", "inter_agent_communication_metadata", "security_risk_score"}
)
_REPEATING_EVENTS = re.compile(
    r"""agent_(?:message|reasoning\w*) | (?:task|turn)_(?:started|complete|aborted|diff) | \w+_(?:begin|end)
      | (?:web_search|exec_command|mcp_tool_call|patch_apply)_\w+ | view_image_tool_call
      | dynamic_tool_call_(?:request|response) | thread_(?:settings_applied|goal_updated) | context_compacted
      | sub_agent_activity | (?:entered|exited)_review_mode | guardian_assessment | undo_(?:started|completed)
      | (?:stream_)?error | warning | background_event | plan_update | deprecation_notice | session_configured
      | item_started""",
    re.VERBOSE,
)
"""Events that show on the screen what the items say, or nothing that was said."""


def list_sessions(home: Path) -> Iterator[ListedSession]:
    """The rollouts below `~/.codex`, live and archived."""
    return list_session_files(home, "sessions/**/rollout-*.jsonl", "archived_sessions/**/rollout-*.jsonl")


def is_session(head: dict[str, Any], path: Path) -> bool:  # noqa: ARG001 - the content tells
    """Whether a file whose first record is this is a rollout."""
    if head.get("type") == "session_meta":
        return isinstance(head.get("payload"), dict)
    return {"id", "timestamp", "instructions"} <= head.keys() and "type" not in head


def read_session(path: Path) -> HostSession:
    """One rollout."""
    reader = _Reader(path)
    lines = list(read_json_lines(path))
    reader.typed = {text for _, _, record in lines if record and (text := _typed_event(record))}
    for number, line, record in lines:
        if record is None:
            reader.session.add_unknown(BAD_LINE, line)
        else:
            reader.take(number, line, record)
    return reader.session.build()


class _Reader:
    def __init__(self, path: Path) -> None:
        self.session = SessionBuilder(AGENT, path, "-".join(path.stem.split("-")[-5:]))
        self.typed: set[str] = set()
        self._written: Counter[tuple[str, str]] = Counter()
        self._added: Counter[str] = Counter()
        self._has_meta = False
        self._total: object = None

    def take(self, number: int, line: bytes, record: dict[str, Any]) -> None:
        payload = as_dict(record.get("payload"))
        when = record.get("timestamp")
        match record.get("type"):
            case "session_meta":
                self._meta(payload)
            case "turn_context":
                self.session.model = as_text(payload.get("model")) or self.session.model
                self.session.cwd = self.session.cwd or as_text(payload.get("cwd"))
            case "response_item":
                self._item(number, when, line, payload)
            case "event_msg":
                self._event(number, when, line, payload)
            case "compacted":
                history = [
                    join_texts(as_dict(item).get("content")) for item in as_list(payload.get("replacement_history"))
                ]
                summary = as_text(payload.get("message")) or "\n\n".join(filter(None, history))
                self.session.add_compaction(number, when, summary)
            case "token_usage_record":
                self._usage(number, when, payload.get("thread_token_usage"), payload.get("usage"))
            case str(kind) if kind in _PASSED_LINES:
                pass
            case None if number == 0 or "record_type" in record:
                self._meta(record if number == 0 else {})
            case str() if "payload" not in record:
                self._item(number, when, line, record)
            case kind:
                self.session.add_unknown(str(kind or "record"), line)

    def _meta(self, meta: dict[str, Any]) -> None:
        """The first record counts: those of a parent may follow in a fork."""
        if self._has_meta or not meta:
            return
        self._has_meta = True
        session, source = self.session, meta.get("source")
        session.id = as_text(meta.get("id")) or as_text(meta.get("session_id")) or session.id
        session.cwd = as_text(meta.get("cwd"))
        session.version = as_text(meta.get("cli_version"))
        session.git_branch = as_text(as_dict(meta.get("git")).get("branch"))
        spawn = as_dict(as_dict(as_dict(source).get("subagent")).get("thread_spawn"))
        session.parent = as_text(meta.get("parent_thread_id")) or as_text(spawn.get("parent_thread_id"))
        session.is_subagent = bool(session.parent) or (isinstance(source, dict) and "subagent" in source)

    def _item(self, number: int, when: object, line: bytes, item: dict[str, Any]) -> None:
        session, kind = self.session, as_text(item.get("type"))
        call = as_text(item.get("call_id")) or as_text(item.get("id")) or str(number)
        if kind == "message":
            self._message(number, when, item)
        elif kind == "reasoning":
            thoughts = join_texts(item.get("summary")) or join_texts(item.get("content"))
            session.add_reply(number, when, Thinking(thoughts))
        elif kind in _CALLS:
            arguments = item.get("arguments", item.get("input", item.get("action")))
            session.add_reply(number, when, ToolUse(call, as_text(item.get("name")) or kind, as_input(arguments)))
        elif kind in _OUTPUTS:
            text = _output(item.get("output", item.get("tools")))
            session.add_result(number, when, call, text, is_error=item.get("success") is False)
        elif kind in _DONE_CALLS:
            session.add_call(number, when, call, kind, item.get("action"), as_text(item.get("status")))
        elif kind == "agent_message":
            session.add_injected(number, when, join_texts(item.get("content")))
        elif kind not in _PASSED_ITEMS:
            session.add_unknown(f"response_item/{kind}", line)

    def _message(self, number: int, when: object, item: dict[str, Any]) -> None:
        role, text = item.get("role"), join_texts(item.get("content"))
        if role == "assistant":
            self.session.add_reply(number, when, Text(text))
        elif role != "user":
            self.session.add_injected(number, when, text)
        else:
            self.session.cwd = self.session.cwd or _cwd(text)
            request = _request(text)
            if self._is_typed(item, text, request):
                self._add_typed(number, when, request, "item")
            else:
                self.session.add_injected(number, when, text)

    def _is_typed(self, item: dict[str, Any], text: str, request: str) -> bool:
        metadata = as_dict(item.get("internal_chat_message_metadata_passthrough"))
        sources = [
            as_dict(as_dict(part).get("provenance")).get("type")
            for part in as_list(metadata.get("content_item_metadata"))
        ]
        if any(sources):
            return "user" in sources
        if request in self.typed or text.strip() in self.typed:
            return True
        return not text.lstrip().startswith(("<", "# ") if self.typed else _INJECTED)

    def _add_typed(self, number: int, when: object, text: str, form: str) -> None:
        """Add a prompt once although it is written in two forms, an item and an event, in either order."""
        self._written[form, text] += 1
        if self._written[form, text] > self._added[text]:
            self._added[text] += 1
            self.session.add_typed(number, when, text)

    def _event(self, number: int, when: object, line: bytes, event: dict[str, Any]) -> None:
        kind = as_text(event.get("type"))
        info = as_dict(event.get("info"))
        if kind in ("user_message", "item_completed"):
            text = _typed_event({"type": "event_msg", "payload": event})
            if text:
                self._add_typed(number, when, text, "event")
        elif kind == "token_count":
            self._usage(number, when, info.get("total_token_usage"), info.get("last_token_usage"))
        elif kind == "thread_rolled_back":
            self.session.rewind(as_tokens(event.get("num_turns")))
        elif kind == "thread_name_updated":
            self.session.title = as_text(event.get("thread_name"))
        elif kind == "turn.completed" and "usage" in event:
            self._usage(number, when, None, event["usage"])
        elif not _REPEATING_EVENTS.fullmatch(kind):
            self.session.add_unknown(f"event_msg/{kind}", line)

    def _usage(self, number: int, when: object, total: object, last: object) -> None:
        """Add what one reply used; the same total is written again when only rate limits changed."""
        counts = as_dict(last) or as_dict(total)
        if not counts or (total is not None and total == self._total):
            return
        self._total = total
        usage = as_usage(
            counts.get("input_tokens"),
            as_tokens(counts.get("output_tokens")),
            counts.get("cached_input_tokens"),
            counts.get("cache_write_input_tokens"),
        )
        self.session.add_usage(f"{number}:usage", when, usage)


def _typed_event(record: dict[str, Any]) -> str:
    """What the user typed, as an event tells it; empty for any other record."""
    event = as_dict(record.get("payload"))
    item = as_dict(event.get("item"))
    if record.get("type") != "event_msg":
        return ""
    if event.get("type") == "user_message" and event.get("kind", "plain") == "plain":
        return _request(as_text(event.get("message")))
    return _request(join_texts(item.get("content"))) if item.get("type") == "UserMessage" else ""


def _request(text: str) -> str:
    """A prompt without what an editor puts before it."""
    return text.rpartition(_REQUEST)[2].strip()


def _output(output: object) -> str:
    """The text of a tool's output; older versions wrapped it in JSON."""
    if isinstance(output, str) and output.startswith('{"output"'):
        return as_text(as_input(output).get("output")) or output
    return join_texts(output)


def _cwd(text: str) -> str:
    match = _CWD.search(text) if "<environment_context>" in text else None
    return match[1].strip() if match else ""
