"""The real programs use `reverie mcp`: what their model saves with a tool, it recalls in the next session.

Hooks are switched off, so that nothing but the tools can carry the memory over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from reverie.messages.blocks import Json, JsonObject
from reverie_simulator.script import Incoming, ScriptAction, ToolCall
from reverie_simulator.wire import objects_at, text_at
from tests.agents.desk import Desk, open_desk
from tests.agents.programs import run_turn, turn_arguments
from tests.requirements import requirement

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]

SAY = "Please remember how the importer tests are run."
ASK = "how do we run the importer tests here?"
KNOWN = "make importer-test"
SAVED: dict[str, Json] = {
    "name": "importer tests",
    "description": "How to run them.",
    "type": "feedback",
    "body": f"Run them with `{KNOWN}`.",
}
NO_TOOL = "There is no such tool."
PATIENCE = 30
"""How often a model looks for a tool while our server starts."""
SEARCHES: Mapping[str, Mapping[str, str]] = {
    "ToolSearch": {"query": "select:{}"},
    "tool_search": {"query": "select:{}"},
    "list_mcp_resources": {"server": "reverie"},
}
"""What finds tools that an agent holds back, or waits for their server: Claude Code, Qwen, Codex."""
ALLOWED = {
    "claude-code": ("--allowedTools", "mcp__reverie"),
    "codex": ("--dangerously-bypass-approvals-and-sandbox",),
}
"""What stands for the user's approval of the tools, where an agent asks for it."""


def answer(incoming: Incoming) -> ScriptAction | None:
    """A model that saves or recalls with our tool; where that is not offered yet, it looks for it as the agent says."""
    if "json" in str(incoming.body.get("output_config")):
        return None
    is_asked = ASK in str(incoming.body)
    wanted = "memory_recall" if is_asked else "memory_save"
    given: dict[str, Json] = {"query": ASK} if is_asked else SAVED
    full_name = f"mcp__reverie__{wanted}"
    offered, answered = list(_offered(incoming)), incoming.answered_tools
    ours = next((name for name in offered if name.endswith(wanted)), None)
    if answered & {ours, "tool_call"}:
        return ScriptAction(text="Understood.")
    if ours:
        return _call(ours, given)
    if "tool_search" in answered:
        return _call("tool_call", {"name": full_name, "arguments": given})
    for search, arguments in SEARCHES.items():
        if search in offered and str(incoming.body).count(f"'name': '{search}'") < PATIENCE:
            found = _call(search, {name: text.format(full_name) for name, text in arguments.items()})
            return replace(found, delay_seconds=1.0 if answered else 0.0)
    return ScriptAction(text=NO_TOOL)


def _call(tool: str, arguments: JsonObject) -> ScriptAction:
    return ScriptAction(tool_calls=(ToolCall(tool, arguments),))


def _offered(incoming: Incoming) -> Iterator[str]:
    return (text_at(tool, "name") for tool in objects_at(incoming.body, "tools"))


def turn(desk: Desk, agent: str, prompt: str) -> list[str]:
    """The requests of one turn without hooks; of another one where the agent did not wait for our server."""
    arguments = (*turn_arguments(agent, prompt), *ALLOWED.get(agent, ()))
    for _ in range(5):
        since = len(desk.provider.requests)
        printed = run_turn(agent, desk.home, desk.project, desk.provider, arguments, {"REVERIE_HOOKS": "off"})
        if NO_TOOL not in printed:
            break
    return desk.sent(since)


@requirement("programs:tools")
@pytest.mark.parametrize("agent", ["claude-code", "codex", "copilot", "qwen"])
def test_what_a_model_saved_with_our_tool_it_recalls_in_the_next_session(tmp_path: Path, agent: str) -> None:
    with open_desk(tmp_path, answer) as desk:
        desk.use(agent)
        desk.reverie("install", agent, "--yes")
        turn(desk, agent, SAY)
        assert [row["name"] for row in desk.read_json("list")] == ["importer tests"], desk.sent()

        requests = turn(desk, agent, ASK)
        assert KNOWN not in requests[0]
        assert KNOWN in requests[-1]
