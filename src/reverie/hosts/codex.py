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

from reverie.hosts.fields import Fields, as_fields, as_input, join_texts
from reverie.hosts.session import HostSession, ListedSession, SessionBuilder, list_session_files, read_json_lines
from reverie.messages.blocks import Text, Thinking, ToolUse

AGENT = "codex"

_INJECTED = (
    *("# AGENTS.md instructions", "<environment_context>", "<user_instructions>", "<skill>", "<user_shell_command>"),
    *("<turn_aborted>", "<subagent_notification>", "<recommended_plugins>", "<codex_internal_context"),
    *("<goal_context>", "<external_", "<hook_prompt", "<permissions instructions>", "<collaboration_mode>"),
)
_REQUEST = "## My request for Codex:"
_CWD = re.compile(r"<environment_context>.*?<cwd>([^<\n]+)</cwd>", re.DOTALL)
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"})
_DONE_CALLS = frozenset({"web_search_call", "image_generation_call"})
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output", "local_shell_output"})
_PASSED_ITEMS = frozenset({"ghost_snapshot", "compaction", "context_compaction", "compaction_trigger", "other"})
_PASSED_LINES = re.compile(r"world_state|inter_agent_communication(?:_metadata)?|security_risk_score")
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
    """The rollouts below `~/.codex`, live, archived and compressed."""
    folders, ends = ("sessions", "archived_sessions"), ("jsonl", "jsonl.zst")
    return list_session_files(home, *(f"{folder}/**/rollout-*.{end}" for folder in folders for end in ends))


def is_session(head: Fields, path: Path) -> bool:  # noqa: ARG001 - the content tells
    """Whether a file whose first record is this is a rollout."""
    if head.get("type") == "session_meta":
        return isinstance(head.get("payload"), dict)
    return {"id", "timestamp", "instructions"} <= head.keys() and "type" not in head


def read_session(path: Path) -> HostSession:
    """One rollout."""
    reader = _Reader(path)
    lines = list(read_json_lines(path))
    reader.typed = {text for _, _, record in lines if record and (text := _typed_event(record))}
    for number, line, record in reader.session.read_lines(lines):
        reader.take(number, line, record)
    return reader.session.build()


