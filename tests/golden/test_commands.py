"""What every command with `--json` prints."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.golden.golden import FOLDER, Golden
from tests.golden.place import MODEL, Place, place
from tests.golden.scenarios import LONG, SCENARIOS
from tests.requirements import requirement

_LISTED = re.compile(r"^  ([a-z]+)  +\S", re.MULTILINE)
TOKENS = r"[tT]okens|cost|share|percent|cache_|^fresh$"
"""Figures that depend on the length of the folder's name, which is part of the system text."""


@pytest.fixture
def at() -> Iterator[Place]:
    with place(list(SCENARIOS["compaction"].script)) as found:
        yield found


@requirement("golden:json")
def test_every_command_with_json_has_a_golden_file(golden: Golden, at: Place) -> None:
    listed = _LISTED.findall(at.run("--help").out.partition("\nMemory:")[2])
    assert len(listed) >= 30
    with_json = {name for name in listed if "--json" in at.run(name, "--help").out}
    pinned = {path.stem.partition("-")[0] for path in (FOLDER / "json").glob("*.json")}
    if golden.updates:
        pytest.skip("the files are being written")
    assert with_json - pinned == set()


@requirement("golden:json")
def test_commands_of_a_memory(golden: Golden, at: Place) -> None:
    written = _Written(golden, at)
    (at.project / "orders.py").write_text("def load_orders():\n    return []\n", encoding="utf-8")
    written.json("save", *_SAVE, stdin="Mocks hid a broken migration in `orders.py`.\n")
    written.json("save", "Deploys happen on Tuesday from the release branch.", name="save-text")
    written.json("save", "Answer in short sentences.", "--user", name="save-user")
    written.json("list")
    written.json("show", "No mocks")
    written.json("recall", "how do integration tests use the database?", "--file", "orders.py")
    written.json("recall", "what colour has the moon?", name="recall-nothing")
    written.json("why", "No mocks")
    written.json("pin", "No mocks")
    written.json("forget", "No mocks")
    commit = written.json("log")[0]["commit"]
    written.json("diff", commit)
    written.json("undo", commit)
    written.json("at", "today")
    written.json("at", "today", "No mocks", name="at-name")
    bundle = str(at.folder / "memory.bundle")
    written.json("export", bundle)
    written.json("import", bundle, "--memory-dir", str(at.folder / "copy"))
    written.json("sync", "--status")
    written.json("erase", "No mocks", "--yes")
    written.json("doctor")
    written.json("models")
    (at.project / "AGENTS.md").write_text("# Rules\n\n- Always use tabs here\n- Ships load at dawn\n", encoding="utf-8")
    written.json("audit", "AGENTS.md")
    written.json("import", "AGENTS.md", name="import-notes")
    written.json("export", "--to", "AGENTS.md", name="export-notes")
    assert not written.problems, "\n".join(written.problems)


_SAVE = (
    *("--type", "feedback", "--name", "No mocks", "--description", "Never mock the database in integration tests."),
    *(
        "--when",
        "tests/**",
        "--anchor",
        "orders.py#load_orders",
        "--quote",
        "no mocks, please",
        "--reason",
        "asked for",
    ),
)


@requirement("golden:json")
def test_commands_of_dreams_and_settings(golden: Golden, at: Place) -> None:
    written = _Written(golden, at, TOKENS)
    for name in ("One", "Two"):
        at.run(
            "save", "--type", "project", "--name", name, "--description", "Deploys go out on Tuesday.", "--body", LONG
        )
    written.json("dream", "--dry-run", "--model", MODEL, name="dream-dry")
    written.json("dream", "--review", name="dream-review")
    written.json("dream", "--status", name="dream-status")
    written.json("dream", "--discard", name="dream-discard")
    written.json("dream", "--yes")
    written.json("tasks")
    written.json("settings")
    (at.project / ".reverie").mkdir()
    (at.project / ".reverie" / "settings.toml").write_text("[recall]\nmax_files = 3\n", encoding="utf-8")
    (at.project / ".mcp.json").write_text('{"mcpServers": {"lamp": {"command": "lamp"}}}', encoding="utf-8")
    written.json("settings", "recall.max_files", "--origin", name="settings-origin")
    written.json("trust")
    written.json("install", "qwen", "--dry-run")
    assert not written.problems, "\n".join(written.problems)


@requirement("golden:json")
def test_commands_of_sessions(golden: Golden, at: Place) -> None:
    written = _Written(golden, at, TOKENS)
    SCENARIOS["compaction"].act(at)
    session = written.json("sessions")[0]["id"]
    written.json("search", "low tide harbour")
    written.json("context", session)
    written.json("span", session, "--about", "harbour")
    written.json("replay", session, "--window", "20000")
    written.json("cost", "--by", "purpose")
    written.json("learn", str(at.files(".reverie/projects/*/*.jsonl")[0]))
    written.json("uncompact", session)
    printed = at.run("-m", MODEL, "--output-format", "json", "-p", "First: hello").out
    written.check("print", "[" + printed + "]")
    streamed = at.run("-m", MODEL, "--output-format", "stream-json", "-p", "First: hello").out
    written.check("print-stream", "[" + ",".join(streamed.splitlines()) + "]")
    assert not written.problems, "\n".join(written.problems)


class _Written:
    """Runs commands one after another and compares what each prints; every difference is told at the end."""

    def __init__(self, golden: Golden, at: Place, further: str = "cost_usd") -> None:
        self.problems: list[str] = []
        self._golden = golden
        self._at = at
        self._further = further

    def json(self, command: str, *arguments: str, name: str = "", stdin: str = "") -> Any:
        out = self._at.run(command, *arguments, "--json", stdin=stdin).out
        return self.check(name or command, out)

    def check(self, name: str, out: str) -> Any:
        document = json.loads(out)
        normaliser = self._at.normaliser
        normaliser.volatile_keys += f"|{self._further}"
        try:
            self._golden.check_json(f"json/{name}.json", normaliser.json(document))
        except AssertionError as problem:
            self.problems.append(str(problem))
        return document
