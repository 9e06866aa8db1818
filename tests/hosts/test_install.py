"""`reverie install`: settings files of other agents get our keys and nothing else changes."""

from __future__ import annotations

import json
import os
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from reverie.apps.cli.program import cli
from reverie.apps.hook.state import HookFolder
from reverie.errors import UserMistake
from reverie.hosts.hook_events import AGENTS
from reverie.hosts.install.json_text import append_item, read_json, remove_items, remove_key, set_key
from reverie.hosts.install.launcher import hook_launcher
from tests.requirements import requirement

COMMENTED = """\
{
  // what I like
  "model": "opus", // the large one
  "zeta": {"unknown": [1, 2, 3]},
  "hooks": {
    "Stop": [
      { "hooks": [{ "type": "command", "command": "say done" }] } // theirs
    ],
    "PreToolUse": [ /* nothing yet */ ],
  },
  "alpha": null,
}
"""
TOML = '# mine\nmodel = "gpt-5"  # keep\n\n[features]\nx = true # yes\n'
GOOSE = "# mine\nGOOSE_MODEL: gpt-5\nextensions:\n  developer:\n    enabled: true # on\n    type: builtin\nlast: 1\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith(("REVERIE_", "CLAUDE_", "CODEX_", "XDG_"))]:
        monkeypatch.delenv(name)
    home = tmp_path / "home"
    (tmp_path / "project").mkdir()
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.chdir(tmp_path / "project")
    return home


def install(*arguments: str) -> str:
    result = CliRunner().invoke(cli, ["install", *arguments], catch_exceptions=False, standalone_mode=False)
    assert result.exit_code == 0, result.output
    return result.output


def snapshot(*roots: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for root in roots for path in sorted(root.rglob("*")) if path.is_file()}


@requirement("install:agents")
@pytest.mark.parametrize("scope", ["--user", "--project"])
@pytest.mark.parametrize("agent", AGENTS)
def test_an_installation_is_shown_made_once_and_removed_without_a_trace(home: Path, agent: str, scope: str) -> None:
    project = Path.cwd()
    before = snapshot(home, project)

    shown = json.loads(install(agent, scope, "--dry-run", "--json"))
    assert snapshot(home, project) == before
    assert all("reverie" in file["diff"] for file in shown["files"])
    install(agent, scope)
    made = snapshot(home, project)
    assert {file["path"] for file in shown["files"]} <= made.keys()
    assert os.access(hook_launcher(home / ".reverie"), os.X_OK)
    assert "nothing to change" in install(agent, scope)
    assert snapshot(home, project) == made

    install(agent, scope, "--remove")
    assert snapshot(home, project) == before
    assert not list(project.iterdir())


@requirement("install:keeps", "install:removes")
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_settings_full_of_other_things_keep_them(home: Path, newline: str) -> None:
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    original = COMMENTED.replace("\n", newline).encode()
    settings.write_bytes(original)

    install("claude-code")
    text = settings.read_bytes().decode()
    lines = COMMENTED.splitlines()
    assert [line for line in lines if line.split(" //")[0].rstrip(" ,") not in text] == []
    assert text.count("\n") == text.count(newline)
    hooks = read_json(text, "here")["hooks"]
    assert hooks["Stop"][0] == {"hooks": [{"type": "command", "command": "say done"}]}
    assert list(read_json(text, "here")) == ["model", "zeta", "hooks", "alpha"]
    install("claude-code", "--remove")
    assert settings.read_bytes() == original


@requirement("install:removes")
def test_what_others_changed_since_stays_when_ours_is_taken_out(home: Path) -> None:
    claude, codex, goose = (
        home / ".claude/settings.json",
        home / ".codex/config.toml",
        home / ".config/goose/config.yaml",
    )
    gemini = home / ".gemini/GEMINI.md"
    for path, text in ((claude, COMMENTED), (codex, TOML), (goose, GOOSE), (gemini, "Be kind.\n")):
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    for agent in ("claude-code", "codex", "goose", "gemini"):
        install(agent)
    assert yaml.safe_load(goose.read_text(encoding="utf-8"))["extensions"]["reverie"]["args"] == ["mcp"]
    assert tomllib.loads(codex.read_text(encoding="utf-8"))["mcp_servers"]["reverie"]["args"] == ["mcp"]
    claude.write_text(claude.read_text(encoding="utf-8").replace('"opus"', '"sonnet"'), encoding="utf-8")
    codex.write_text(codex.read_text(encoding="utf-8") + "\n# more\n[other]\ny = 1\n", encoding="utf-8")
    goose.write_text(goose.read_text(encoding="utf-8") + "more: 2\n", encoding="utf-8")
    gemini.write_text(gemini.read_text(encoding="utf-8") + "And brief.\n", encoding="utf-8")
    for agent in ("claude-code", "codex", "goose", "gemini"):
        install(agent, "--remove")

    assert claude.read_text(encoding="utf-8") == COMMENTED.replace('"opus"', '"sonnet"')
    assert codex.read_text(encoding="utf-8") == TOML + "\n# more\n[other]\ny = 1\n"
    assert goose.read_text(encoding="utf-8") == GOOSE + "more: 2\n"
    assert gemini.read_text(encoding="utf-8") == "Be kind.\nAnd brief.\n"


