"""The search index as its users see it: open, update, search, close.

Joins the parts: `database.py` finds candidates by words and `vectors.py` by meaning, `features.py` measures them,
`rank.py` orders them and says which are worth showing. Without vectors nothing heavier than sqlite3 loads.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from operator import mul
from pathlib import Path
from typing import TYPE_CHECKING, Self

from reverie.memory.index_file import IndexFile
from reverie.memory.search.analyze import QueryText, analyse_query, is_weak, synonyms, without_names
from reverie.memory.search.database import Database, DocumentRow
from reverie.memory.search.document import Known, Query, Reasons, SearchDocument
from reverie.memory.search.features import NAME_WORTH, SYNONYM_WORTH, Candidate, WeighedQuery, measure
from reverie.memory.search.rank import (
    PRIOR_WEIGHTS,
    TITLED_WEIGHT,
    VECTOR_WEIGHTS,
    WORD_WEIGHTS,
    hit_features,
    least_likely,
    parts_of,
    probability,
    query_features,
    says_nothing,
)
from reverie.memory.search.spelling import corrections

if TYPE_CHECKING:
    from reverie.memory.search.vectors import Embeds, VectorTable

_CANDIDATES = 50
"""How many documents are measured in full; the index itself has ranked them already."""
_CANDIDATES_BY_WHOLE = 20
"""How many more are measured that are near to a query with the names in it."""
_POSTINGS_READ = 2_000
"""How many matches the first pass may visit. The most telling words come first; a common word beyond this is only
counted in the candidates that the others found."""
_MOST_TERMS = 24
"""A pasted page is searched by its most telling words, and no more of them are taken for misspelt."""
_WEAK_WORTH = 0.5
_CONTEXT_WORTH = 0.3
_LEAST_WEIGHT = 0.05
_RECENT_DAYS = 90.0
_TYPE_PRIOR = {"feedback": 1.0, "user": 0.5}
_LEAST_PASSAGES = 100
"""How telling a word is, is judged as if the store had at least so many: among six memories one word that none of them
has would else outweigh all that are found."""
_NEIGHBOURS = 3


class SearchIndex:
    """An index over documents, in one file."""

    def __init__(self, file: Path | IndexFile, embedder: Embeds | None = None) -> None:
        """Open a file, or use one that is open."""
        self.file = IndexFile(file) if isinstance(file, Path) else file
        self._database = Database(self.file)
        self._embedder = embedder
        self._table: VectorTable | None = None
        self._table_of = -1
        self._missing: list[str] = []
        self._missing_of = -1

    def close(self) -> None:
        """Let go of the file."""
        self.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self._database.totals().documents

    def read_known(self) -> dict[str, Known]:
        """What the index remembers of each document's file; empty after the file was lost or damaged."""
        return self._database.read_known()

    def update(self, changed: Iterable[SearchDocument], removed: Iterable[str] = ()) -> None:
        """Index changed documents and drop removed ones; other processes see all of it or nothing."""
        self._database.update(changed, removed)

    def without_vectors(self) -> list[str]:
        """The keys of documents that `add_vectors` has not seen in their present state."""
        version = self._database.version()
        if version != self._missing_of:
            self._missing, self._missing_of = self._database.without_vectors(), version
        return list(self._missing)

    def add_vectors(self, documents: Sequence[SearchDocument], embedder: Embeds) -> None:
        """Embed documents and keep their vectors. Slow beside `update`, so it is a step of its own.

        An ask is a part of its document like a window of its text, and a sentence of it too.
        """
        from reverie.memory.search.sentences import split_for_vectors
        from reverie.memory.search.vectors import pack, pack_sentences

        before = _texts_before(documents)
        texts: list[str] = []
        parts: dict[str, dict[int, int]] = {}
        of_sentences: dict[str, tuple[int, int]] = {}
        for document in documents:
            own = embedding_text(document)
            windows = embedder.windows(own)
            parts[document.key] = {part: len(texts) + part for part in range(len(windows))}
            texts += windows
            if document.key in before:
                parts[document.key][-1] = len(texts)
                texts.append(f"{before[document.key]}\n{own}")
        for document in documents:
            pieces = [*split_for_vectors(embedding_text(document)), *document.asks]
            if len(pieces) > 1:
                of_sentences[document.key] = (len(texts), len(texts) + len(pieces))
                texts += pieces
            asked_parts = parts[document.key]
            first = max(asked_parts, default=-1) + 1
            asked_parts |= {first + n: len(texts) - len(document.asks) + n for n in range(len(document.asks))}
        vectors = embedder.embed(texts)
        packed = {key: [(part, pack(vectors[at])) for part, at in own.items()] for key, own in parts.items()}
        by_sentence = {key: pack_sentences(vectors[first:last]) for key, (first, last) in of_sentences.items()}
        self._database.write_vectors(packed, by_sentence)

    def search(self, query: Query) -> list[Candidate]:
        """The documents that answer a query, best first; nothing when none is likely to."""
        if not query.text.strip() or query.limit < 1:
            return []
        return self._search(query)

    def _search(self, query: Query) -> list[Candidate]:
        weighed, measured, corrected = self.measure_candidates(query)
        if query.abstains and says_nothing(weighed):
            return []
        has_vectors = any("similarity" in each.values for each in measured)
        weights = (VECTOR_WEIGHTS if has_vectors else WORD_WEIGHTS) | {"titled": TITLED_WEIGHT}
        # All were measured in the same order; some have a few measures more at the end.
        names = max((each.values for each in measured), key=len, default={})
        factors = [weights.get(name, 0.0) for name in names]
        scored = [
            (sum(map(mul, factors, each.values.values())) + sum(_priors(each.row, query).values()), each)
            for each in measured
            if each.row.key not in query.exclude
        ]
        scored.sort(key=lambda entry: (-entry[0], entry[1].row.key))
        of_query = query_features(weighed, measured)
        scores = [score for score, _ in scored]
        query_terms = {*weighed.text.terms, *weighed.names}
        hits: list[Candidate] = []
        for place, (score, each) in enumerate(scored[: query.limit]):
            features = hit_features(weighed, each, score, scores[place + 1 :], of_query)
            likely = probability(features, has_vectors=has_vectors)
            if query.abstains and likely < least_likely(place, has_vectors=has_vectors):
                if place == 0:
                    return []
                continue
            # Words of what was said before only help to order what the query itself finds.
            words = {
                name: tuple(sorted(own))
                for name, field_terms in each.fields.items()
                if (own := field_terms & query_terms)
            }
            if query.abstains and not words and not has_vectors:
                continue
            each.why = Reasons(
                words=words,
                corrected=corrected,
                similarity=each.values.get("similarity"),
                parts=parts_of(each.values, weights) | _priors(each.row, query),
            )
            each.score = min(likely, hits[-1].score) if hits else likely
            hits.append(each)
        return hits

    def sharing(self, text: str, limit: int) -> list[str]:
        """The keys of documents that share the most telling words with a text, unmeasured and in no order."""
        with self._database.reading():
            weighed, _ = self._weigh_query(analyse_query(text), "")
            return [row.key for row in self._database.rows(self._candidates(weighed)[:limit])]

    def measure_candidates(self, query: Query) -> tuple[WeighedQuery, list[Candidate], dict[str, tuple[str, ...]]]:
        """Every candidate with its measures, unranked: what `search` weighs and what `bench/recall` fits."""
        with self._database.reading():
            return self._measure_candidates(query)

    def _measure_candidates(self, query: Query) -> tuple[WeighedQuery, list[Candidate], dict[str, tuple[str, ...]]]:
        weighed, corrected = self._weigh_query(analyse_query(query.text), query.context)
        if self._embedder is None:
            rows = self._with_neighbours(self._database.rows(self._candidates(weighed)))
            return weighed, measure(rows, weighed), corrected
        return weighed, self._measure_by_meaning(query.text, weighed, self._embedder), corrected

    def _measure_by_meaning(self, text: str, weighed: WeighedQuery, embedder: Embeds) -> list[Candidate]:
        from reverie.memory.search.beside import offer
        from reverie.memory.search.vectors import sentence_similarities

        # The file is read while the model computes; neither holds Python's lock for long.
        reading = offer(lambda: self._read_by_words(weighed))
        try:
            # Without the names first; most queries name nobody, and one vector stands for both.
            vectors = embedder.embed(list(dict.fromkeys((without_names(text, weighed.names), text))))
        finally:
            rows, sentences = reading()
        by_words = {row.id for row in rows}
        table = self._vector_table()
        nearest = table.best(vectors[0], _CANDIDATES)
        if len(vectors) > 1:
            nearest += table.best(vectors[1], _CANDIDATES_BY_WHOLE)
        rows += self._database.rows(list(set(nearest) - by_words))
        rows = self._with_neighbours(rows)
        ids = [row.id for row in rows]
        sentences += self._database.sentences([each for each in ids if each not in by_words])
        measured = measure(rows, weighed)
        _measure_similarity(measured, table.similarities(vectors, ids), sentence_similarities(vectors, sentences))
        return measured

    def _read_by_words(self, weighed: WeighedQuery) -> tuple[list[DocumentRow], list[tuple[int, bytes, bytes]]]:
        ids = self._candidates(weighed)
        return self._database.rows(ids), self._database.sentences(ids)

    def _weigh_query(self, text: QueryText, context: str) -> tuple[WeighedQuery, dict[str, tuple[str, ...]]]:
        totals = self._database.totals()
        term_shares = dict.fromkeys(text.terms, 1.0)
        for term in analyse_query(context).terms if context else ():
            term_shares.setdefault(term, _CONTEXT_WORTH)
        names = self._database.subjects(text.terms)
        frequencies = self._database.frequencies(term_shares)
        stands_for: dict[str, tuple[str, float]] = {}
        weights: dict[str, float] = {}
        corrected: dict[str, tuple[str, ...]] = {}
        passages = max(_LEAST_PASSAGES, totals.passages)
        total = 0.0
        unknown = 0
        for term, worth in term_shares.items():
            count = frequencies[term][1]
            others = sorted(other for other in synonyms(term) if other not in term_shares)
            if not count and worth == 1.0 and term not in names and unknown < _MOST_TERMS:
                unknown += 1
                similar = corrections(term, self._database.find_similar_spellings)
                if similar:
                    corrected[term] = tuple(similar)
                    stands_for |= {other: (term, 1.0 - 0.1 * steps) for other, steps in similar.items()}
                    count = max(self._database.frequencies([other])[other][1] for other in similar)
            telling = math.log(1 + max(0.0, passages - count + 0.5) / (count + 0.5))
            weight = max(_LEAST_WEIGHT, telling) * worth * (_WEAK_WORTH if is_weak(term) else 1.0)
            if term in names:
                weight *= NAME_WORTH
            else:
                total += weight if worth == 1.0 else 0.0
            weights[term] = weight
            stands_for[term] = (term, 1.0)
            for other in others:
                stands_for.setdefault(other, (term, SYNONYM_WORTH))
        if len(weights) > _MOST_TERMS:
            frequencies = self._database.frequencies(stands_for)
            indexed = {meant for look, (meant, _) in stands_for.items() if frequencies[look][0]}
            strongest = set(sorted(indexed, key=lambda term: (-weights[term], term))[:_MOST_TERMS])
            stands_for = {look: meant for look, meant in stands_for.items() if meant[0] in strongest}
        weighed = WeighedQuery(
            text=text,
            weights=weights,
            stands_for=stands_for,
            names=names,
            total=total,
            mean_length=max(1.0, totals.length / max(1, totals.documents)),
            mean_passage=max(1.0, totals.length / max(1, totals.passages)),
        )
        return weighed, corrected

    def _candidates(self, weighed: WeighedQuery) -> list[int]:
        frequencies = self._database.frequencies(weighed.stands_for)
        telling = sorted(
            (look for look in weighed.stands_for if frequencies[look][0]),
            key=lambda look: (-weighed.weights[weighed.stands_for[look][0]] * weighed.stands_for[look][1], look),
        )
        chosen: list[str] = []
        visited = 0
        for look in telling:
            if chosen and visited + frequencies[look][0] > _POSTINGS_READ:
                break
            chosen.append(look)
            visited += frequencies[look][0]
        # A word that every second document has tells them apart so little that the newest are as good as any.
        share = min(1.0, _POSTINGS_READ / visited) if visited else 1.0
        return self._database.best(chosen, _CANDIDATES, share=share) if chosen else []

    def _with_neighbours(self, rows: list[DocumentRow]) -> list[DocumentRow]:
        """Add the rows around the candidates in their groups: they explain them, and may be meant themselves."""
        by_id = {row.id: row for row in rows}
        spans: dict[str, list[list[int]]] = {}
        for row in sorted(rows, key=lambda row: row.position):
            if row.group is None:
                continue
            first, last = row.position - _NEIGHBOURS, row.position + _NEIGHBOURS
            merged = spans.setdefault(row.group, [])
            if merged and first <= merged[-1][1] + 1:
                merged[-1][1] = last
            else:
                merged.append([first, last])
        for group, merged in spans.items():
            for first, last in merged:
                by_id |= {row.id: row for row in self._database.neighbours(group, first, last)}
        return sorted(by_id.values(), key=lambda row: row.key)

    def _vector_table(self) -> VectorTable:
        from reverie.memory.search.vectors import VectorTable

        version = self._database.version()
        if self._table is None or version != self._table_of:
            self._table = VectorTable(self._database.vectors())
            self._table_of = version
        return self._table


