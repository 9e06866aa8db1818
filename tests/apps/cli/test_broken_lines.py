"""Lines of a transcript that no program should have written: each is passed over, and the rest is read."""

from __future__ import annotations

import json

import pytest

from tests.apps.cli.conftest import Terminal
from tests.requirements import requirement

SESSION = "22222222-2222-4222-8222-222222222222"


@requirement("messages:transcript:nested")
@pytest.mark.parametrize(
    "command", [("sessions", "--all"), ("context", SESSION), ("search", "chunks"), ("cost", "--all")]
)
def test_a_line_nested_beyond_measure_costs_only_itself(terminal: Terminal, command: tuple[str, ...]) -> None:
    record = {
        "type": "user",
        "uuid": "11111111-1111-4111-8111-111111111111",
        "parentUuid": None,
        "sessionId": SESSION,
        "timestamp": "2026-11-15T10:00:00.000Z",
        "cwd": str(terminal.project),
        "version": "2.1.0",
        "message": {"role": "user", "content": "the importer reads its files in chunks"},
    }
    line = json.dumps(record)
    deep, deeper = '{"a":' * 5_000 + "1" + "}" * 5_000, "[" * 100_000 + "]" * 100_000
    lines = [line, f'{line[:-1]}, "toolUseResult": {deep}}}', f'{{"type": "user", "message": {deeper}}}', deeper]
    folder = (
        terminal.home / ".claude" / "projects" / str(terminal.project.resolve()).replace("/", "-").replace("_", "-")
    )
    folder.mkdir(parents=True)
    (folder / f"{SESSION}.jsonl").write_text("\n".join([*lines, '{"a": "\\ud800"}', ""]))

    ran = terminal.run(*command)

    assert ran.code == 0
    assert "importer" in ran.out or command[0] == "cost"
