from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reverie.files.places import Places
from reverie.hosts.catalogue import find_unread
from reverie.hosts.codex import list_sessions
from reverie.messages.entries import BoundaryEntry, OtherEntry
from reverie.messages.message import Usage
from reverie.messages.view import project
from tests.hosts.homes import (
    ANSWER,
    INJECTED,
    PRINTED,
    TYPED,
    codex_line,
    codex_message,
    codex_meta,
    codex_work,
    write_codex,
    write_lines,
)
from tests.hosts.reading import injected, printed, read, typed, used
from tests.requirements import requirement

ID = "01a1e3af-6445-7e42-b082-b68ad6649167"
CWD = "/projects/harbour"
AGENTS = f"# AGENTS.md instructions for {CWD}\n\n<INSTRUCTIONS>\n{INJECTED}\n</INSTRUCTIONS>"
ENVIRONMENT = f"<environment_context>\n  <cwd>{CWD}</cwd>\n</environment_context>"


def bare() -> list[dict[str, Any]]:
    """Summer 2025: no envelope; the directory stands only in the environment block."""
    items = [line["payload"] for line in codex_work() if line["type"] == "response_item"]
    first = {"id": ID, "timestamp": "2025-08-20T10:00:00.000Z", "instructions": INJECTED, "git": {"branch": "main"}}
    prompts = [codex_message("user", text)["payload"] for text in (ENVIRONMENT, TYPED)]
    return [first, {"record_type": "state"}, *prompts, *items]


def with_events() -> list[dict[str, Any]]:
    """From autumn 2025: an event for the screen beside each item."""
    return [
        codex_meta(ID, CWD, "0.47.0", instructions=None, source="cli"),
        codex_message("user", AGENTS),
        codex_message("user", ENVIRONMENT),
        codex_line("event_msg", 1, type="user_message", message=TYPED, kind="plain"),
        codex_message("user", TYPED, 2),
        *codex_work(),
        codex_line("event_msg", 6, type="agent_message", message=ANSWER),
    ]


def multi_agent() -> list[dict[str, Any]]:
    """2026: more kinds of lines, hook text of role developer, nothing that names what was typed."""
    return [
        codex_meta(ID, CWD, "0.141.0", model_provider="openai", base_instructions={"text": "You are Codex."}),
        codex_line("world_state", full=True, state={"agents_md": {"text": INJECTED}}),
        codex_message("developer", INJECTED),
        codex_message("user", AGENTS),
        codex_message("user", f"# Context from my IDE setup:\n- a.py\n\n## My request for Codex:\n{TYPED}\n", 2),
        *codex_work(),
    ]


def paginated() -> list[dict[str, Any]]:
    """0.166: provenance on items, and `item_completed` in the place of the earlier events."""

    def provenance(kind: str) -> dict[str, Any]:
        return {"content_item_metadata": [{"provenance": {"type": kind}}]}

    item = {"type": "UserMessage", "content": [{"type": "text", "text": TYPED}]}
    told: dict[str, Any] = {"internal_chat_message_metadata_passthrough": provenance("harness")}
    by_user: dict[str, Any] = {"internal_chat_message_metadata_passthrough": provenance("user")}
    return [
        codex_meta(ID, CWD, "0.166.0", history_mode="paginated", source="exec"),
        codex_message("developer", INJECTED, **told),
        codex_message("user", AGENTS, **told),
        codex_message("user", TYPED, 2, **by_user),
        codex_line("event_msg", 2, type="item_completed", item=item),
        *codex_work(),
        codex_line(
            "token_usage_record",
            6,
            usage={"input_tokens": 9},
            thread_token_usage=codex_work()[-1]["payload"]["info"]["total_token_usage"],
        ),
    ]


@requirement("hosts:codex", "hosts:typed")
@pytest.mark.parametrize("lines", [bare(), with_events(), multi_agent(), paginated()])
def test_every_form_of_a_rollout_tells_typed_words_from_injected_ones(tmp_path: Path, lines: list[Any]) -> None:
    session = read(write_codex(tmp_path, ID, lines))

    assert (session.agent, session.id, session.cwd, session.git_branch) == ("codex", ID, CWD, "main")
    assert typed(session) == [TYPED]
    assert TYPED not in injected(session)
    assert printed(session) == [PRINTED]
    assert ANSWER in project(session.entries).messages[-1].text
    assert session.unknown == {}


