"""Reads sessions of Copilot CLI: one directory each with `events.jsonl`.

What was typed is the `content` of a user message, unless the message names a source or continues by itself; what the
model got besides stands in `transformedContent`. What sub-agents say lies in the same file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from reverie.hosts.fields import Fields, as_fields, as_input, as_list, as_text, join_texts
from reverie.hosts.session import (
    HostSession,
    ListedSession,
    SessionBuilder,
    list_session_files,
)
from reverie.messages.blocks import Text, Thinking, ToolUse
from reverie.messages.message import Usage

AGENT = "copilot"

_NAME = re.compile(r"(?m)^name: *(.+)$")
_PASSED = re.compile(
    r"""assistant\.(?:turn_start|turn_end|usage|intent\w*|idle) | hook\.\w+ | abort | tool\.execution_start
      | session\.(?:mode_changed|info|error|warning|truncation|auto_mode_resolved|usage_checkpoint|task_complete
        |context_changed|compaction_start|idle|title_changed|usage_info|handoff|snapshot_rewind|plan_changed
        |workspace_file_changed|import_legacy|remote_\w+)
      | subagent\.\w+ | skill\.\w+ | tool\.(?:user_requested|execution_progress|execution_partial_result)
      | permission\.\w+ | user_input\.\w+ | command\.\w+""",
    re.VERBOSE,
)


def list_sessions(home: Path) -> Iterator[ListedSession]:
    """The sessions below `~/.copilot`."""
    places = "session-state/*/events.jsonl", "session-state/*.jsonl"
    return list_session_files(home, *places, *(f"history-{place}" for place in places))


def is_session(head: Fields, path: Path) -> bool:  # noqa: ARG001 - the content tells
    """Whether a file whose first record is this is a session of Copilot."""
    return head.get("type") == "session.start" and isinstance(head.get("data"), dict)


def read_session(path: Path) -> HostSession:
    """One session."""
    reader = _Reader(path)
    for number, line, record in reader.session.read_lines(path):
        reader.take(number, line, record)
    return reader.session.build()


class _Reader:
    def __init__(self, path: Path) -> None:
        name = path.parent.name if path.name == "events.jsonl" else path.stem
        self.session = SessionBuilder(AGENT, path, name)
        self.session.title = _read_title(path)
        self._usage: Usage | None = None
        self._is_counted = False

    def take(self, number: int, line: bytes, record: Fields) -> None:
        session, data, when = self.session, as_fields(record.get("data")), record.get("timestamp")
        kind = as_text(record.get("type"))
        session.in_subagent = bool(record.get("agentId") or data.get("parentToolCallId"))
        if kind in ("session.start", "session.resume"):
            self._start(data)
        elif kind == "session.model_change":
            session.model = as_text(data.get("newModel")) or session.model
        elif kind == "user.message":
            self._prompt(number, when, data)
        elif kind in ("assistant.message", "assistant.reasoning"):
            self._reply(number, when, data, is_reasoning=kind == "assistant.reasoning")
        elif kind == "tool.execution_complete":
            problem = as_fields(data.get("error"))
            text = join_texts(as_fields(data.get("result")).get("content")) or as_text(problem.get("message"))
            session.add_result(number, when, as_text(data.get("toolCallId")), text, is_error=bool(problem))
        elif kind == "session.usage_record":
            self._usage, self._is_counted = _usage(as_fields(data.get("usage"))), True
        elif kind == "session.compaction_complete":
            session.add_compaction(number, when, as_text(data.get("summaryContent")) or as_text(data.get("summary")))
        elif kind == "session.shutdown":
            self._totals(number, when, data)
        elif kind in ("system.message", "system.notification"):
            session.add_injected(number, when, as_text(data.get("content")))
        elif not _PASSED.fullmatch(kind):
            session.add_unknown(kind, line)

    def _start(self, data: Fields) -> None:
        session, context = self.session, as_fields(data.get("context"))
        session.id = as_text(data.get("sessionId")) or session.id
        session.version = as_text(data.get("copilotVersion")) or session.version
        session.model = as_text(data.get("selectedModel")) or session.model
        session.cwd = session.cwd or as_text(context.get("cwd"))
        session.git_branch = session.git_branch or as_text(context.get("branch"))

    def _prompt(self, number: int, when: object, data: Fields) -> None:
        content, sent = as_text(data.get("content")), as_text(data.get("transformedContent"))
        if data.get("source") or data.get("isAutopilotContinuation"):
            self.session.add_injected(number, when, sent or content)
            return
        self.session.add_injected(f"{number}:added", when, sent.replace(content, "", 1) if content in sent else sent)
        self.session.add_typed(number, when, content)

    def _reply(self, number: int, when: object, data: Fields, *, is_reasoning: bool) -> None:
        session = self.session
        session.model = as_text(data.get("model")) or session.model
        content = as_text(data.get("content"))
        blocks = [Thinking(content if is_reasoning else as_text(data.get("reasoningText")))]
        text = Text("" if is_reasoning else content)
        calls = [
            ToolUse(as_text(one.get("toolCallId")), as_text(one.get("name")), as_input(one.get("arguments")))
            for one in map(as_fields, as_list(data.get("toolRequests")))
        ]
        usage, self._usage = (None, self._usage) if is_reasoning else (self._usage, None)
        session.add_reply(number, when, *blocks, text, *calls, usage=usage, reply=as_text(data.get("messageId")))

    def _totals(self, number: int, when: object, data: Fields) -> None:
        """Older versions tell what was used only at the end, for each model."""
        metrics = as_fields(data.get("modelMetrics"))
        for model, counts in metrics.items() if not self._is_counted else ():
            self.session.add_totals(f"{number}:{model}", when, model, _usage(as_fields(as_fields(counts).get("usage"))))


def _usage(counts: Fields) -> Usage:
    return counts.usage("inputTokens", ("outputTokens",), "cacheReadTokens", "cacheWriteTokens")


def _read_title(path: Path) -> str:
    """The name in `workspace.yaml` beside the events."""
    try:
        match = _NAME.search((path.parent / "workspace.yaml").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return ""
    return match[1].strip().strip("'\"") if match else ""