class _Reader:
    def __init__(self, path: Path) -> None:
        self.session = SessionBuilder(AGENT, path, "-".join(path.name.partition(".")[0].split("-")[-5:]))
        self.typed: set[str] = set()
        self._written: Counter[tuple[str, str]] = Counter()
        self._added: Counter[str] = Counter()
        self._has_meta = False
        self._total: object = None

    def take(self, number: int, line: bytes, record: Fields) -> None:
        payload, when = record.at("payload"), record.get("timestamp")
        match record.get("type"):
            case "session_meta":
                self._meta(payload)
            case "turn_context":
                self.session.model = payload.text("model") or self.session.model
                self.session.cwd = self.session.cwd or payload.text("cwd")
            case "response_item":
                self._item(number, when, line, payload)
            case "event_msg":
                self._event(number, when, line, payload)
            case "compacted":
                history = (join_texts(item.get("content")) for item in payload.each("replacement_history"))
                summary = payload.text("message") or "\n\n".join(filter(None, history))
                self.session.add_compaction(number, when, summary)
            case "token_usage_record":
                self._usage(number, when, payload.get("thread_token_usage"), payload.get("usage"))
            case str(kind) if _PASSED_LINES.fullmatch(kind):
                pass
            case None if number == 0 or "record_type" in record:
                self._meta(record if number == 0 else Fields())
            case str() if "payload" not in record:
                self._item(number, when, line, record)
            case kind:
                self.session.add_unknown(str(kind or "record"), line)

    def _meta(self, meta: Fields) -> None:
        """The first record counts: those of a parent may follow in a fork."""
        if self._has_meta or not meta:
            return
        self._has_meta = True
        session = self.session
        session.id = meta.text("id", "session_id") or session.id
        session.cwd, session.version = meta.text("cwd"), meta.text("cli_version")
        session.git_branch = meta.at("git").text("branch")
        spawn = meta.at("source", "subagent", "thread_spawn")
        session.parent = meta.text("parent_thread_id") or spawn.text("parent_thread_id")
        session.is_subagent = bool(session.parent) or "subagent" in meta.at("source")

    def _item(self, number: int, when: object, line: bytes, item: Fields) -> None:
        session, kind = self.session, item.text("type")
        call = item.text("call_id", "id") or str(number)
        if kind == "message":
            self._message(number, when, item)
        elif kind == "reasoning":
            session.add_reply(
                number, when, Thinking(join_texts(item.get("summary")) or join_texts(item.get("content")))
            )
        elif kind in _CALLS:
            arguments = item.get("arguments", item.get("input", item.get("action")))
            session.add_reply(number, when, ToolUse(call, item.text("name") or kind, as_input(arguments)))
        elif kind in _OUTPUTS:
            text = _output(item.get("output", item.get("tools")))
            session.add_result(number, when, call, text, is_error=item.get("success") is False)
        elif kind in _DONE_CALLS:
            session.add_call(number, when, call, kind, item.get("action"), item.text("status"))
        elif kind == "agent_message":
            session.add_injected(number, when, join_texts(item.get("content")))
        elif kind not in _PASSED_ITEMS:
            session.add_unknown(f"response_item/{kind}", line)

    def _message(self, number: int, when: object, item: Fields) -> None:
        role, text = item.get("role"), join_texts(item.get("content"))
        if role == "assistant":
            self.session.add_reply(number, when, Text(text))
            return
        if role == "user":
            match = _CWD.search(text)
            self.session.cwd = self.session.cwd or (match[1].strip() if match else "")
            if self._is_typed(item, text):
                self._add_typed(number, when, _request(text), "item")
                return
        self.session.add_injected(number, when, text)

    def _is_typed(self, item: Fields, text: str) -> bool:
        parts = item.at("internal_chat_message_metadata_passthrough").each("content_item_metadata")
        sources = [part.at("provenance").get("type") for part in parts]
        if any(sources):
            return "user" in sources
        if {_request(text), text.strip()} & self.typed:
            return True
        return not text.lstrip().startswith(("<", "# ") if self.typed else _INJECTED)

    def _add_typed(self, number: int, when: object, text: str, form: str) -> None:
        """Add a prompt once although it is written in two forms, an item and an event, in either order."""
        self._written[form, text] += 1
        if self._written[form, text] > self._added[text]:
            self._added[text] += 1
            self.session.add_typed(number, when, text)

    def _event(self, number: int, when: object, line: bytes, event: Fields) -> None:
        kind, info = event.text("type"), event.at("info")
        if kind in ("user_message", "item_completed"):
            text = _typed_event(Fields(type="event_msg", payload=event))
            if text:
                self._add_typed(number, when, text, "event")
        elif kind == "token_count":
            self._usage(number, when, info.get("total_token_usage"), info.get("last_token_usage"))
        elif kind == "thread_rolled_back":
            self.session.rewind(event.tokens("num_turns"))
        elif kind == "thread_name_updated":
            self.session.title = event.text("thread_name")
        elif kind == "turn.completed" and "usage" in event:
            self._usage(number, when, None, event["usage"])
        elif not _REPEATING_EVENTS.fullmatch(kind):
            self.session.add_unknown(f"event_msg/{kind}", line)

    def _usage(self, number: int, when: object, total: object, last: object) -> None:
        """Add what one reply used; the same total is written again when only rate limits changed."""
        counts = as_fields(last) or as_fields(total)
        if counts and (total is None or total != self._total):
            self._total = total
            names = ("input_tokens", ("output_tokens",), "cached_input_tokens", "cache_write_input_tokens")
            self.session.add_usage(f"{number}:usage", when, counts.usage(*names))


def _typed_event(record: Fields) -> str:
    """What the user typed, as an event tells it; empty for any other record."""
    event, item = record.at("payload"), record.at("payload", "item")
    if record.get("type") != "event_msg":
        return ""
    if event.get("type") == "user_message" and event.get("kind", "plain") == "plain":
        return _request(event.text("message"))
    return _request(join_texts(item.get("content"))) if item.get("type") == "UserMessage" else ""


def _request(text: str) -> str:
    """A prompt without what an editor puts before it."""
    return text.rpartition(_REQUEST)[2].strip()


def _output(output: object) -> str:
    """The text of a tool's output; older versions wrapped it in JSON."""
    if isinstance(output, str) and output.startswith('{"output"'):
        return as_fields(as_input(output)).text("output") or output
    return join_texts(output)