@requirement("hosts:codex")
def test_usage_is_counted_once_and_without_what_came_from_the_cache(tmp_path: Path) -> None:
    session = read(write_codex(tmp_path, ID, paginated()))

    assert used(session) == Usage(200, 50, 800)


@requirement("hosts:typed")
def test_the_same_words_typed_twice_are_two_messages(tmp_path: Path) -> None:
    turn = with_events()[3:]
    session = read(write_codex(tmp_path, ID, [codex_meta(ID, CWD, "0.47.0"), *turn, *turn]))

    assert typed(session) == [TYPED, TYPED]


@requirement("hosts:codex")
def test_a_compaction_and_a_rollback_leave_what_the_model_sees(tmp_path: Path) -> None:
    lines = [
        *with_events(),
        codex_line("compacted", 10, message="They talked about a clock."),
        codex_message("user", "a mistake", 11),
        codex_message("assistant", "a wrong answer", 12),
        codex_line("event_msg", 13, type="thread_rolled_back", num_turns=1),
        codex_message("user", "go on", 14),
    ]
    session = read(write_codex(tmp_path, ID, lines))

    assert any(isinstance(entry, BoundaryEntry) for entry in session.entries)
    shown = " ".join(message.text for message in project(session.entries).messages)
    assert "They talked about a clock." in shown
    assert "go on" in shown
    assert "a wrong answer" not in shown
    assert ANSWER not in shown


@requirement("hosts:unknown")
def test_a_record_of_an_unknown_kind_is_kept_and_counted(tmp_path: Path) -> None:
    new = codex_line("event_msg", type="telepathy", words=INJECTED)
    path = write_codex(tmp_path, ID, [*with_events(), new, new])
    path.write_bytes(path.read_bytes() + b'{"torn": ')
    session = read(path)

    assert session.unknown == {"event_msg/telepathy": 2, "unreadable line": 1}
    kept = [entry for entry in session.entries if isinstance(entry, OtherEntry)]
    assert len(kept) == 3
    assert INJECTED.encode() in kept[0].raw
    assert typed(session) == [TYPED]


@requirement("hosts:subagents")
def test_nobody_typed_in_a_subagents_session(tmp_path: Path) -> None:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": "parent", "depth": 1}}}
    lines = [codex_meta(ID, CWD, "0.166.0", source=spawn), *with_events()[1:]]
    session = read(write_codex(tmp_path, ID, lines))

    assert (session.is_subagent, session.parent, typed(session)) == (True, "parent", [])


@requirement("hosts:read-only")
def test_only_rollouts_inside_the_home_are_listed(tmp_path: Path) -> None:
    home = tmp_path / "codex"
    path = write_codex(home, ID, with_events())
    write_lines(home / "auth.json", [{"token": "x"}])
    outside = write_lines(tmp_path / "rollout-outside.jsonl", with_events())
    (path.parent / "rollout-link.jsonl").symlink_to(outside)

    assert [listed for listed, _ in list_sessions(home)] == [path]


@requirement("hosts:codex")
def test_a_compressed_rollout_is_read_like_any_other(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    plain = write_codex(tmp_path, ID, with_events())
    packed = plain.with_name(f"{plain.name}.zst")
    packed.write_bytes(zstandard.compress(plain.read_bytes()))
    expected = read(plain)
    plain.unlink()

    assert [path for path, _ in list_sessions(tmp_path)] == [packed]
    session = read(packed)
    assert (session.id, session.entries) == (expected.id, expected.entries)


@requirement("hosts:unknown")
def test_what_is_not_understood_is_reported_for_each_agent(tmp_path: Path) -> None:
    new = codex_line("event_msg", 9, type="telepathy")
    write_codex(tmp_path / "codex", ID, [*with_events(), new])
    damaged = tmp_path / "codex/sessions/2026/05/02/rollout-2026-05-02T10-00-00-x.jsonl.zst"
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(b"no archive")
    places = replace(Places.at(tmp_path / "reverie", tmp_path / "claude"), agents={"codex": (tmp_path / "codex",)})

    (unread,) = find_unread(places)

    assert (unread.agent, unread.kinds, unread.sessions) == ("codex", {"event_msg/telepathy": 1}, 1)
    assert damaged.name in unread.reason