@requirement("install:keeps")
@pytest.mark.parametrize("broken", ['{"a": ', "[1, 2]", '{"hooks": 7}', '{"hooks": {"Stop": 1}}', "\x00"])
def test_settings_of_another_form_are_left_alone(home: Path, broken: str) -> None:
    settings = home / ".qwen" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(broken, encoding="utf-8")

    result = CliRunner().invoke(cli, ["install", "qwen"])
    assert isinstance(result.exception, UserMistake)
    assert "settings.json" in str(result.exception)
    assert snapshot(settings.parent) == {str(settings): broken.encode()}


@requirement("install:vendor")
def test_the_agents_own_command_is_tried_on_a_copy_first(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    program = tools / "codex"
    log = tmp_path / "calls"
    entry = '\\n[mcp_servers.reverie]\\ncommand = "%s"\\nargs = ["mcp"]\\n'
    target = '"${CODEX_HOME:-$HOME/.codex}/config.toml"'
    add = f'#!/bin/sh\necho "$CODEX_HOME" >> {log}\nprintf \'{entry}\' "$5" >> {target}\n'
    program.write_text(add, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    config = home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text(TOML, encoding="utf-8")

    shown = json.loads(install("codex", "--dry-run", "--json"))
    assert shown["files"][1]["command"][:3] == ["codex", "mcp", "add"]
    assert config.read_text(encoding="utf-8") == TOML
    install("codex")
    assert config.read_text(encoding="utf-8").startswith(TOML)
    copy, again, real = log.read_text(encoding="utf-8").split("\n")[:3]
    assert Path(copy).is_absolute()
    assert Path(again).is_absolute()
    assert not real
    install("codex", "--remove")
    assert config.read_text(encoding="utf-8") == TOML

    # A command that would lose what is there is not used.
    program.write_text('#!/bin/sh\necho "[mcp_servers.reverie]" > "${CODEX_HOME:-$HOME/.codex}/config.toml"\n')
    assert json.loads(install("codex", "--json"))["files"][1]["command"] is None
    assert config.read_text(encoding="utf-8").startswith(TOML)


@requirement("install:agents")
def test_all_means_what_is_found(home: Path) -> None:
    (home / ".codex").mkdir()
    (home / ".qwen").mkdir()
    agents = [document["agent"] for document in json.loads(install("--all", "--json"))]
    assert agents == ["codex", "qwen"]
    codex = json.loads(install("codex", "--json"))
    assert any("/hooks" in line for line in codex["todo"])


@requirement("install:doctor")
def test_doctor_finds_hooks_that_do_not_fire_or_run_twice(home: Path) -> None:
    def problems() -> list[tuple[str, str]]:
        result = CliRunner().invoke(cli, ["doctor", "--json"], standalone_mode=False)
        return [(row["kind"], row["detail"]) for row in json.loads(result.output)["problems"]]

    install("codex")
    install("copilot")
    assert problems() == []
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    rollout = home / ".codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-0d9c1a52-7f2e-4a4b-9d58-3f7a5f1f0c11.jsonl"
    rollout.parent.mkdir(parents=True)
    records = (
        {"type": "session_meta", "payload": {"id": "s", "timestamp": later, "cwd": "/p", "cli_version": "9"}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": "hello there"}},
        {"type": "brand_new_kind", "payload": {}},
    )
    rollout.write_text("".join(f"{json.dumps({'timestamp': later} | record)}\n" for record in records))
    kinds = dict(problems())
    assert kinds.keys() == {"hook-silent", "unknown-format"}
    assert "codex" in kinds["hook-silent"]
    assert "brand_new_kind" in kinds["unknown-format"]

    folder = HookFolder(home / ".reverie")
    folder.note_call("codex", "codex")
    os.utime(folder.calls / "codex", (4e9, 4e9))
    folder.note_call("copilot", "claude-code")
    assert dict(problems()).keys() == {"hook-doubled", "unknown-format"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@requirement("install:keeps")
@given(document=st.dictionaries(st.text(max_size=3), JSON, max_size=4), indent=st.sampled_from([None, 2, "\t"]))
def test_any_json_gets_a_key_and_loses_it(document: dict[str, object], indent: int | str | None) -> None:
    document.pop("hooks", None)
    text = json.dumps(document, indent=indent)
    mine = {"hooks": [{"command": "OURS"}]}

    new = append_item(set_key(text, ("mcp", "reverie"), {"a": 1}, "here"), ("hooks", "Stop"), mine, "here")
    assert json.loads(new) == document | {"mcp": {"reverie": {"a": 1}}, "hooks": {"Stop": [mine]}}
    back = remove_items(remove_key(new, ("mcp", "reverie"), "here"), ("hooks", "Stop"), lambda it: it == mine, "here")
    assert json.loads(back) == {key: value for key, value in document.items() if key != "mcp"}
