from __future__ import annotations

import statistics
from pathlib import Path

from bench.recall.data import read_cases
from bench.recall.figures import recall
from bench.recall.systems import fts5, ours

from tests.requirements import requirement


@requirement("search:quality:words")
def test_real_questions_are_answered_better_than_by_plain_full_text_search(shared_data: Path, tmp_path: Path) -> None:
    assert (shared_data / "recall").is_dir()
    case = read_cases("turn")[1]
    figures = []
    for system in (ours(), fts5):
        rank = system(case.documents, tmp_path)
        figures.append(statistics.fmean(recall(question, rank(question.text)) for question in case.questions))
    assert figures[0] > figures[1] + 0.1
