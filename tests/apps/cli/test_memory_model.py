"""A session without a model of its own learns through the one for memory work: a server on this machine."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reverie.testing.simulator import RunningSimulator, simulator
from reverie_simulator.script import Incoming, ScriptAction
from tests.apps.cli.conftest import Terminal
from tests.requirements import requirement

SAID = "Never push directly to main, open a pull request instead."
TITLE = "Pull requests"
MODEL = "openai/gpt-5-mini"


def answer(incoming: Incoming) -> ScriptAction:
    """What was said, under a title that no rule would find."""
    message = next((line[1:].partition("]")[0] for line in incoming.last_user.splitlines() if line[:1] == "["), "")
    fields = {"type": "feedback", "name": TITLE, "description": SAID, "body": SAID}
    more = {"why": "", "how_to_apply": "", "quote": SAID, "message": message, "when": [], "asks": []}
    return ScriptAction(text=json.dumps({"memories": [{**fields, **more}]}))


def say(terminal: Terminal, provider: RunningSimulator, **settings: str) -> None:
    """One prompt, answered without a model; what it taught is saved before the program ends."""
    server = {"OPENAI_BASE_URL": f"{provider.base_url}/v1", "OPENAI_API_KEY": provider.api_key}
    models = {"REVERIE_MODEL_DEFAULT": "offline", "REVERIE_MODEL_MEMORY": MODEL, "REVERIE_MODEL_MAX_RETRIES": "0"}
    ran = terminal.run("-p", SAID, **(server | models | {"REVERIE_EXTRACTION_NONINTERACTIVE": "true"} | settings))
    assert ran.code == 0, ran


def booked(terminal: Terminal) -> dict[str, Any]:
    """What background work cost."""
    rows = terminal.run("cost", "--by", "purpose", "--json").document
    return next((row for row in rows if row["purpose"] == "extraction"), {})


@pytest.mark.program
@requirement("extraction:memory-model")
def test_a_session_without_a_model_learns_through_the_one_for_memory_work(terminal: Terminal) -> None:
    with simulator(answer) as provider:
        say(terminal, provider)
        (asked,) = provider.requests

    assert SAID in json.dumps(asked.body)
    (topic,) = terminal.run("list", "--json").document
    assert topic["name"] == TITLE
    assert SAID in terminal.run("why", topic["name"]).out
    assert booked(terminal)["calls"] == 1
    assert booked(terminal)["cost_usd"] > 0


@pytest.mark.program
@requirement("extraction:memory-model")
@pytest.mark.parametrize(
    "settings", [{"REVERIE_BUDGET_BACKGROUND_USD_PER_HOUR": "0"}, {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}]
)
def test_where_the_budget_is_spent_or_nobody_answers_the_rules_learn(
    terminal: Terminal, settings: dict[str, str]
) -> None:
    with simulator(answer) as provider:
        say(terminal, provider, **settings)
        assert not provider.requests

    (topic,) = terminal.run("list", "--json").document
    assert topic["name"] != TITLE
    assert not booked(terminal).get("cost_usd")
