"""The vendor's own terminal agent beside ours: one home, one project, one provider."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from reverie.files.places.paths import slug_of
from reverie.messages.blocks import JsonObject
from reverie.testing.simulator import RunningSimulator
from reverie_simulator.wire import blocks_at, objects_at, text_at


def program() -> Path | None:
    """The vendor's agent, which comes with its SDK for Python."""
    package = importlib.util.find_spec("claude_agent_sdk")
    if package is None or package.origin is None:
        return None
    path = Path(package.origin).parent / "_bundled" / "claude"
    return path if path.is_file() and os.access(path, os.X_OK) else None


needs_host = pytest.mark.skipif(program() is None, reason="the vendor's agent is not installed")


def run_host(provider: RunningSimulator, home: Path, project: Path, *arguments: str, stdin: str | None = None) -> str:
    """What one turn of the vendor's agent prints."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "ANTHROPIC_BASE_URL": provider.base_url,
        "ANTHROPIC_API_KEY": provider.api_key,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    given: dict[str, Any] = {"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}
    done: subprocess.CompletedProcess[str] = subprocess.run(
        [str(program()), *arguments],
        env=environment,
        cwd=project,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
        **given,
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout


def host_folder(home: Path, project: Path) -> Path:
    """Where the vendor's agent keeps its sessions of a project."""
    folder = home / ".claude" / "projects" / slug_of(str(project.resolve()))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_records(path: Path, records: Sequence[JsonObject]) -> None:
    path.write_text("".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records), encoding="utf-8")


def sent(body: JsonObject) -> list[str]:
    """The texts of a request's messages in order, as `role: text`, without what a program says of itself."""
    said = [
        (message["role"], text_at(block, "text"))
        for message in objects_at(body, "messages")
        for block in blocks_at(message, "content")
        if block.get("type") == "text" and message["role"] != "system"
    ]
    return [f"{role}: {text.strip()}" for role, text in said if not text.startswith("<system-reminder>")]
