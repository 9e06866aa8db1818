from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.requirements import requirement


@requirement("demo:runs")
def test_the_demonstration_shows_a_cache_hit_and_a_window(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "COLUMNS": "120"}

    ran = subprocess.run(
        [sys.executable, "-m", "reverie.apps.demo"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
        check=True,
    )

    turns = {line.split()[0]: line.split() for line in ran.stdout.splitlines() if line[:1].isdecimal() and "$" in line}
    assert turns["1"][2] == "0"
    assert turns["2"][2].endswith("k")
    assert "what fills the window" in ran.stdout
    assert ran.stderr == ""
