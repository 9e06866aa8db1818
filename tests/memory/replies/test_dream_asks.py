"""Old memories get their asks at the next dream: files without them, `reverie dream`, files with them, recall."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from reverie.memory.topics.situations import When
from reverie.memory.topics.topic import Topic, parse_topic
from reverie.testing.simulator import simulator
from reverie_simulator.script import Incoming, ScriptAction, ToolCall
from tests.apps.cli.conftest import Ran, Terminal
from tests.memory.dream.test_dreams import memory_directory, staging
from tests.requirements import requirement

MODEL = "claude-sonnet-4-5"
OLD = {
    "feedback_database.md": ("feedback", "Integration tests run against a real Postgres, never a mock."),
    "project_launch.md": ("project", "The launch moved to the week after Easter."),
    "reference_dashboards.md": ("reference", "Latency graphs are on the Grafana board named harbour."),
}
ASKS = {
    "feedback_database.md": ["stub the connection so the suite runs faster"],
    "project_launch.md": ["when do we go live?"],
    "reference_dashboards.md": ["why is the checkout slow today?"],
}


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    directory = memory_directory(tmp_path)
    directory.mkdir(parents=True)
    for name, (kind, text) in OLD.items():
        old = f"---\nname: {name[:-3]}\ndescription: {text}\ntype: {kind}\n---\n{text}\n"
        (directory / name).write_text(old, encoding="utf-8")
    return Terminal(tmp_path / "home", tmp_path / "project")


def topics(root: Path) -> dict[str, Topic]:
    return {name: parse_topic(name, (memory_directory(root) / name).read_text(encoding="utf-8")) for name in OLD}


class Dreamer:
    """A model that does what the prompt asks for: reads the files that it lists, then adds asks to them."""

    def __init__(self, root: Path, asks: Mapping[str, Sequence[str]]) -> None:
        self.copy = staging(root)
        self.asks = asks
        self.offered: list[list[str]] = []

    def __call__(self, incoming: Incoming) -> ScriptAction:
        if not incoming.answered_tools:
            section = incoming.last_user.partition("## 3. Say when")[2].partition("`when:")[0]
            self.offered.append(re.findall(r"(?m)^- (\S+\.md)$", section))
            reads = (ToolCall("Read", {"file_path": str(self.copy / name)}) for name in self.offered[-1])
            return ScriptAction(text="Looking.", tool_calls=tuple(reads))
        if incoming.answered_tools == {"Read"}:
            return ScriptAction(text="Writing.", tool_calls=tuple(map(self._edit, self._answered)))
        return ScriptAction(text="In order now.")

    @property
    def _answered(self) -> list[str]:
        return [name for name in self.offered[-1] if self.asks.get(name)]

    def _edit(self, name: str) -> ToolCall:
        asks = ", ".join(f'"{ask}"' for ask in self.asks[name])
        kind = OLD[name][0]
        new = f'type: {kind}\nwhen: ["{kind} words"]\nasks: [{asks}]\n'
        path = str(self.copy / name)
        return ToolCall("Edit", {"file_path": path, "old_string": f"type: {kind}\n", "new_string": new})


def dream(terminal: Terminal, dreamer: Dreamer, **more: str) -> Ran:
    with simulator(dreamer) as provider:
        access = {"ANTHROPIC_API_KEY": provider.api_key, "ANTHROPIC_BASE_URL": provider.base_url}
        return terminal.run("dream", "--model", MODEL, "--json", **access, **more)


@requirement("dream:asks")
def test_old_memories_get_asks_at_the_next_dream_and_are_found_by_them(terminal: Terminal, tmp_path: Path) -> None:
    assert "project_launch" not in terminal.run("recall", "when do we go live?", "--json").out
    dreamer = Dreamer(tmp_path, ASKS)

    done = dream(terminal, dreamer).document

    assert (done["state"], done["changed"], done["refused"]) == ("completed", 3, []), done
    assert {name: list(topic.asks) for name, topic in topics(tmp_path).items()} == ASKS
    assert topics(tmp_path)["project_launch.md"].when == When(words=("project words",))
    for name, (question,) in ASKS.items():
        assert name[:-3] in terminal.run("recall", question, "--json").out, question

    again = dream(terminal, dreamer).document

    assert again["state"] == "unchanged"
    assert dreamer.offered[1:] == [[]], "nothing is asked for twice"


@requirement("dream:asks")
def test_a_dream_asks_for_so_many_and_the_next_goes_on(terminal: Terminal, tmp_path: Path) -> None:
    terminal.run("recall", "Where are the latency graphs of the Grafana board harbour?")
    dreamer = Dreamer(tmp_path, {**ASKS, "feedback_database.md": []})

    for _ in range(4):
        dream(terminal, dreamer, REVERIE_DREAM_ASKS_BATCH="1")

    offered = [name for names in dreamer.offered for name in names]
    assert offered[0] == "reference_dashboards.md", "what is used most comes first"
    assert sorted(offered) == sorted(OLD), "each once, also the one for which the model had no answer"
    (memory_directory(tmp_path) / "feedback_database.md").write_text(
        "---\nname: database\ndescription: Tests run against Postgres 17.\ntype: feedback\n---\n", encoding="utf-8"
    )
    dream(terminal, dreamer, REVERIE_DREAM_ASKS_BATCH="1")
    assert dreamer.offered[-1] == ["feedback_database.md"], "a memory that has changed is asked about again"


@requirement("dream:situations", "dream:idempotent")
def test_without_a_model_a_dream_adds_the_situations_that_a_rule_names_and_no_asks(
    terminal: Terminal, tmp_path: Path
) -> None:
    done = terminal.run("dream", "--json").document

    assert (done["state"], done["changed"]) == ("completed", 1)
    made = topics(tmp_path)
    assert made["feedback_database.md"].when == When(tasks=("test",))
    assert not any(topic.asks for topic in made.values())
    assert (made["project_launch.md"].when, made["reference_dashboards.md"].when) == (None, None)
    assert terminal.run("dream", "--json").document["state"] == "unchanged"
