from __future__ import annotations

import statistics
from pathlib import Path

from bench.recall.__main__ import ask_product
from bench.recall.data import read_chat_cases, recall
from bench.recall.systems import fts5
from bench.recall.work import measure_product, measure_ranking, read_stores

from tests.requirements import requirement


@requirement("search:quality:work", "search:quality:words")
def test_memories_at_work_are_shown_when_they_matter_and_hardly_when_not() -> None:
    store = next(store for store in read_stores() if store.name == "platform")

    plain, asks = (measure_product(store, with_asks=with_asks).figures() for with_asks in (False, True))
    shown, asked = plain["must"].value or 0.0, asks["must"].value or 0.0
    bm25 = measure_ranking(store, fts5).figures()["must"].value or 0.0

    assert bm25 < asked
    assert (plain["same words"].value or 0.0) > 0.9
    assert shown > bm25 - 0.1
    assert asked > shown + 0.2
    assert (asks["paraphrases"].value or 0.0) > 0.5
    for figures in (plain, asks):
        assert (figures["unrelated: a whole one"].value or 0.0) <= 0.25
        assert (figures["unrelated: size"].value or 0.0) <= 600


@requirement("search:quality:words")
def test_real_questions_are_answered_better_than_by_plain_full_text_search(shared_data: Path) -> None:
    assert (shared_data / "recall").is_dir()
    case = read_chat_cases("observation")[1]
    rank = fts5({key: topic.body for key, topic in case.topics.items()})
    plain = statistics.fmean(recall(question, rank(question.text)) for question in case.questions)
    assert statistics.fmean(ask_product([case])) > plain
