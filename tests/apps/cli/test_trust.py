from __future__ import annotations

import json

from reverie.messages.blocks import Json
from reverie.testing.simulator import simulator
from tests.apps.cli.conftest import Terminal
from tests.requirements import requirement

SCRIPT: list[Json] = [
    {"when": {"has_tool_results": True}, "then": "It says {tool_result}"},
    {"when": {"last_user": "make"}, "then": {"tool_calls": [{"name": "Bash", "input": {"command": "touch made"}}]}},
]


def bring(terminal: Terminal, command: str = "touch hooked") -> None:
    """Let the project bring hooks, permission rules and a server."""
    folder = terminal.project / ".claude"
    folder.mkdir(exist_ok=True)
    hooks = {"SessionStart": [{"hooks": [{"type": "command", "command": command}]}]}
    settings = {"hooks": hooks, "permissions": {"allow": ["Bash(touch:*)"]}}
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    servers = {"mcpServers": {"tools": {"command": "no-such-program-at-all"}}}
    (terminal.project / ".mcp.json").write_text(json.dumps(servers), encoding="utf-8")


def states(terminal: Terminal, *arguments: str) -> dict[str, str]:
    ran = terminal.run("trust", *arguments, "--json")
    assert ran.code == 0, ran.err
    return {part["kind"]: part["state"] for part in ran.document}


@requirement("extensions:trust:command", "extensions:trust:answers")
def test_the_command_shows_what_waits_and_takes_the_answer(terminal: Terminal) -> None:
    bring(terminal)
    ran = terminal.run("trust")
    assert ran.code == 0
    assert "touch hooked" in ran.out
    assert "no-such-program-at-all" in ran.out
    assert "3 pending" in ran.err
    assert set(states(terminal).values()) == {"waiting"}

    assert states(terminal, "server", "--refuse") == {"server": "refused"}
    assert states(terminal, "hooks", "permissions.allow", "--accept") == {
        "hooks": "accepted",
        "permissions.allow": "accepted",
    }
    bring(terminal, "touch other")
    assert states(terminal) == {"hooks": "waiting", "permissions.allow": "accepted", "server": "refused"}
    assert set(states(terminal, "--forget").values()) == {"waiting"}
    unknown = terminal.run("trust", "nothing")
    assert unknown.code == 2
    assert "reverie trust" in unknown.err


@requirement("extensions:trust:command")
def test_a_project_without_such_parts_needs_no_trust(terminal: Terminal) -> None:
    ran = terminal.run("trust")
    assert (ran.code, ran.out) == (0, "")
    assert "Nothing" in ran.err


@requirement("extensions:trust:waiting")
def test_one_prompt_says_in_a_line_what_waits_and_does_nothing_of_it_until_then(terminal: Terminal) -> None:
    bring(terminal)
    with simulator(SCRIPT) as provider:
        keys = {"ANTHROPIC_API_KEY": provider.api_key, "ANTHROPIC_BASE_URL": provider.base_url}
        ran = terminal.run("-m", "claude-sonnet-4-5", "-p", "make it", **keys)
        assert ran.code == 0, ran.err
        (line,) = [line for line in ran.err.splitlines() if "trust" in line]
        assert "reverie trust --accept" in line
        assert "hooks" in line
        assert not (terminal.project / "made").exists()
        assert not (terminal.project / "hooked").exists()

        terminal.run("trust", "hooks", "permissions.allow", "--accept")
        terminal.run("trust", "server", "--refuse")
        ran = terminal.run("-m", "claude-sonnet-4-5", "-p", "make it", **keys)
        assert ran.code == 0, ran.err
        assert "trust" not in ran.err
        assert (terminal.project / "made").exists()
        assert (terminal.project / "hooked").exists()
