"""One session of each further agent: what was typed, what a tool printed, what it used, where it was held."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reverie.hosts.catalogue import READERS
from reverie.hosts.cursor import find_directory
from reverie.messages.message import Usage
from reverie.messages.view import project
from reverie.settings.environment import agent_homes
from tests.hosts.homes import ANSWER, INJECTED, PRINTED, TYPED, write_document, write_lines
from tests.hosts.reading import injected, printed, read, typed, used
from tests.requirements import requirement

CWD = "/projects/harbour"
WHEN = "2026-05-01T10:00:00.000Z"
USED = Usage(200, 50, 800)
UNKNOWN = {"type": "telepathy", "data": {}, "id": "x"}


def copilot(home: Path) -> Path:
    counts = {"inputTokens": 1000, "outputTokens": 50, "cacheReadTokens": 800, "cacheWriteTokens": 0}
    call = {"toolCallId": "c1", "name": "bash", "arguments": {"command": "wc"}}
    context = {"cwd": CWD, "branch": "main"}
    events: list[tuple[str, dict[str, Any]]] = [
        ("session.start", {"sessionId": "cop-1", "copilotVersion": "1.0.102", "context": context}),
        ("user.message", {"content": TYPED, "transformedContent": f"<reminder>{INJECTED}</reminder>\n{TYPED}"}),
        ("user.message", {"content": INJECTED, "source": "autopilot"}),
        ("session.usage_record", {"usage": counts}),
        ("assistant.message", {"messageId": "m1", "model": "gpt-5", "content": "", "toolRequests": [call]}),
        ("tool.execution_complete", {"toolCallId": "c1", "success": True, "result": {"content": PRINTED}}),
        ("assistant.message", {"messageId": "m2", "content": "a helper spoke", "parentToolCallId": "c1"}),
        ("assistant.message", {"messageId": "m3", "content": ANSWER}),
        ("telepathy", {}),
    ]
    lines = [{"type": kind, "data": data, "timestamp": WHEN} for kind, data in events]
    return write_lines(home / "session-state" / "cop-1" / "events.jsonl", lines)


def qwen(home: Path) -> Path:
    counts = {"promptTokenCount": 1000, "candidatesTokenCount": 40, "thoughtsTokenCount": 10}
    hook = f"<qwen:user-prompt-submit-context>\n{INJECTED}\n</qwen:user-prompt-submit-context>"
    call = {"functionCall": {"id": "c1", "name": "shell", "args": {"command": "wc"}}}
    answer = {"functionResponse": {"id": "c1", "response": {"output": PRINTED}}}
    records: list[dict[str, Any]] = [
        {"type": "user", "provenance": "real_user", "message": {"parts": [{"text": TYPED}, {"text": hook}]}},
        {"type": "user", "provenance": "system", "message": {"parts": [{"text": INJECTED}]}},
        {
            "type": "assistant",
            "model": "qwen3-coder",
            "message": {"parts": [call]},
            "usageMetadata": counts | {"cachedContentTokenCount": 800},
        },
        {"type": "tool_result", "message": {"parts": [answer]}},
        {"type": "system", "subtype": "ui_telemetry", "systemPayload": {"response_text": ANSWER}},
        {"type": "assistant", "message": {"parts": [{"text": "Look.", "thought": True}, {"text": ANSWER}]}},
        {"type": "system", "subtype": "telepathy"},
    ]
    chain = [
        record
        | {"uuid": f"u{at}", "parentUuid": f"u{at - 1}" if at else None, "sessionId": "q-1", "cwd": CWD}
        | {"timestamp": WHEN}
        for at, record in enumerate(records)
    ]
    return write_lines(home / "projects" / "-projects-harbour" / "chats" / "q-1.jsonl", chain)


def gemini(home: Path) -> Path:
    tokens = {"input": 1000, "output": 40, "cached": 800, "thoughts": 10, "tool": 0}
    result = [{"functionResponse": {"id": "c1", "response": {"output": PRINTED}}}]
    call = {"id": "c1", "name": "shell", "args": {}, "status": "success"}
    context = {"id": "g0", "type": "user", "content": [{"text": f"<session_context>\n{INJECTED}"}], "timestamp": WHEN}
    reply = {"id": "g2", "type": "gemini", "content": "", "model": "gemini-2.5-pro", "tokens": tokens}
    prompt = [{"text": f"<hook_context>{INJECTED}</hook_context>\n\n{TYPED}"}]
    write_document(home / "projects.json", {"projects": {CWD: "harbour"}})
    lines: list[dict[str, Any]] = [
        {"sessionId": "g-1", "projectHash": "x", "startTime": WHEN, "kind": "main"},
        {"$set": {"messages": [context]}},
        {"id": "g1", "type": "user", "content": prompt, "timestamp": WHEN},
        reply,
        reply | {"toolCalls": [call | {"result": result}]},
        {"id": "g3", "type": "user", "content": result},
        {"id": "g4", "type": "user", "content": "taken back"},
        {"$rewindTo": "g4"},
        {"id": "g5", "type": "gemini", "content": ANSWER, "model": "gemini-2.5-pro"},
        {"id": "g6", "type": "telepathy", "content": ""},
    ]
    return write_lines(home / "tmp" / "harbour" / "chats" / "session-2026-05-01T10-00-g1.jsonl", lines)


def antigravity(home: Path) -> Path:
    root = home / "antigravity-cli"
    write_lines(root / "history.jsonl", [{"conversationId": "a-1", "display": "Harbour", "workspace": CWD}])
    calls = [{"name": "run_command", "args": {"CommandLine": "wc"}}]
    steps: list[tuple[str, str, dict[str, Any]]] = [
        (
            "USER_EXPLICIT",
            "USER_INPUT",
            {"content": f"<USER_REQUEST>\n{TYPED}\n</USER_REQUEST>\n<RULES>{INJECTED}</RULES>"},
        ),
        ("MODEL", "PLANNER_RESPONSE", {"thinking": "Look.", "tool_calls": calls}),
        ("MODEL", "RUN_COMMAND", {"content": PRINTED}),
        ("MODEL", "PLANNER_RESPONSE", {"content": ANSWER}),
        ("SYSTEM", "TELEPATHY", {}),
    ]
    lines = [
        {"step_index": at, "source": source, "type": kind, "created_at": WHEN} | more
        for at, (source, kind, more) in enumerate(steps)
    ]
    return write_lines(root / "brain" / "a-1" / ".system_generated" / "logs" / "transcript.jsonl", lines)


def cline(home: Path) -> Path:
    counts = {"inputTokens": 1000, "outputTokens": 50, "cacheReadTokens": 800, "cacheWriteTokens": 0}
    call = {"type": "tool_use", "id": "c1", "name": "run", "input": {}}
    prompt = f'<user_input mode="act">{TYPED}</user_input><environment_details>{INJECTED}</environment_details>'
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": prompt}], "ts": 1777629600000},
        {"role": "assistant", "content": [call], "modelInfo": {"id": "gpt-5"}, "metrics": counts},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": PRINTED}]},
        {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
        {"role": "user", "content": [{"type": "telepathy"}]},
    ]
    write_document(home / "sessions" / "c-1" / "c-1.json", {"session_id": "c-1", "cwd": CWD, "messages_path": "/etc/x"})
    document = {"version": 1, "agent": "lead", "sessionId": "c-1", "messages": messages}
    return write_document(home / "sessions" / "c-1" / "c-1.messages.json", document)


def goose(home: Path) -> Path:
    database = home / "sessions" / "sessions.db"
    database.parent.mkdir(parents=True)
    connection = sqlite3.connect(database)
    connection.executescript(
        """CREATE TABLE sessions(id TEXT, name TEXT, working_dir TEXT, updated_at TEXT, model_config_json TEXT,
             accumulated_input_tokens INT, accumulated_output_tokens INT, accumulated_cache_read_tokens INT);
           CREATE TABLE messages(id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT,
             created_timestamp INT, metadata_json TEXT);"""
    )
    row = ("20260501_1", "Harbour", CWD, "2026-05-01 10:00:00", '{"model_name": "gpt-5"}', 1000, 50, 800)
    connection.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    answer = {"status": "success", "value": {"content": [{"type": "text", "text": PRINTED}]}}
    request = {"status": "success", "value": {"name": "shell", "arguments": {}}}
    messages: list[tuple[str, dict[str, Any], bool]] = [
        ("user", {"type": "text", "text": TYPED}, True),
        ("user", {"type": "text", "text": INJECTED}, False),
        ("assistant", {"type": "toolRequest", "id": "c1", "toolCall": request}, True),
        ("user", {"type": "toolResponse", "id": "c1", "toolResult": answer}, True),
        ("assistant", {"type": "text", "text": ANSWER}, True),
        ("assistant", {"type": "telepathy"}, True),
    ]
    for role, part, is_seen in messages:
        values = "20260501_1", role, json.dumps([part]), 1777629600, json.dumps({"userVisible": is_seen})
        connection.execute(
            "INSERT INTO messages(session_id, role, content_json, created_timestamp, metadata_json)"
            " VALUES (?, ?, ?, ?, ?)",
            values,
        )
    connection.commit()
    connection.close()
    return database / "20260501_1"


def cursor(home: Path) -> Path:
    def line(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
        return {"role": role, "message": {"content": list(parts)}, "cwd": CWD}

    lines: list[dict[str, Any]] = [
        line("user", {"type": "text", "text": f"<rules>{INJECTED}</rules><user_query>\n{TYPED}\n</user_query>"}),
        line("assistant", {"type": "text", "text": "[REDACTED]"}, {"type": "tool_use", "name": "Shell", "input": {}}),
        line("user", {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": PRINTED}]}),
        line("assistant", {"type": "text", "text": ANSWER}),
        {"type": "turn_ended", "status": "success"},
        {"type": "telepathy"},
    ]
    return write_lines(home / "projects" / "projects-harbour" / "agent-transcripts" / "k-1" / "k-1.jsonl", lines)


WRITERS = [copilot, qwen, gemini, antigravity, cline, goose, cursor]
WITHOUT_USAGE = ("antigravity", "cursor")


@requirement("hosts:agents", "hosts:typed", "hosts:unknown")
@pytest.mark.parametrize("write", WRITERS)
def test_a_session_of_each_agent_is_read(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    path = write(tmp_path)

    session = read(path)

    assert (session.agent, session.cwd) == (write.__name__, CWD)
    assert typed(session) == [TYPED]
    assert INJECTED in injected(session)
    assert printed(session) == [PRINTED]
    assert used(session) == (Usage() if session.agent in WITHOUT_USAGE else USED)
    shown = project(session.entries).messages
    assert ANSWER in shown[-1].text
    assert "a helper spoke" not in str(shown)
    [kind] = session.unknown
    assert "telepathy" in kind.lower()
    assert [listed for listed, _ in READERS[session.agent].list_sessions(tmp_path)] == [path]


@requirement("hosts:agents")
def test_the_earlier_forms_are_read(tmp_path: Path) -> None:
    gemini_file = {"sessionId": "g", "projectHash": "x", "messages": [{"id": "1", "type": "user", "content": TYPED}]}
    task = [{"role": "user", "content": [{"type": "text", "text": f"<task>\n{TYPED}\n</task>"}]}]
    goose_lines: list[dict[str, Any]] = [
        {"working_dir": CWD, "description": "Harbour"},
        {"role": "user", "created": 1777629600, "content": [{"type": "text", "text": TYPED}]},
    ]
    paths = [
        write_document(tmp_path / "tmp" / "a" / "chats" / "session-1.json", gemini_file),
        write_document(tmp_path / "tasks" / "1777629600000" / "api_conversation_history.json", task),
        write_lines(tmp_path / "sessions" / "20250724_1.jsonl", goose_lines),
    ]

    assert [(read(path).agent, typed(read(path))) for path in paths] == [
        ("gemini", [TYPED]),
        ("cline", [TYPED]),
        ("goose", [TYPED]),
    ]


@requirement("hosts:agents")
def test_what_a_compression_replaced_is_still_typed_but_no_longer_seen(tmp_path: Path) -> None:
    path = gemini(tmp_path)
    summary = {"id": "s1", "type": "user", "content": "<state_snapshot>a clock</state_snapshot>", "timestamp": WHEN}
    thanks = {"id": "s2", "type": "gemini", "content": "Understood.", "timestamp": WHEN}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"$set": {"messages": [summary, thanks]}}) + "\n")

    session = read(path)

    assert typed(session) == [TYPED]
    assert TYPED not in str(project(session.entries).messages)


@requirement("hosts:agents")
def test_a_branch_that_was_left_is_not_seen(tmp_path: Path) -> None:
    path = qwen(tmp_path)
    common = {"sessionId": "q-1", "timestamp": WHEN, "parentUuid": "u0"}
    again = common | {"uuid": "n1", "type": "user", "message": {"parts": [{"text": "another way"}]}}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(again) + "\n")

    shown = str(project(read(path).entries).messages)

    assert "another way" in shown
    assert ANSWER not in shown


@requirement("hosts:agents")
def test_a_folder_name_of_cursor_leads_to_the_directory_that_exists(tmp_path: Path) -> None:
    (tmp_path / "my_app.v2" / "web-ui").mkdir(parents=True)
    (tmp_path / "my").mkdir()

    assert find_directory("my-app-v2-web-ui", tmp_path) == str(tmp_path / "my_app.v2" / "web-ui")
    assert find_directory("my-other", tmp_path) == ""


@requirement("hosts:one-list")
def test_variables_of_the_agents_move_their_homes(tmp_path: Path) -> None:
    usual = agent_homes({}, tmp_path)
    moved = agent_homes({"CODEX_HOME": "/c", "XDG_DATA_HOME": "/d", "OPENCODE_DB": "/o.db"}, tmp_path)

    assert usual.keys() == READERS.keys()
    assert usual["codex"] == (tmp_path / ".codex",)
    assert (moved["codex"], moved["opencode"]) == ((Path("/c"),), (Path("/d/opencode"), Path("/o.db")))


def test_the_sample_sessions_are_read(shared_data: Path) -> None:
    samples = shared_data / "agents" / "codex" / "lantern-home"
    sessions = [read(path) for path, _ in READERS["codex"].list_sessions(samples)]

    assert len(sessions) == 3
    assert all(typed(session) and not session.unknown for session in sessions)
