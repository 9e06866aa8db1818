"""Reads sessions of opencode: tables of its database, or the older tree of JSON files.

The database also holds accounts and credentials: only `session`, `message`, `part` and `project` are asked for.
What the user typed is a text part of a user message that is neither `synthetic` nor `ignored`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from reverie.hosts.database import list_stored, open_database, read_row
from reverie.hosts.fields import Fields, as_fields, parse_object
from reverie.hosts.opencode_tree import list_in_tree, read_facts, read_messages
from reverie.hosts.session import HostSession, ListedSession, SessionBuilder, list_files
from reverie.messages.blocks import Block, Text, Thinking, ToolUse
from reverie.messages.message import Usage

AGENT = "opencode"

_PASSED_PARTS = frozenset(
    {"step-start", "step-finish", "snapshot", "patch", "retry", "file", "agent", "subtask", "compaction"}
)
"""Parts without words; a compaction is told by the reply that is its summary."""
_STAMPS = (
    "SELECT id, time_updated, (SELECT coalesce(sum(length(data)), 0) FROM part WHERE session_id = session.id)"
    " FROM session WHERE ? IS NULL OR id = ? ORDER BY id"
)
_PARTS = "SELECT message_id, data FROM part WHERE session_id = ? ORDER BY id"
_MESSAGES = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"


def list_sessions(home: Path) -> Iterator[ListedSession]:
    """The sessions of the databases below `~/.local/share/opencode`, and those of the older tree."""
    if home.is_file():  # named by OPENCODE_DB
        yield from list_in_database(home)
    for database in list_files(home, "opencode.db", "opencode-*.db"):
        yield from list_in_database(database)
    yield from list_in_tree(home)


def list_in_database(database: Path, session: str | None = None) -> list[ListedSession]:
    """The sessions in a database, each as a path below it, or only one; none when it is not opencode's."""
    return list_stored(database, "session", "directory", _STAMPS, session, tick_ns=10**6)


def is_session(head: Fields, path: Path) -> bool:  # noqa: ARG001 - the content tells
    """Whether a JSON file with this content describes a session of the older tree."""
    return head.text("id").startswith("ses_") and "time" in head


def read_session(path: Path) -> HostSession:
    """One session, from a database or from the tree."""
    session = SessionBuilder(AGENT, path, path.stem)
    is_file = path.suffix == ".json"
    facts, messages = (read_facts(path), read_messages(path)) if is_file else _read_database(path)
    _add_facts(session, facts)
    for key, message, parts in messages:
        _add_message(session, key, message, parts)
    return session.build()


def _read_database(path: Path) -> tuple[Fields, Iterable[tuple[str, Fields, list[Fields]]]]:
    parts: dict[str, list[Fields]] = {}
    with open_database(path.parent) as connection:
        facts = read_row(connection, "session", ("directory", "title", "version", "parent_id"), path)
        for message, data in connection.execute(_PARTS, (path.name,)):
            parts.setdefault(message, []).append(as_fields(parse_object(data)))
        messages = connection.execute(_MESSAGES, (path.name,)).fetchall()
    return facts, [(key, as_fields(parse_object(data)), parts.get(key, [])) for key, data in messages]


def _add_facts(session: SessionBuilder, facts: Fields) -> None:
    session.cwd, session.title, session.version = (facts.text(name) for name in ("directory", "title", "version"))
    session.parent = facts.text("parent_id", "parentID")
    session.is_subagent = bool(session.parent)


def _add_message(session: SessionBuilder, key: str, message: Fields, parts: Iterable[Fields]) -> None:
    role, when = message.text("role", "type"), message.at("time").get("created")
    if not message:
        session.add_unknown("unreadable message", key)
    elif role == "user":
        _add_prompt(session, key, when, parts)
    elif role in ("assistant", "shell"):
        _add_reply(session, key, when, message, parts)
    elif role == "system":
        session.add_injected(key, when, message.text("text"))
    elif role not in ("model-switched", "agent-switched"):
        session.add_unknown(f"message/{role}", message)


def _add_prompt(session: SessionBuilder, key: str, when: object, parts: Iterable[Fields]) -> None:
    typed: list[str] = []
    for number, part in enumerate(parts):
        kind = part.text("type")
        if kind == "text" and (part.get("synthetic") or part.get("ignored")):
            session.add_injected(f"{key}:{number}", when, part.text("text"))
        elif kind == "text":
            typed.append(part.text("text"))
        elif kind not in _PASSED_PARTS:
            session.add_unknown(f"part/{kind}", part)
    text = "\n".join(typed)
    bare = text.strip()
    # `opencode run` stores the prompt in quotation marks.
    is_quoted = len(bare) > 1 and bare[0] == bare[-1] == '"' and '"' not in bare[1:-1]
    session.add_typed(key, when, bare[1:-1] if is_quoted else text)


def _add_reply(session: SessionBuilder, key: str, when: object, message: Fields, parts: Iterable[Fields]) -> None:
    session.model = message.text("modelID") or message.at("model").text("modelID") or session.model
    blocks: list[Block] = []
    results: list[tuple[str, str, bool]] = []
    for number, part in enumerate(parts):
        kind, state = part.text("type"), part.at("state")
        if kind == "text":
            blocks.append(Text(part.text("text")))
        elif kind == "reasoning":
            blocks.append(Thinking(part.text("text")))
        elif kind == "tool":
            call = part.text("callID", "id") or f"{key}:{number}"
            blocks.append(ToolUse(call, part.text("tool", "name"), state.at("input")))
            if state.get("status") in ("completed", "error"):
                results.append((call, state.text("output", "error"), state["status"] == "error"))
        elif kind not in _PASSED_PARTS:
            session.add_unknown(f"part/{kind}", part)
    if message.get("summary") is True:
        session.add_compaction(key, when, "\n".join(block.text for block in blocks if isinstance(block, Text)))
        blocks = []
    tokens, cache = message.at("tokens"), message.at("tokens", "cache")
    usage = Usage(
        tokens.tokens("input"), tokens.tokens("output", "reasoning"), cache.tokens("read"), cache.tokens("write")
    )
    session.add_reply(f"{key}:reply", when, *blocks, usage=usage if usage != Usage() else None, reply=key)
    for call, answer, is_error in results:
        session.add_result(call, when, call, answer, is_error=is_error)
