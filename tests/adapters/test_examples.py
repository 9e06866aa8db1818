"""Every adapter with its real library, as the examples use them, against the simulator."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reverie.messages.blocks import Json
from reverie.testing.simulator import simulator
from tests.requirements import requirement

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "adapters"
LIBRARIES = {
    "with_openai_agents.py": "agents",
    "with_pydantic_ai.py": "pydantic_ai",
    "with_langchain.py": "langchain",
    "with_llama_index.py": "llama_index.core",
    "with_claude_agent.py": "claude_agent_sdk",
}
SCRIPT: list[Json] = [{"when": {}, "then": {"text": "With a real one."}}]


@pytest.mark.program
@requirement("adapters:examples")
@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_adapter_recalls_and_learns(example: Path, tmp_path: Path) -> None:
    pytest.importorskip(LIBRARIES[example.name])
    with simulator(SCRIPT) as provider:
        environment = {
            "HOME": str(tmp_path),
            "PATH": os.environ["PATH"],
            "OPENAI_API_KEY": provider.api_key,
            "OPENAI_BASE_URL": f"{provider.base_url}/v1",
            "ANTHROPIC_API_KEY": provider.api_key,
            "ANTHROPIC_BASE_URL": provider.base_url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "LANGSMITH_TRACING": "false",
        }
        ran = subprocess.run(
            [sys.executable, str(example)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment,
            timeout=110,
            check=False,
        )
        asked = [record for record in provider.requests if "integration tests?" in str(record.body)]

    assert ran.returncode == 0, ran.stderr
    assert "With a real one." in ran.stdout
    assert any("a mock hid a broken migration" in str(record.body) for record in asked), ran.stdout
    assert all(str(record.body).count("a mock hid a broken migration.") <= 1 for record in asked), "shown once"
    assert "Tuesdays" in ran.stdout.partition("remembered:")[2], ran.stdout
