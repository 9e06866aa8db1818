"""One memory for all agents: what was said to one reaches the model's request later, in it and in the others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie_simulator.script import Incoming, ScriptAction, ToolCall
from reverie_simulator.wire import objects_at, text_at
from tests.agents.desk import Desk, open_desk, repeat_while_late, wait_until
from tests.requirements import requirement

pytestmark = [pytest.mark.agents, pytest.mark.timeout(900)]

WITH_HOOKS = ("claude-code", "codex", "copilot", "opencode", "qwen")
ALL = (*WITH_HOOKS, "gemini")
TAUGHT = "From now on, always run the importer tests with `make importer-test`, never with pytest."
ASKED = "how do we run the importer tests here?"
KNOWN = "make importer-test"
SAVED = {"name": "importer tests", "description": "How to run them.", "type": "feedback", "body": TAUGHT}
"""What the model of an agent without hooks saves with our tool."""
SURVIVED = "State of this session before"


def answer(incoming: Incoming) -> ScriptAction | None:
    """Replies that teach nothing; an agent with tools alone is made to use them."""
    if "json" in str(incoming.body.get("output_config")):
        return None
    wanted = "memory_save" if TAUGHT in incoming.last_user else "memory_recall"
    tool = next((name for name in _offered(incoming) if name.endswith(wanted)), None)
    if _is_told_to_call(incoming) and tool and not incoming.tool_result:
        return ScriptAction(tool_calls=(ToolCall(tool, SAVED if wanted == "memory_save" else {"query": ASKED}),))
    return ScriptAction(text="Understood.")


def _offered(incoming: Incoming) -> Iterator[str]:
    return (text_at(tool, "name") for tool in objects_at(incoming.body, "tools"))


def _is_told_to_call(incoming: Incoming) -> bool:
    """Whether the instructions that we install stand in the request; hooks need none."""
    return "call `memory_recall`" in json.dumps(incoming.body)


def teach(desk: Desk, agent: str) -> None:
    """Say it to an agent, and wait until it was learnt."""
    desk.turn(agent, TAUGHT)
    wait_until(lambda: bool(desk.read_json("list")), f"nothing was learnt from {agent}")


def ask(desk: Desk, agent: str) -> str:
    """What reaches the model when an agent is asked, as JSON text of all its requests."""

    def turn() -> str:
        since = len(desk.provider.requests)
        desk.turn(agent, ASKED)
        return "\n".join(body for body in desk.sent(since) if ASKED in body)

    return repeat_while_late(desk, turn, KNOWN)


@requirement("programs:memory")
@pytest.mark.parametrize("agent", ALL)
def test_a_memory_of_one_session_reaches_the_next(tmp_path: Path, agent: str) -> None:
    with open_desk(tmp_path, answer) as desk:
        desk.use(agent)
        desk.reverie("install", agent, "--yes")
        teach(desk, agent)

        sent = ask(desk, agent)
        assert KNOWN in sent, desk.hook_log
        # Qwen writes the angle brackets of the tag as entities.
        assert ("reverie-memory" in sent) == (agent != "gemini")


@requirement("programs:shared")
@pytest.mark.parametrize(("teacher", "learner"), list(zip(ALL, (*ALL[1:], ALL[0]), strict=True)))
def test_what_one_agent_was_taught_another_knows(tmp_path: Path, teacher: str, learner: str) -> None:
    with open_desk(tmp_path, answer) as desk:
        desk.use(teacher, learner)
        for agent in (teacher, learner):
            desk.reverie("install", agent, "--yes")
        teach(desk, teacher)

        assert KNOWN in ask(desk, learner), desk.hook_log
        # What a hook showed is not learnt again as if somebody had typed it.
        desk.reverie("learn", "--agent", learner)
        assert len(desk.read_json("list")) == 1


@requirement("programs:compaction")
@pytest.mark.parametrize("agent", WITH_HOOKS)
def test_a_compaction_keeps_the_state_of_the_session(tmp_path: Path, agent: str) -> None:
    with open_desk(tmp_path, answer) as desk:
        desk.use(agent)
        desk.reverie("install", agent, "--yes")
        desk.turn(agent, "Let us fix the parser in src/parser.py; the generated tables stay as they are.")
        (session,) = desk.sessions(agent)

        def compact() -> str:
            since = len(desk.provider.requests)
            desk.compact(agent, session["id"], "go on with the parser")
            return "\n".join(body for body in desk.sent(since) if SURVIVED in body)

        kept = repeat_while_late(desk, compact, SURVIVED)
        assert "the generated tables stay" in kept.partition(SURVIVED)[2], desk.hook_log


@requirement("programs:removal")
@pytest.mark.parametrize("agent", ALL)
def test_a_removed_installation_leaves_no_trace(tmp_path: Path, agent: str) -> None:
    with open_desk(tmp_path, answer) as desk:
        desk.use(agent)
        before = desk.files()
        desk.reverie("install", agent, "--yes")
        assert desk.files() != before
        desk.reverie("install", agent, "--remove", "--yes")

        # Their own commands may leave files of their own, but nothing about us.
        after = {name: content for name, content in desk.files().items() if not name.startswith(".reverie/")}
        assert {name: after.get(name) for name in before} == before
        assert not [name for name, content in after.items() if b"reverie" in content.lower()]
        desk.turn(agent, ASKED)
        assert not [body for body in desk.sent() if "reverie" in body.lower()]
        assert not (desk.home / ".reverie/hooks/calls").exists()
