"""`reverie mcp`, spoken to by the command line of the protocol's inspector."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.agents.programs import INSPECTOR, search_path
from tests.requirements import requirement

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]


def inspect(folder: Path, *arguments: str) -> Any:
    """What one request answers; the server is started for it."""
    done = subprocess.run(
        [str(INSPECTOR.path), "--cli", sys.executable, "-m", "reverie", "mcp", *arguments],
        env={"PATH": search_path(), "HOME": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, (done.stdout[-3000:], done.stderr[-3000:])
    return json.loads(done.stdout)


@requirement("mcp-server:stdio")
def test_the_inspector_saves_and_recalls(tmp_path: Path) -> None:
    if not INSPECTOR.path.exists():
        pytest.skip("the inspector could not be installed")
    call = ("--method", "tools/call", "--tool-name")
    fields = ("name=Tabs", "description=The user prefers tabs to spaces", "type=user")

    saved = inspect(tmp_path, *call, "memory_save", "--tool-arg", *fields)
    recalled = inspect(tmp_path, *call, "memory_recall", "--tool-arg", "query=does the user prefer tabs or spaces?")
    index = inspect(tmp_path, "--method", "resources/read", "--uri", "reverie://project/index")

    assert saved["structuredContent"]["is_new"]
    assert [hit["name"] for hit in recalled["structuredContent"]["hits"]] == ["Tabs"]
    assert "Tabs" in index["contents"][0]["text"]
