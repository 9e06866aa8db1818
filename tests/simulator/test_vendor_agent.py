"""The vendor's own terminal agent against the simulator: the strictest client there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.messages.blocks import Json
from reverie.testing.simulator import simulator
from tests.acceptance.host import needs_host, run_host
from tests.requirements import requirement


@requirement("simulator:client:official")
@pytest.mark.agents
@needs_host
@pytest.mark.parametrize("chosen", [(), ("--model", "claude-sonnet-4-5")], ids=["its own model", "with thinking"])
def test_it_runs_a_tool_and_reads_its_own_cache(tmp_path: Path, chosen: tuple[str, ...]) -> None:
    script: Json = [
        {
            "when": {"last_user": "say it", "has_tool_results": False, "offers_tool": "Bash"},
            "then": {"tool_calls": [{"name": "Bash", "input": {"command": "echo from-the-tool"}}]},
        },
        {"when": {"has_tool_results": True}, "then": "It printed {tool_result}"},
    ]
    with simulator(script) as sim:
        printed = run_host(sim, tmp_path, tmp_path, "-p", "say it", "--allowedTools", "Bash", *chosen)

    assert "It printed from-the-tool" in printed
    assert {record.status for record in sim.requests} == {200}
    assert sim.last_cache.breakpoints[-1].read_tokens > 0
