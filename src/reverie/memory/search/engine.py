"""The search index as its users see it: open, update, search, close.

Joins the parts: `database.py` finds candidates by words, `vectors.py` by meaning and `standing.py` by situation,
`features.py` measures them, `rank.py` says how likely each helps. Without vectors nothing heavier than sqlite3 loads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeAlias

from reverie.memory.index_file import IndexFile
from reverie.memory.search.analyze import analyse_query
from reverie.memory.search.database import Database, DocumentRow
from reverie.memory.search.document import Query, Reasons, SearchDocument
from reverie.memory.search.features import Candidate, file_terms, measure, measure_similarity
from reverie.memory.search.query import WeighedQuery, weigh_query, weigh_term
from reverie.memory.search.rank import is_worth_a_line, probability, weigh
from reverie.memory.search.standing import find_standing
from reverie.memory.topics.situations import Situation

if TYPE_CHECKING:
    from reverie.memory.search.vectors import Embeds, VectorTable

_CANDIDATES = 40
"""How many documents are measured in full of those that words find, and of those that vectors find."""
_POSTINGS_READ = 2_000
"""How many matches the first pass may visit. The most telling words come first; a common word beyond this is only
counted in the candidates that the others found."""


class SearchIndex:
    """An index over documents, in one file."""

    def __init__(self, file: Path | IndexFile, embedder: Embeds | None = None) -> None:
        """Open a file, or use one that is open."""
        self.file = IndexFile(file) if isinstance(file, Path) else file
        self._database = Database(self.file)
        self._embedder = embedder
        self._table: tuple[int, VectorTable] | None = None
        self._missing: tuple[int, list[str]] | None = None

    def close(self) -> None:
        """Let go of the file."""
        self.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self._database.totals().documents

    def update(self, changed: Iterable[SearchDocument], removed: Iterable[str] = ()) -> None:
        """Index changed documents and drop removed ones; other processes see all of it or nothing."""
        self._database.update(changed, removed)

    def without_vectors(self) -> list[str]:
        """The keys of documents that have no vectors yet."""
        version = self._database.version()
        if self._missing is None or self._missing[0] != version:
            self._missing = version, self._database.without_vectors()
        return list(self._missing[1])

    def write_vectors(self, vectors: DocumentVectors) -> None:
        """Keep what `embed_documents` computed."""
        self._database.write_vectors(vectors)

    def search(self, query: Query) -> list[Candidate]:
        """The documents that help with a request, best first; nothing when none is likely to."""
        if not query.text.strip() or query.limit < 1:
            return []
        weighed, candidates = self.measure_candidates(query)
        has_vectors = self._embedder is not None
        is_vague = not weighed.is_telling and not query.files and not query.tools
        hits = []
        query_terms = frozenset(weighed.text.terms)
        for each in candidates:
            if each.row.key in query.exclude or (query.abstains and is_vague and not each.situation):
                continue
            parts = weigh(each.values, has_vectors=has_vectors)
            each.score = probability(parts, has_vectors=has_vectors)
            is_shown = is_worth_a_line(
                each.score,
                query.caution,
                has_vectors=has_vectors,
                has_asks=each.has_asks,
                is_verbatim=bool(each.row.is_verbatim),
            )
            if query.abstains and not is_shown:
                continue
            words = {name: tuple(sorted(own)) for name, found in each.fields.items() if (own := found & query_terms)}
            each.why = Reasons(words, dict(weighed.corrected), each.similarity, each.situation, parts)
            hits.append(each)
        hits.sort(key=lambda each: (-each.score, each.row.key))
        return hits[: query.limit]

    def sharing(self, text: str, limit: int) -> list[str]:
        """The keys of documents that share the most telling words with a text, unmeasured and in no order."""
        with self._database.reading():
            weighed = weigh_query(analyse_query(text), self._database)
            return [row.key for row in self._database.rows(self._candidates(weighed)[:limit])]

    def measure_candidates(self, query: Query) -> tuple[WeighedQuery, list[Candidate]]:
        """Every candidate with its features, unranked: what `search` weighs and what `bench/recall` fits."""
        with self._database.reading():
            context = analyse_query(query.context).terms if query.context else ()
            weighed = weigh_query(analyse_query(query.text), self._database, context)
            if self._embedder is None:
                rows, _ = self._read(query, weighed)
                return weighed, measure(rows, weighed, query, self._weigh_files(query))
            return weighed, self._measure_by_meaning(query, weighed, self._embedder)

    def _measure_by_meaning(self, query: Query, weighed: WeighedQuery, embedder: Embeds) -> list[Candidate]:
        from reverie.memory.search.beside import offer
        from reverie.memory.search.vectors import sentence_similarities

        # The file is read while the model computes; neither holds Python's lock for long.
        reading = offer(lambda: self._read(query, weighed))
        try:
            vector = embedder.embed([query.text])[0]
        finally:
            rows, sentences = reading()
        read = {row.id for row in rows}
        table = self._vector_table()
        others = [number for number in table.best(vector, _CANDIDATES) if number not in read]
        rows += self._database.rows(others)
        sentences += self._database.sentences(others)
        candidates = measure(rows, weighed, query, self._weigh_files(query))
        by_part = table.similarities(vector, [row.id for row in rows])
        measure_similarity(candidates, by_part, sentence_similarities(vector, sentences), table.usual(vector))
        return candidates

    def _read(self, query: Query, weighed: WeighedQuery) -> tuple[list[DocumentRow], list[tuple[int, bytes]]]:
        """The documents that words or the situation call up, and the vectors of their sentences where they count."""
        standing = find_standing(self._database, Situation(query.text, query.files, query.tools))
        ids = list(dict.fromkeys((*self._candidates(weighed), *standing)))
        return self._database.rows(ids), self._database.sentences(ids) if self._embedder is not None else []

    def _candidates(self, weighed: WeighedQuery) -> list[int]:
        frequencies = self._database.frequencies(weighed.stands_for)
        telling = sorted(
            (
                look
                for look, (meant, _) in weighed.stands_for.items()
                if frequencies[look] and meant not in weighed.context
            ),
            key=lambda look: (-weighed.weights[weighed.stands_for[look][0]] * weighed.stands_for[look][1], look),
        )
        chosen: list[str] = []
        visited = 0
        for look in telling:
            if chosen and visited + frequencies[look] > _POSTINGS_READ:
                break
            chosen.append(look)
            visited += frequencies[look]
        # A word that every second document has tells them apart so little that the newest are as good as any.
        share = min(1.0, _POSTINGS_READ / visited) if visited else 1.0
        return self._database.best(chosen, _CANDIDATES, share=share) if chosen else []

    def _weigh_files(self, query: Query) -> dict[str, float]:
        named = file_terms(query.files) if query.files else frozenset()
        every = self._database.totals().documents
        return {
            term: weigh_term(term, count, every) for term, count in self._database.frequencies(named).items() if count
        }

    def _vector_table(self) -> VectorTable:
        from reverie.memory.search.vectors import VectorTable

        version = self._database.version()
        if self._table is None or self._table[0] != version:
            self._table = version, VectorTable(self._database.vectors())
        return self._table[1]


DocumentVectors: TypeAlias = dict[str, tuple[dict[int, bytes], bytes]]
"""Key → its vectors by part, and those of its sentences end to end."""


def embed_documents(documents: Sequence[SearchDocument], embedder: Embeds) -> DocumentVectors:
    """Compute the vectors of documents. Slow, and needs no lock."""
    from reverie.memory.search.sentences import split_for_vectors
    from reverie.memory.search.vectors import FIRST_WINDOW, TITLE, pack

    texts: list[str] = []
    places: dict[str, tuple[dict[int, int], int, int]] = {}
    for document in documents:
        whole = embedding_text(document)
        parts = {TITLE: embedding_title(document) or whole}
        parts |= dict(enumerate(embedder.windows(whole), start=FIRST_WINDOW))
        parts |= {-number: ask for number, ask in enumerate(document.asks, start=1)}
        first = len(texts) + len(parts)
        texts += [*parts.values(), *split_for_vectors(whole)]
        part_places = {part: first - len(parts) + number for number, part in enumerate(parts)}
        places[document.key] = part_places, first, len(texts)
    vectors = embedder.embed(texts)
    return {
        key: ({part: pack(vectors[at]) for part, at in parts.items()}, pack(vectors[first:last]))
        for key, (parts, first, last) in places.items()
    }


def embedding_text(document: SearchDocument) -> str:
    """What of a document goes into the vectors of its text."""
    return "\n".join(text for text in (document.name, document.description, document.body) if text)


def embedding_title(document: SearchDocument) -> str:
    """What of a document goes into the vector of its title."""
    return ". ".join(text for text in (document.name, document.description) if text)
