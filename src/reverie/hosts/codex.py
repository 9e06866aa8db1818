"""Reads rollouts of Codex CLI: JSON lines in four forms since 2025, told apart by their fields (`codex_records`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reverie.hosts import codex_records as records
from reverie.hosts.codex_records import TypedPrompts
from reverie.hosts.fields import Fields, as_fields, as_input, join_texts
from reverie.hosts.session import HostSession, ListedSession, SessionBuilder, list_session_files, read_json_lines
from reverie.messages.blocks import Text, Thinking, ToolUse

AGENT = "codex"


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
    lines = list(read_json_lines(path))
    reader = _Reader(path, TypedPrompts(record for _, _, record in lines))
    for number, line, record in reader.session.read_lines(lines):
        reader.take(number, line, record)
    return reader.session.build()


class _Reader:
    def __init__(self, path: Path, prompts: TypedPrompts) -> None:
        self.session = SessionBuilder(AGENT, path, "-".join(path.name.partition(".")[0].split("-")[-5:]))
        self._prompts = prompts
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
            case str(kind) if records.SILENT_LINES.fullmatch(kind):
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
            thinking = join_texts(item.get("summary")) or join_texts(item.get("content"))
            session.add_reply(number, when, Thinking(thinking))
        elif kind in records.CALLS:
            arguments = item.get("arguments", item.get("input", item.get("action")))
            session.add_reply(number, when, ToolUse(call, item.text("name") or kind, as_input(arguments)))
        elif kind in records.OUTPUTS:
            text = _output(item.get("output", item.get("tools")))
            session.add_result(number, when, call, text, is_error=item.get("success") is False)
        elif kind in records.CALLS_WITHOUT_OUTPUT:
            session.add_call(number, when, call, kind, item.get("action"), item.text("status"))
        elif kind == "agent_message":
            session.add_injected(number, when, join_texts(item.get("content")))
        elif kind not in records.SILENT_ITEMS:
            session.add_unknown(f"response_item/{kind}", line)

    def _message(self, number: int, when: object, item: Fields) -> None:
        role, text = item.get("role"), join_texts(item.get("content"))
        if role == "user":
            self.session.cwd = self.session.cwd or records.find_directory(text)
        if role == "assistant":
            self.session.add_reply(number, when, Text(text))
        elif role == "user" and self._prompts.is_typed(item, text):
            self._prompt(number, when, records.bare_prompt(text), "item")
        else:
            self.session.add_injected(number, when, text)

    def _prompt(self, number: int, when: object, text: str, form: str) -> None:
        if text and self._prompts.is_new(text, form):
            self.session.add_typed(number, when, text)

    def _event(self, number: int, when: object, line: bytes, event: Fields) -> None:
        kind, info = event.text("type"), event.at("info")
        if kind in ("user_message", "item_completed"):
            self._prompt(number, when, records.announced_prompt(Fields(type="event_msg", payload=event)), "event")
        elif kind == "token_count":
            self._usage(number, when, info.get("total_token_usage"), info.get("last_token_usage"))
        elif kind == "thread_rolled_back":
            self.session.rewind(event.tokens("num_turns"))
        elif kind == "thread_name_updated":
            self.session.title = event.text("thread_name")
        elif kind == "turn.completed" and "usage" in event:
            self._usage(number, when, None, event["usage"])
        elif not records.SILENT_EVENTS.fullmatch(kind):
            self.session.add_unknown(f"event_msg/{kind}", line)

    def _usage(self, number: int, when: object, total: object, last: object) -> None:
        """Add what one reply used; the same total is written again when only rate limits changed."""
        counts = as_fields(last) or as_fields(total)
        if counts and (total is None or total != self._total):
            self._total = total
            names = ("input_tokens", ("output_tokens",), "cached_input_tokens", "cache_write_input_tokens")
            self.session.add_usage(f"{number}:usage", when, counts.usage(*names))


def _output(output: object) -> str:
    """The text of a tool's output; older versions wrapped it in JSON."""
    if isinstance(output, str) and output.startswith('{"output"'):
        return as_fields(as_input(output)).text("output") or output
    return join_texts(output)