def embedding_text(document: SearchDocument) -> str:
    """What of a document goes into its vector: who speaks, its name and description, its text."""
    speaker = f"{', '.join(document.about)}: " if document.group is not None and document.about else ""
    return speaker + "\n".join(text for text in (document.name, document.description, document.body) if text)


def _texts_before(documents: Sequence[SearchDocument]) -> dict[str, str]:
    places: dict[tuple[str | None, int], SearchDocument] = {(each.group, each.position): each for each in documents}
    texts = {}
    for document in documents:
        before = places.get((document.group, document.position - 1))
        if document.group is not None and before is not None:
            texts[document.key] = embedding_text(before)
    return texts


def _measure_similarity(
    measured: Sequence[Candidate],
    by_passage: dict[int, tuple[list[float], list[float]]],
    by_sentence: dict[int, tuple[list[float], list[float], list[float]]],
) -> None:
    places: dict[tuple[str | None, int], float] = {}
    groups: dict[str, list[float]] = {}
    for each in measured:
        own, context = by_passage.get(each.row.id, ([0.0], []))
        each.values["similarity"] = own[0]
        each.values["whole_similarity"] = own[-1]
        each.values["context_similarity"] = context[0] if context else own[0]
        sentence, pair, run = by_sentence.get(each.row.id, (own, own, own))
        each.values["sentence_similarity"] = sentence[0]
        each.values["whole_sentence_similarity"] = sentence[-1]
        each.values["pair_similarity"] = pair[0]
        each.values["run_similarity"] = run[0]
        if each.row.group is not None:
            places[each.row.group, each.row.position] = own[0]
            groups.setdefault(each.row.group, []).append(own[0])
    for each in measured:
        group, position = each.row.group, each.row.position
        if group is None:
            continue
        around = (places.get((group, position - 1), 0.0), places.get((group, position + 1), 0.0))
        best = sorted(groups[group], reverse=True)[:3]
        each.values["neighbour_similarity"] = max(around)
        each.values["group_similarity"] = sum(best) / len(best)


def _priors(row: DocumentRow, query: Query) -> dict[str, float]:
    parts = {}
    if row.observed is not None:
        days = max(0, query.now.toordinal() - row.observed)
        parts["recency"] = PRIOR_WEIGHTS["recency"] * 0.5 ** (days / _RECENT_DAYS)
    if uses := query.uses.get(row.key, row.uses):
        parts["use"] = PRIOR_WEIGHTS["use"] * min(1.0, math.log1p(uses) / math.log(10))
    if row.type in _TYPE_PRIOR:
        parts["type"] = PRIOR_WEIGHTS["type"] * _TYPE_PRIOR[row.type]
    return parts
