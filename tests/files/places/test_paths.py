from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.errors import Refused
from reverie.files.places import AgentScope, MemoryFolder, Places, ProjectFolder, slug
from reverie.memory.store.worktree import place_of
from reverie.memory.store.writer import conflict_path
from tests.requirements import requirement

vendor = pytest.importorskip("claude_agent_sdk._internal.sessions")

PLACES = Places.at(Path("/h/.reverie"), Path("/h/.claude"), platform="linux")
PROJECT = ProjectFolder(Path("/p"))


@requirement("places:paths:layout")
def test_a_projects_files_lie_where_their_readers_look() -> None:
    session = PROJECT.session("s1")

    assert PLACES.project(Path("/w/repo")).directory == Path("/h/.reverie/projects") / slug("/w/repo")
    assert PLACES.host_project(Path("/w/repo")).memory == Path("/h/.claude/projects/-w-repo/memory")
    assert PROJECT.transcript("s1") == Path("/p/s1.jsonl")
    assert PROJECT.mailbox("crew", "plugin:tester") == Path("/p/mailboxes/crew/plugin-tester.jsonl")
    assert session.spill("toolu_1") == Path("/p/s1/tool-results/toolu_1.txt")
    assert session.notes == Path("/p/s1/session-memory/summary.md")
    assert session.subagent_transcript("ab12") == Path("/p/s1/subagents/agent-ab12.jsonl")
    assert session.subagent_facts("ab12") == Path("/p/s1/subagents/agent-ab12.meta.json")
    assert PLACES.notes_template == Path("/h/.claude/session-memory/config/template.md")
    assert PLACES.notes_prompt == Path("/h/.claude/session-memory/config/prompt.md")


@requirement("places:paths:layout")
def test_the_vendors_reader_finds_a_project_of_ours(tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    places = Places.at(tmp_path / "home", tmp_path / "config")
    folder = places.host_project(tmp_path / "repo").directory
    folder.mkdir(parents=True)

    projects = vendor._get_projects_dir({"CLAUDE_CONFIG_DIR": str(tmp_path / "config")})
    assert projects / vendor._sanitize_path(vendor._canonicalize_path(str(tmp_path / "repo"))) == folder


def test_the_hosts_home_is_normalised_and_the_slug_can_be_replaced() -> None:
    decomposed = unicodedata.normalize("NFD", "/h/größe")
    places = Places.at(Path("/h"), Path(decomposed), project_dir_name="fixed")

    assert str(places.config_home) == unicodedata.normalize("NFC", decomposed)
    assert places.project(Path("/w/repo")).directory == Path("/h/projects/fixed")


def test_settings_files_come_strongest_first() -> None:
    root = Path("/w/repo")
    ours, hosts = PLACES.settings_files(root), PLACES.host_settings_files(root)
    mac = Places.at(Path("/h"), Path("/c"), platform="darwin")

    assert ours.managed == Path("/etc/reverie/settings.toml")
    assert ours.local == Path("/w/repo/.reverie/settings.local.toml")
    assert ours.project == Path("/w/repo/.reverie/settings.toml")
    assert ours.user == Path("/h/.reverie/settings.toml")
    assert hosts.managed == Path("/etc/claude-code/managed-settings.json")
    assert hosts.local == Path("/w/repo/.claude/settings.local.json")
    assert hosts.project == Path("/w/repo/.claude/settings.json")
    assert hosts.user == Path("/h/.claude/settings.json")
    assert mac.settings_files(root).managed == Path("/Library/Application Support/Reverie/settings.toml")
    assert mac.host_settings_files(root).managed.parent == Path("/Library/Application Support/ClaudeCode")


def test_both_families_of_instruction_files_are_known_at_every_level() -> None:
    here = PLACES.project_instructions(Path("/w/repo"))

    assert [str(file.relative_to("/w/repo")) for file in here.files] == ["CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md"]
    assert here.local == Path("/w/repo/CLAUDE.local.md")
    assert here.rules == Path("/w/repo/.claude/rules")
    assert PLACES.user_instructions.files[0] == Path("/h/.claude/CLAUDE.md")
    assert PLACES.managed_instructions.files[0] == Path("/etc/claude-code/CLAUDE.md")


@requirement("places:agents:three-scopes")
def test_an_agents_memory_lies_where_its_scope_says() -> None:
    cwd, name = Path("/w/repo/src"), "plugin:tester"

    assert PLACES.agent_memory(name, AgentScope.USER, cwd=cwd) == Path("/h/.claude/agent-memory/plugin-tester")
    assert PLACES.agent_memory(name, AgentScope.PROJECT, cwd=cwd) == cwd / ".claude/agent-memory/plugin-tester"
    assert PLACES.agent_memory(name, AgentScope.LOCAL, cwd=cwd) == cwd / ".claude/agent-memory-local/plugin-tester"
    remote = PLACES.agent_memory(name, AgentScope.LOCAL, cwd=cwd, root=Path("/w/repo"), remote=Path("/mnt"))
    assert remote == Path("/mnt/projects/-w-repo/agent-memory-local/plugin-tester")
    with pytest.raises(Refused):
        PLACES.agent_memory("../../.ssh", AgentScope.USER, cwd=cwd)


def test_the_pattern_of_daily_logs_holds_no_date() -> None:
    memory = MemoryFolder(Path("/m"), Path("/m"))

    assert memory.daily_log_pattern == "/m/logs/YYYY/MM/YYYY-MM-DD.md"


@requirement("places:paths:archive-hidden")
def test_archive_and_conflict_copies_do_not_match_a_scan_for_topics(tmp_path: Path) -> None:
    memory = MemoryFolder(tmp_path, tmp_path)
    losing = place_of(memory, conflict_path("team/a.md", b"theirs"))
    for path in (memory.archived("team/a.md"), losing, memory.index):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    assert list(tmp_path.rglob("*.md")) == [memory.index]


@requirement("places:paths:ids-checked")
@given(name=st.one_of(st.sampled_from(["..", ".", "", "a/b", "../x", "a\0", "\\x", "n" * 200]), st.text(max_size=30)))
def test_no_id_leads_out_of_its_folder(name: str) -> None:
    session = PROJECT.session("s1")
    for make, folder in (
        (PROJECT.transcript, PROJECT.directory),
        (lambda name: PROJECT.session(name).directory, PROJECT.directory),
        (lambda name: PROJECT.mailbox("crew", name), PROJECT.directory / "mailboxes" / "crew"),
        (lambda name: PROJECT.mailbox(name, "x").parent, PROJECT.directory / "mailboxes"),
        (session.spill, session.spills),
        (session.subagent_transcript, session.subagents),
        (session.subagent_facts, session.subagents),
    ):
        try:
            path = make(name)
        except Refused:
            continue
        assert path.parent == folder
        assert path.name not in {".", ".."}
