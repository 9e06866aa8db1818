from __future__ import annotations

import json

from reverie.messages.blocks import Json
from reverie.testing.simulator import simulator
from tests.apps.cli.conftest import Terminal
from tests.requirements import requirement

SCRIPT: list[Json] = [
    {"when": {"system": "Speaks only in rhyme"}, "then": "the cat sat on the mat"},
    {
        "when": {"last_user": "kick-off"},
        "times": 1,
        "then": {
            "tool_calls": [
                {
                    "name": "Agent",
                    "input": {
                        "description": "rhyme",
                        "prompt": "a rhyme",
                        "subagent_type": "poet",
                        "run_in_background": True,
                    },
                }
            ]
        },
    },
    {"then": "done"},
]


@requirement("agents:found:priority", "agents:typed:run")
def test_a_role_of_the_flag_works_under_print_and_is_waited_for(terminal: Terminal) -> None:
    roles = json.dumps({"poet": {"description": "rhymes", "prompt": "Speaks only in rhyme."}})
    with simulator(SCRIPT) as provider:
        ran = terminal.run(
            "-m",
            "claude-sonnet-4-5",
            "-p",
            "kick-off",
            "--agents",
            roles,
            ANTHROPIC_API_KEY=provider.api_key,
            ANTHROPIC_BASE_URL=provider.base_url,
        )
        last = json.dumps(provider.requests[-1].body)
    assert (ran.code, ran.out) == (0, "done\n")
    assert "the cat sat on the mat" in last, "nobody is there to be told later, so the answer is there at once"


@requirement("mailbox:team:process")
def test_a_teammate_without_a_leader_leaves(terminal: Terminal) -> None:
    ran = terminal.run("teammate", "tess", "--team", "nobody", "--model", "offline")
    assert (ran.code, ran.out) == (0, "")
    assert not list(terminal.home.rglob("*.member.json"))
    assert "teammate" not in terminal.run("--help").out


@requirement("mailbox:team:process")
def test_a_teammate_of_an_unknown_role_is_a_mistake(terminal: Terminal) -> None:
    ran = terminal.run("teammate", "tess", "--team", "t", "--type", "wizard", "--model", "offline")
    assert ran.code == 2
    assert "'wizard'" in ran.err
