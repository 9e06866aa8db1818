"""The vendor's own agent with our hooks installed: a memory of one session reaches the model's request in the next."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie_simulator.script import Incoming, ScriptAction
from tests.acceptance.host import needs_host, run_host
from tests.acceptance.workplace import Workplace, workplace
from tests.requirements import requirement

pytestmark = [pytest.mark.agents, needs_host, pytest.mark.timeout(300)]


def answer(incoming: Incoming) -> ScriptAction:
    if "detailed summary" in incoming.last_user:
        return ScriptAction(text="<analysis>-</analysis><summary>It was about apples.</summary>")
    return ScriptAction(text=f"answer {incoming.number}")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Workplace]:
    with workplace(tmp_path, answer, extends=False) as at:
        yield at


def host(at: Workplace, *arguments: str) -> str:
    return run_host(at.provider, at.home, at.project, *arguments)


def newest(at: Workplace) -> str:
    bodies = [record.body for record in at.provider.requests if record.path.endswith("/messages")]
    return json.dumps(bodies[-1])


def until_learnt(at: Workplace) -> list[str]:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        names = [topic["name"] for topic in json.loads(at.run("list", "--json").out)]
        if names:
            return names
        time.sleep(0.1)
    raise AssertionError((at.home / ".reverie/hooks/log").read_text(encoding="utf-8"))


@requirement("hook:claude-code")
def test_a_memory_of_one_session_reaches_the_next(place: Workplace) -> None:
    settings = place.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    before = '{\n  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}\n}\n'
    settings.write_text(before, encoding="utf-8")
    assert place.run("install", "claude-code").code == 0

    host(place, "-p", "From now on, always run the importer tests with `make importer-test`, never with pytest.")
    assert "importer" in until_learnt(place)[0].lower()
    session = json.loads(host(place, "-p", "how do we run the importer tests here?", "--output-format", "json"))

    sent = newest(place)
    assert "<reverie-memory>" in sent
    assert "make importer-test" in sent
    assert "Memories of this project" in sent
    host(place, "-p", "/compact", "--resume", session["session_id"])
    host(place, "-p", "go on with the importer", "--resume", session["session_id"])
    assert "State of this session before" in newest(place)

    assert place.run("install", "claude-code", "--remove").code == 0
    assert settings.read_text(encoding="utf-8") == before
