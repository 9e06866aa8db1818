"""Two providers in one session: one answers, a small model of another one works beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reverie.testing.openai_server import ChatAnswer, OpenAIServer
from reverie_simulator.script import Fault, ScriptAction
from tests.acceptance.workplace import ASKED, MODEL, Workplace, workplace
from tests.requirements import requirement

pytestmark = pytest.mark.program

PROFILE = "small"
SERVED_AS = "qwen3:8b"
"""The other provider's own name for its model."""


def small_model(body: Mapping[str, Any]) -> ChatAnswer:
    """Chooses no memory, lets a hook pass, and otherwise says who it is."""
    asked = json.dumps(body["messages"])
    if "selected_memories" in json.dumps(body.get("response_format")):
        return ChatAnswer(json.dumps({"selected_memories": []}), prompt_tokens=1_000)
    return ChatAnswer('{"ok": true}' if "is it polite" in asked.lower() else "from the small one")


def configure(at: Workplace, url: str, **settings: object) -> None:
    """A profile of the other provider, which serves its model under another name and at its own price."""
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    path = at.home / ".reverie" / "settings.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        "\n".join(
            (
                "[model]",
                *lines,
                f"[models.{PROFILE}]",
                f'model = "{SERVED_AS}"',
                f'base_url = "{url}/v1"',
                "input_usd_per_million = 1000",
                "output_usd_per_million = 0",
            )
        ),
        encoding="utf-8",
    )


@requirement("acceptance:providers:background")
def test_the_background_model_of_another_provider_is_asked_by_its_own_name(tmp_path: Path) -> None:
    with OpenAIServer(small_model) as small, workplace(tmp_path, lambda _: ScriptAction(text="fine")) as at:
        configure(at, small.url, background=PROFILE)
        hook = {"type": "prompt", "prompt": "Is it polite? $ARGUMENTS"}
        (at.home / ".claude").mkdir()
        (at.home / ".claude" / "settings.json").write_text(
            json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}}), encoding="utf-8"
        )
        assert at.run("save", "The lighthouse lamp is replaced on every third Tuesday.").code == 0
        assert at.run("-p", f"{ASKED}when is the lighthouse lamp replaced?").out == "fine\n"

        assert [body["model"] for body in small.bodies] == [SERVED_AS] * 2, "a hook, then the choice of memories"
        assert {record.body["model"] for record in at.provider.requests if isinstance(record.body, dict)} == {MODEL}
        assert booked(at)[SERVED_AS] == pytest.approx((20 + 1_000) / 1_000)


@requirement("acceptance:providers:fallback")
def test_another_provider_answers_when_the_first_has_no_capacity(tmp_path: Path) -> None:
    busy = ScriptAction(fault=Fault("error", 529))
    with OpenAIServer(small_model) as small, workplace(tmp_path, lambda _: busy, faults=(529,)) as at:
        configure(at, small.url, fallback=[PROFILE], max_retries=0)
        assert at.run("-p", f"{ASKED}who are you?").out == "from the small one\n"

        assert [body["model"] for body in small.bodies] == [SERVED_AS]
        assert booked(at) == {SERVED_AS: pytest.approx(20 / 1_000)}


def booked(at: Workplace) -> dict[str, float]:
    """What each model has cost so far."""
    listed = json.loads(at.run("cost", "--by", "model", "--json").out)
    return {line["model"]: line["cost_usd"] for line in listed}
