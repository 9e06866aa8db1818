from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from reverie.messages.blocks import Json
from reverie.session.events import Notice
from reverie.settings import ToolsSettings
from tests.requirements import requirement
from tests.session.session_desk import calls, desk, results, told
from tests.session.subagents.definitions.roles import write_role
from tests.session.subagents.test_subagents import began, of_role
from tests.tools.mcp.servers import EXAMPLE, is_alive

pytest.importorskip("mcp")


def script(tool: str) -> list[Json]:
    return [
        {"when": {"system": "You reckon", "has_tool_results": False}, "then": calls((tool, {"a": 2, "b": 3}))},
        {"when": {"system": "You reckon"}, "then": "five"},
        began(kind="adder"),
        {"then": "fine"},
    ]


@requirement("agents:typed:servers")
async def test_a_server_that_a_role_brings_lives_as_long_as_its_agent(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    head = f"""tools: Read
mcpServers:
  - abacus:
      command: {sys.executable}
      args: ["{EXAMPLE}", stdio, --pid, "{pid}"]
      timeout: 60000"""
    with desk(tmp_path, script("mcp__abacus__add")) as at:
        write_role(at.home / ".claude", "adder", head, "You reckon.")
        async with at.start() as session:
            await told(session, "kick-off")
            assert not is_alive(int(pid.read_text())), "it ended with the agent"

            first, second = of_role(at, "You reckon")
            names = [tool["name"] for tool in first["tools"]]
            assert names[0] == "Read"
            assert "mcp__abacus__add" in names
            assert "Add numbers with add." in json.dumps(first["system"])
            assert results(second) == [(False, "5")]
            main = [body for body in at.bodies if body not in (first, second)]
            assert not any("mcp__abacus" in json.dumps(body["tools"]) for body in main)


@requirement("agents:typed:servers")
async def test_a_server_of_the_session_is_shared_by_its_name(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    entry = {"example": {"command": sys.executable, "args": [str(EXAMPLE), "stdio", "--pid", str(pid)]}}
    with desk(tmp_path, script("mcp__example__add")) as at:
        path = at.home / ".reverie" / "mcp.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"mcpServers": entry}), encoding="utf-8")
        at.settings = replace(at.settings, tools=ToolsSettings(server_wait_seconds=30.0, deferred_above=0))
        write_role(at.home / ".claude", "adder", "tools: Read\nmcpServers: [example, nowhere]", "You reckon.")
        async with at.start() as session:
            events = await told(session, "kick-off")
            assert is_alive(int(pid.read_text()))

        _, second = of_role(at, "You reckon")
        assert results(second) == [(False, "5")]
        assert "mcp__example__add" not in [tool["name"] for tool in at.bodies[0]["tools"]], "only the role asked for it"
        warned = [event.text for event in events if isinstance(event, Notice)]
        assert "agent adder: no server 'nowhere' is connected in this session" in warned


@requirement("agents:typed:servers")
async def test_a_server_that_does_not_start_costs_its_tools_and_nothing_else(tmp_path: Path) -> None:
    head = "mcpServers:\n  abacus:\n    command: /nowhere/at/all"
    with desk(tmp_path, script("mcp__abacus__add")) as at:
        write_role(at.home / ".claude", "adder", head, "You reckon.")
        async with at.start() as session:
            events = await told(session, "kick-off")

        assert results(of_role(at, "You reckon")[-1])[0][0], "there is no such tool"
        assert any(isinstance(event, Notice) and "'abacus' is not there" in event.text for event in events)


@requirement("agents:typed:effort")
async def test_the_effort_of_a_role_reaches_its_model(tmp_path: Path) -> None:
    with desk(tmp_path, script("Read")) as at:
        at.model = "claude-opus-4-6"
        write_role(at.home / ".claude", "adder", "effort: low", "You reckon.")
        async with at.start() as session:
            await told(session, "kick-off")

        assert of_role(at, "You reckon")[0]["output_config"] == {"effort": "low"}
        assert "output_config" not in at.bodies[0]
