"""The derived index after a kill: the next process finds everything, whatever was half done."""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.files.places.paths import MemoryFolder
from reverie.memory.search.document import Query
from reverie.memory.search.topic_index import IndexedFolder
from tests.requirements import requirement

FILES = 300
SWEEPS = """
import sys
from pathlib import Path
from reverie.memory.search.topic_index import IndexedFolder
from reverie.files.places.paths import MemoryFolder
folder = IndexedFolder(MemoryFolder(Path(sys.argv[1]), Path(sys.argv[1])))
print("ready", flush=True)
while True:
    folder.sweep()
    for path in sorted(Path(sys.argv[1]).glob("n*.md"))[::7]:
        # By rename: a kill between truncating and writing would lose the text before any index saw it.
        edited = path.with_suffix(".edited")
        edited.write_text(path.read_text(encoding="utf-8") + "More.\\n", encoding="utf-8")
        edited.replace(path)
"""


@requirement("recall:derived")
@pytest.mark.parametrize("milliseconds", [5, 40, 120, 300])
def test_after_a_kill_the_next_sweep_finds_everything(tmp_path: Path, milliseconds: int) -> None:
    for number in range(FILES):
        text = f"---\nname: Note {number}\ndescription: about marker{number}x\n---\nIt says marker{number}x.\n"
        (tmp_path / f"n{number}.md").write_text(text, encoding="utf-8")
    with subprocess.Popen([sys.executable, "-c", SWEEPS, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(milliseconds / 1000)
        process.kill()

    indexed = IndexedFolder(MemoryFolder(tmp_path, tmp_path))
    indexed.sweep()

    assert len(indexed) == FILES
    for number in range(0, FILES, 23):
        hits = indexed.search(Query(f"marker{number}x", datetime(2026, 5, 1, tzinfo=UTC), abstains=False))
        assert [hit.key for hit in hits] == [f"n{number}.md"]
        assert indexed.read([f"n{number}.md"])[f"n{number}.md"].topic.body == _body(tmp_path / f"n{number}.md")
    indexed.close()


def _body(path: Path) -> str:
    return path.read_text(encoding="utf-8").split("---\n", 2)[2].strip()
