"""The real programs as models of memory work (`command:NAME`): one question each, without tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reverie_simulator.script import Incoming, ScriptAction
from reverie_simulator.wire import objects_at
from tests.agents.desk import open_desk
from tests.agents.programs import environment_of
from tests.requirements import requirement
from tests.session.sessions import hold

pytestmark = [pytest.mark.agents, pytest.mark.timeout(900)]

SAID = "Never push directly to main, open a pull request instead."
TITLE = "Pull requests"
TOOLS_LEFT = {"qwen": 6}
"""How many of its own tools a program keeps whatever it is told."""


def reply() -> ScriptAction:
    """What was said, under a title that no rule would find."""
    words = {"description": SAID, "body": SAID, "why": "", "how_to_apply": "", "quote": SAID, "message": ""}
    memory = {"type": "feedback", "name": TITLE, **words, "when": [], "asks": []}
    return ScriptAction(text=json.dumps({"memories": [memory]}))


# Codex cannot be shown here: it is asked with `--ignore-user-config`, and only that file could name the simulator.
@requirement("programs:models")
@pytest.mark.parametrize("agent", ["claude-code", "copilot", "gemini", "opencode", "qwen"])
def test_a_program_answers_the_question_without_tools(tmp_path: Path, agent: str) -> None:
    session = hold(tmp_path / "s1.jsonl", SAID)
    name = agent.removesuffix("-code")
    offered: list[int] = []

    def answer(incoming: Incoming) -> ScriptAction:
        offered.append(len(objects_at(incoming.body, "tools")))
        return reply()

    with open_desk(tmp_path, answer) as desk:
        desk.use(agent)
        desk.variables.update(environment_of(agent, desk.home, desk.provider))
        learned = desk.read_json("learn", str(session), "--model", f"command:{name}")

        assert (learned["replies"], learned["saved"], learned["unusable_replies"]) == (1, 1, [])
        (topic,) = desk.read_json("list")
        assert topic["name"] == TITLE
        assert set(offered) == {TOOLS_LEFT.get(agent, 0)}
        (row,) = desk.read_json("cost", "--by", "model")
        assert row["cost_usd"] > 0
