"""The vendor's own terminal agent against the simulator: the strictest client there is."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from pathlib import Path

import pytest

from reverie.messages.blocks import Json
from reverie.testing.simulator import simulator
from tests.requirements import requirement


def _program() -> Path | None:
    package = importlib.util.find_spec("claude_agent_sdk")
    if package is None or package.origin is None:
        return None
    path = Path(package.origin).parent / "_bundled" / "claude"
    return path if path.is_file() and os.access(path, os.X_OK) else None


@requirement("simulator:client:official")
@pytest.mark.host
@pytest.mark.skipif(_program() is None, reason="the vendor's agent is not installed")
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
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "ANTHROPIC_BASE_URL": sim.base_url,
            "ANTHROPIC_API_KEY": sim.api_key,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        finished = subprocess.run(
            [str(_program()), "-p", "say it", "--allowedTools", "Bash", *chosen],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    assert "It printed from-the-tool" in finished.stdout, finished.stderr
    assert {record.status for record in sim.requests} == {200}
    assert sim.last_cache.breakpoints[-1].read_tokens > 0
