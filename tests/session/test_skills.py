from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reverie.messages.blocks import Json
from reverie.permissions.approval import Approval
from reverie.session.events import Notice
from tests.requirements import requirement
from tests.session.session_desk import Desk, calls, desk, ending, results, told
from tests.session.subagents.definitions.roles import write_role

OPUS = "claude-opus-4-6"


def own_skill(at: Desk, name: str, text: str, *head: str) -> None:
    """A skill of the user."""
    path = at.home / ".claude" / "skills" / name / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(["---", f"description: What {name} does", *head, "---", text, ""]), encoding="utf-8")


def efforts(bodies: list[dict[str, Any]]) -> list[str | None]:
    return [body.get("output_config", {}).get("effort") for body in bodies]


@requirement("extensions:skill:forks")
async def test_a_skill_that_forks_runs_in_an_agent_of_its_own_and_its_report_joins(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"last_user": "Count the herons of"}, "then": "There are seven herons."},
        {"then": "Seven, it says."},
    ]
    with desk(tmp_path, script) as at:
        own_skill(at, "count", "Count the herons of $ARGUMENTS.", "context: fork")
        async with at.start() as session:
            ended = ending(await told(session, "/count the lake"))
            kept = session.parts.extensions.skill_invoker.store()

        agent, main = at.bodies
        assert "Count the herons of the lake." in json.dumps(agent["messages"])
        assert "/count the lake" not in json.dumps(agent["messages"]), "it begins with an empty context"
        assert agent["system"] != main["system"]
        sent = json.dumps(main["messages"])
        assert sent.index("/count the lake") < sent.index("There are seven herons.")
        assert "Count the herons" not in sent
        assert ended.text == "Seven, it says."
        assert kept == (), "there is nothing to restore after a compaction"


@requirement("extensions:skill:forks", "extensions:skill:model")
async def test_the_model_reads_the_report_and_the_rules_of_the_skill_hold_for_its_agent_alone(tmp_path: Path) -> None:
    touch = calls(("Bash", {"command": "touch made"}))
    script: list[Json] = [
        {"when": {"system": "You look", "has_tool_results": False}, "then": touch},
        {"when": {"system": "You look"}, "then": "I made it."},
        {
            "when": {"last_user": "help", "has_tool_results": False},
            "then": calls(("Skill", {"skill": "make", "args": "now"})),
        },
        {"when": {"last_user": "help"}, "times": 1, "then": touch},
        {"then": "done"},
    ]
    with desk(tmp_path, script) as at:
        at.model = OPUS
        at.person.answer = lambda _question: Approval(False)
        write_role(at.home / ".claude", "looker", "tools: Bash", "You look.")
        head = ("context: fork", "agent: looker", "model: haiku", "allowed-tools: Bash(touch:*)")
        own_skill(at, "make", "Make it $1.", *head)
        async with at.start() as session:
            await told(session, "help me")

        looked = [body for body in at.bodies if "You look." in json.dumps(body["system"])]
        assert all("haiku" in body["model"] for body in looked)
        assert results(looked[-1])[0][0] is False, "the skill allows it"
        main = [body for body in at.bodies if body not in looked]
        ((failed, text),) = results(main[1])
        assert not failed
        assert text.startswith("I made it.")
        assert "is loaded" not in text
        ((refused, _),) = results(main[2])
        assert refused, "the main agent was allowed nothing"
        assert len(at.person.asked) == 1


@requirement("extensions:skill:forks")
async def test_a_skill_that_names_an_agent_that_is_not_there_says_so(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine"}]) as at:
        own_skill(at, "count", "Count.", "context: fork", "agent: nobody")
        async with at.start() as session:
            ended = ending(await told(session, "/count"))

        assert "There is no agent type 'nobody'" in ended.text
        assert at.bodies == []


@requirement("extensions:skill:voice")
@pytest.mark.moves_prefix("another model answers while a skill holds")
async def test_model_and_effort_of_a_skill_hold_until_the_turn_ends(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"last_user": "think", "has_tool_results": False}, "then": calls(("Skill", {"skill": "deep"}))},
        {"then": "fine {request}"},
    ]
    with desk(tmp_path, script) as at:
        at.model = OPUS
        own_skill(at, "deep", "Think hard.", "effort: max")
        own_skill(at, "quick", "Be quick.", "model: claude-haiku-4-5", "effort: low")
        async with at.start() as session:
            await told(session, "hello")
            await told(session, "/quick")
            assert session.status.model == OPUS
            await told(session, "think about it")
            await told(session, "and now?")

        models = [body["model"] for body in at.bodies]
        assert models == [OPUS, "claude-haiku-4-5", OPUS, OPUS, OPUS]
        assert efforts(at.bodies) == [None, None, None, "max", None], "haiku takes no word on effort"


@requirement("extensions:skill:voice")
async def test_a_model_that_cannot_take_over_is_warned_of_and_the_first_goes_on(tmp_path: Path) -> None:
    with desk(tmp_path, [{"then": "fine {request}"}]) as at:
        own_skill(at, "odd", "Be odd.", "model: no-such-thing")
        async with at.start() as session:
            events = await told(session, "/odd")

        warned = [event.text for event in events if isinstance(event, Notice) and "the skill 'odd'" in event.text]
        assert len(warned) == 1
        assert [body["model"] for body in at.bodies] == [at.model]
