from __future__ import annotations

from pathlib import Path

from tests.apps.cli.conftest import Terminal
from tests.hosts.homes import (
    ANSWER,
    TYPED,
    codex_line,
    codex_message,
    codex_meta,
    codex_work,
    write_codex,
    write_opencode,
)
from tests.requirements import requirement

ID = "01a1e3af-6445-7e42-b082-b68ad6649167"


def hold_sessions(terminal: Terminal) -> tuple[Path, Path]:
    """A session of Codex and one of opencode in the project."""
    cwd = str(terminal.project)
    prompt = [codex_message("user", TYPED), *codex_work(), codex_line("event_msg", type="telepathy")]
    rollout = write_codex(terminal.home / ".codex", ID, [codex_meta(ID, cwd, "0.141.0"), *prompt])
    row = write_opencode(terminal.home / ".local" / "share" / "opencode" / "opencode.db", cwd)
    return rollout, row


def state_of(folder: Path) -> dict[Path, tuple[bytes, int]]:
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


@requirement("hosts:one-list")
def test_sessions_of_all_agents_stand_in_one_list(terminal: Terminal) -> None:
    hold_sessions(terminal)

    for arguments in (("sessions", "--json"), ("sessions", "--all", "--json")):
        listed = {one["agent"]: one for one in terminal.run(*arguments).document}
        assert set(listed) == {"codex", "opencode"}
        codex = listed["codex"]
        assert (codex["id"], codex["title"], codex["model"]) == (ID, TYPED, "gpt-5-codex")
        assert (codex["tokens"], codex["cwd"]) == (1000, str(terminal.project))
        assert abs(codex["cost_usd"] - (200 * 1.25 + 800 * 0.125 + 50 * 10) / 1e6) < 1e-9
        assert codex["unknown_records"] == {"event_msg/telepathy": 1}
    only = terminal.run("sessions", "--all", "--agent", "opencode", "--json").document
    assert [one["id"] for one in only] == ["ses_1"]
    shown = terminal.run("sessions", "--all")
    assert "codex" in shown.out
    assert "1 record of unknown kinds in sessions of codex: event_msg/telepathy" in shown.err
    assert terminal.run("sessions", "--agent", "nobody").code == 2


@requirement("hosts:one-list")
def test_an_unknown_price_is_called_unknown(terminal: Terminal) -> None:
    lines = [codex_meta(ID, str(terminal.project), "0.141.0"), codex_message("user", "hello there"), *codex_work()]
    lines[2]["payload"]["model"] = "house-model-1"
    write_codex(terminal.home / ".codex", ID, lines)

    assert terminal.run("sessions").out.rstrip().endswith("unknown")


@requirement("hosts:commands")
def test_every_command_takes_a_session_of_another_agent(terminal: Terminal) -> None:
    rollout, row = hold_sessions(terminal)

    for session in (ID, ID[:8], str(rollout), "ses_1", str(row)):
        context = terminal.run("context", session, "--json").document
        assert (context["model"], context["tool_calls"], context["tool_results"]) == ("gpt-5-codex", 1, 1)
        [replayed] = terminal.run("replay", session, "--json").document["sessions"]
        assert replayed["requests"]
        assert not any(request["refused"] for request in replayed["requests"])
    [cost] = terminal.run("cost", "--session", ID, "--by", "session", "--json").document
    assert (cost["session"], cost["calls"], cost["cache_read_tokens"]) == (ID, 1, 800)
    by_agent = terminal.run("cost", "--all", "--by", "agent", "--json").document
    assert {line["agent"] for line in by_agent} == {"codex", "opencode"}


@requirement("hosts:learn", "hosts:read-only")
def test_learn_keeps_what_was_typed_to_another_agent_and_nothing_of_theirs_changes(terminal: Terminal) -> None:
    hold_sessions(terminal)
    homes = [terminal.home / ".codex", terminal.home / ".local" / "share" / "opencode"]
    before = [state_of(home) for home in homes]

    learned = terminal.run("learn", *map(str, homes), "--json").document

    assert (learned["sessions"], learned["messages"]) == (2, 2)
    [topic] = {topic["name"]: topic for topic in learned["topics"]}.values()
    assert topic["sources"][0]["quote"] == TYPED
    again = terminal.run("learn", *map(str, homes), "--json").document
    assert (again["saved"], again["messages"]) == (0, 0)
    assert [state_of(home) for home in homes] == before


@requirement("hosts:learn")
def test_learn_takes_all_sessions_of_an_agent_by_its_name(terminal: Terminal) -> None:
    hold_sessions(terminal)

    only = terminal.run("learn", "--agent", "opencode", "--dry-run", "--json").document
    every = terminal.run("learn", "--agent", "all", "--dry-run", "--json").document

    assert (only["sessions"], every["sessions"]) == (1, 2)
    assert terminal.run("learn").code == 2
    assert terminal.run("learn", "--agent", "nobody").code == 2


@requirement("hosts:search")
def test_search_finds_what_was_said_to_another_agent_and_what_was_added_later(terminal: Terminal) -> None:
    rollout, _ = hold_sessions(terminal)

    hits = terminal.run("search", "harbour clock", "--json").document["hits"]
    assert {hit["role"] for hit in hits} == {"assistant"}
    assert all(ANSWER in hit["text"] for hit in hits)
    with rollout.open("a", encoding="utf-8") as file:
        file.write('{"timestamp": "2026-05-02T10:00:00.000Z", "type": "event_msg", "payload": ')
        file.write('{"type": "user_message", "message": "what about the lighthouse"}}\n')
    [hit] = terminal.run("search", "lighthouse", "--json").document["hits"]
    assert (hit["session"], hit["role"]) == (ID, "user")
    rollout.unlink()
    assert terminal.run("search", "lighthouse", "--json").document["hits"] == []
