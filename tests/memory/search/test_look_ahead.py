from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.requirements import requirement

_SWEEP = """
import os, signal, sys
from pathlib import Path
from reverie.memory.search.topic_index import IndexedFolder
from reverie.files.places.paths import MemoryFolder

directory = Path(sys.argv[1])
indexed = IndexedFolder(MemoryFolder(directory, directory))
indexed.look_ahead()
if sys.argv[2] == "killed":
    os.kill(indexed._ahead._child, signal.SIGKILL)
before = len(indexed)
print(indexed.catch_up(), indexed.seconds_since_sweep < 60, before, len(indexed))
indexed.close()
"""


def caught_up(directory: Path, how: str = "") -> str:
    """What a process of its own finds, as single-threaded as the command is: news, swept, topics before and after."""
    done = subprocess.run([sys.executable, "-c", _SWEEP, str(directory), how], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@requirement("recall:edits-visible")
@pytest.mark.parametrize("how", ["", "killed"])
def test_a_look_ahead_finds_what_a_sweep_finds(tmp_path: Path, how: str) -> None:
    first, second = tmp_path / "a.md", tmp_path / "b.md"
    first.write_text("# Kiwi\n\nThe kiwi server listens on port 8099.\n", encoding="utf-8")
    second.write_text("# Mango\n\nThe mango queue is drained nightly.\n", encoding="utf-8")
    assert caught_up(tmp_path, how) == "True True 0 2"
    assert caught_up(tmp_path, how) == "False True 2 2"
    first.write_text("# Kiwi\n\nThe kiwi server listens on port 9099.\n", encoding="utf-8")
    assert caught_up(tmp_path, how) == "True True 2 2"
    second.unlink()
    assert caught_up(tmp_path, how) == "True True 2 1"
    assert caught_up(tmp_path, how) == "False True 1 1"


def test_a_look_ahead_at_nothing_finds_nothing(tmp_path: Path) -> None:
    assert caught_up(tmp_path / "none") == "False True 0 0"
    assert not (tmp_path / "none").exists()
