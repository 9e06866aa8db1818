from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reverie.memory.search.document import Query, SearchDocument
from reverie.memory.search.engine import SearchIndex, embed_documents
from tests.requirements import requirement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = pytest.importorskip("numpy")

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MEANINGS = {"dog": 0, "puppy": 0, "retriever": 0, "car": 1, "vehicle": 1, "engine": 1, "cake": 2, "dessert": 2}


class MeaningByList:
    """Words of one meaning share a direction; everything else has a small one of its own."""

    def windows(self, text: str) -> tuple[str, ...]:
        return (text,)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        found = np.full((len(texts), 384), 0.001, dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().strip("?.").split():
                meaning = MEANINGS.get(word, 3 + sum(map(ord, word)))
                found[row] += np.random.default_rng(meaning).standard_normal(384)
        unit: NDArray[np.float32] = found / np.linalg.norm(found, axis=1, keepdims=True)
        return unit


@requirement("search:vectors:meaning")
def test_a_paraphrase_without_common_words_is_found(tmp_path: Path) -> None:
    documents = [
        SearchDocument(key="pet", body="retriever"),
        SearchDocument(key="ride", body="engine"),
        SearchDocument(key="food", body="cake"),
    ]
    model = MeaningByList()
    with SearchIndex(tmp_path / "index", model) as index:
        index.update(documents)
        assert index.without_vectors() == ["pet", "ride", "food"]
        index.write_vectors(embed_documents(documents, model))
        assert index.without_vectors() == []
        hits = index.search(Query("puppy", NOW, abstains=False))
        assert hits[0].key == "pet"
        assert hits[0].why.similarity is not None
        assert hits[0].why.similarity > 0.9
        index.update([], ["pet"])
        assert "pet" not in [hit.key for hit in index.search(Query("puppy", NOW, abstains=False))]


@requirement("search:asks")
def test_each_ask_has_a_vector_and_the_best_of_all_counts(tmp_path: Path) -> None:
    documents = [
        SearchDocument(key="plain", body="engine cake"),
        SearchDocument(key="asked", body="engine cake", asks=("cake cake", "retriever")),
    ]
    model = MeaningByList()
    with SearchIndex(tmp_path / "index", model) as index:
        index.update(documents)
        index.write_vectors(embed_documents(documents, model))
        _, measured = index.measure_candidates(Query("puppy", NOW))
        values = {each.row.key: each.values for each in measured}
        assert values["asked"]["best_meaning"] > 0.9 > 0.5 > values["plain"]["best_meaning"]
        assert values["asked"]["ask_meaning_lead"] > 1 > values["plain"]["ask_meaning_lead"] == 0
        assert index.search(Query("puppy", NOW))[0].key == "asked"

        changed = replace(documents[1], asks=())
        index.update([changed])
        assert index.without_vectors() == ["asked"]
        index.write_vectors(embed_documents([changed], model))
        _, measured = index.measure_candidates(Query("puppy", NOW))
        assert all(each.values["best_meaning"] < 0.5 for each in measured)


@requirement("search:asks")
def test_documents_with_many_vectors_take_no_places_of_others() -> None:
    from reverie.memory.search.vectors import VectorTable, pack

    near = np.eye(384, dtype=np.float32)[0] * np.float32(0.3)
    table = VectorTable((document, part, pack(near)) for document in range(10) for part in range(6))

    assert sorted(table.best(near, 10)) == list(range(10))


@requirement("search:vectors:meaning")
def test_the_prefilter_by_sign_bits_keeps_the_nearest() -> None:
    from reverie.memory.search.vectors import VectorTable, pack

    draw = np.random.default_rng(5)
    matrix = draw.standard_normal((6_000, 384)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    table = VectorTable((number, 0, pack(vector)) for number, vector in enumerate(matrix))
    for number in (0, 17, 5_999):
        assert table.best(matrix[number], 3)[0] == number
        assert abs(table.similarities(matrix[number], [number])[number][0] - 1) < 0.02


@requirement("search:vectors:sentences")
def test_one_sentence_of_a_long_text_is_found_by_its_meaning(tmp_path: Path) -> None:
    filler = [f"{'abcdefgh'[number] * 12} {'stuvwxyz'[number] * 20}." for number in range(8)]
    documents = [
        SearchDocument(
            key="long", body=" ".join([*filler[:4], "retriever retriever retriever retriever.", *filler[4:]])
        ),
        SearchDocument(key="other", body=" ".join(reversed(filler))),
    ]
    model = MeaningByList()
    with SearchIndex(tmp_path / "index", model) as index:
        index.update(documents)
        index.write_vectors(embed_documents(documents, model))
        _, measured = index.measure_candidates(Query("puppy", NOW))
        values = {each.row.key: each.values for each in measured}
        assert values["long"]["best_meaning"] > 0.9
        assert values["long"]["best_meaning_lead"] > values["long"]["text_meaning_lead"] + 1
        assert values["other"]["best_meaning"] < 0.5
        index.update([SearchDocument(key="long", body="engine")])
        index.write_vectors(embed_documents([SearchDocument(key="long", body="engine")], model))
        _, measured = index.measure_candidates(Query("puppy", NOW))
        assert all(each.values["best_meaning"] < 0.5 for each in measured)


@requirement("search:vectors:sentences")
def test_a_sentence_counts_for_its_own_document_only() -> None:
    from reverie.memory.search.vectors import pack, sentence_similarities

    draw = np.random.default_rng(8)
    query = draw.standard_normal(384).astype(np.float32)
    query /= np.linalg.norm(query)
    texts = {}
    for number, count in enumerate((2, 1, 5, 3)):
        texts[number] = draw.standard_normal((count, 384)).astype(np.float32)
        texts[number] /= np.linalg.norm(texts[number], axis=1, keepdims=True)
    found = sentence_similarities(query, [(number, pack(each)) for number, each in texts.items()])
    for number, vectors in texts.items():
        assert abs(found[number] - float((vectors @ query).max())) < 0.01


@requirement("search:vectors:meaning")
def test_what_is_usual_for_a_query_is_told_by_the_texts_alone() -> None:
    from reverie.memory.search.vectors import FIRST_WINDOW, TITLE, VectorTable, pack

    axes = np.eye(384, dtype=np.float32) * np.float32(0.3)
    near, far = pack(axes[0]), pack(axes[1])
    table = VectorTable(
        row for number in range(10) for row in ((number, -1, near), (number, TITLE, near), (number, FIRST_WINDOW, far))
    )
    mean, spread = table.usual(axes[0])
    assert abs(mean) < 0.06
    assert spread > 0
    assert table.similarities(axes[0], [3])[3] == pytest.approx((0.09, 0.0, 0.09), abs=0.01)
