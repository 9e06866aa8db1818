"""One plugin directory serves four agents, installed with each agent's own commands instead of settings files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.desk import open_desk
from tests.agents.programs import run_turn
from tests.agents.test_memory import KNOWN, answer, ask, teach
from tests.requirements import requirement

pytestmark = [pytest.mark.agents, pytest.mark.timeout(900)]

MARKETPLACE = ("plugin", "marketplace", "add", "{directory}")
COMMANDS = {
    "claude-code": (MARKETPLACE, ("plugin", "install", "reverie@reverie")),
    "codex": (MARKETPLACE, ("plugin", "add", "reverie@reverie")),
    "copilot": (MARKETPLACE, ("plugin", "install", "reverie@reverie")),
    "qwen": (("extensions", "install", "{directory}:reverie", "--consent"),),
}


@requirement("programs:plugin")
@pytest.mark.parametrize("agent", list(COMMANDS))
def test_the_plugin_alone_carries_a_memory_to_the_next_session(tmp_path: Path, agent: str) -> None:
    with open_desk(tmp_path, answer) as desk:
        desk.use(agent)
        # Any installation writes the directory; this one gives the agent under test nothing.
        desk.reverie("install", "cursor", "--yes")
        for command in COMMANDS[agent]:
            words = [word.format(directory=desk.home / ".reverie/plugin") for word in command]
            run_turn(agent, desk.home, desk.project, desk.provider, words)
        teach(desk, agent)

        sent = ask(desk, agent)
        assert KNOWN in sent, desk.hook_log
        assert "reverie-memory" in sent
