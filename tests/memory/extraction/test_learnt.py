from __future__ import annotations

from pathlib import Path

from reverie.files.places.paths import MemoryFolder
from reverie.memory.extraction.learnt import Learnt, append_learnt, learnt_file, read_learnt, write_shortened
from tests.requirements import requirement


@requirement("learn:idempotent")
def test_the_last_word_on_a_session_counts_and_the_file_stays_small(tmp_path: Path) -> None:
    folder = MemoryFolder(tmp_path, tmp_path)

    for number in range(200):
        append_learnt(folder, Learnt("s1", f"m{number}", number, number))
    append_learnt(folder, Learnt("s2", "m9", 9, 9))
    write_shortened(folder)

    assert read_learnt(folder) == {"s1": Learnt("s1", "m199", 199, 199), "s2": Learnt("s2", "m9", 9, 9)}
    assert len(learnt_file(folder).read_text(encoding="utf-8").splitlines()) == 2


@requirement("learn:resumable")
def test_a_torn_line_is_passed_over(tmp_path: Path) -> None:
    folder = MemoryFolder(tmp_path, tmp_path)
    append_learnt(folder, Learnt("s1", "m1", 1, 10))
    with learnt_file(folder).open("a", encoding="utf-8") as file:
        file.write('{"session": "s1", "la')

    assert read_learnt(folder)["s1"].last == "m1"
