"""Sessions that the real programs write are listed, learnt from and searched."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie_simulator.script import Incoming, ScriptAction
from tests.agents.desk import open_desk
from tests.requirements import requirement

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]

OTHERS = ("codex", "copilot", "opencode", "qwen", "gemini")
TAUGHT = "From now on, always run the importer tests with `make importer-test`, never with pytest."


def answer(incoming: Incoming) -> ScriptAction | None:
    if "json" in str(incoming.body.get("output_config")):
        return None
    return ScriptAction(text="Understood, the zeppelin is ready.")


@requirement("programs:sessions")
@pytest.mark.parametrize("agent", OTHERS)
def test_what_a_program_wrote_is_listed_learnt_from_and_searched(tmp_path: Path, agent: str) -> None:
    with open_desk(tmp_path, answer) as desk:
        desk.use(agent)
        before = {path.name for path in desk.project.iterdir()}
        assert "zeppelin" in desk.turn(agent, TAUGHT)

        (session,) = desk.sessions(agent)
        assert session["unknown_records"] == {}
        assert Path(session["cwd"]).resolve() == desk.project.resolve()
        assert session["tokens"] > 1_000
        assert session["cost_usd"] > 0
        written = desk.files()

        found = desk.read_json("search", "zeppelin")
        assert {hit["session"] for hit in found["hits"]} == {session["id"]}
        desk.reverie("learn", "--agent", agent)
        (topic,) = desk.read_json("list")
        assert "importer" in topic["name"]
        assert "make importer-test" in desk.reverie("show", topic["name"]).out

        # Nothing of theirs was written.
        after = desk.files()
        assert {name: after.get(name) for name in written if not name.startswith(".reverie/")} == {
            name: content for name, content in written.items() if not name.startswith(".reverie/")
        }
        assert {path.name for path in desk.project.iterdir()} == before
