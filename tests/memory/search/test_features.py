"""How words are counted in a candidate, against the plain way: cut it into words and count them."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.search.analyze import QueryText
from reverie.memory.search.database import FIELD_WEIGHTS, LINE_FIELDS, DocumentRow, join_terms
from reverie.memory.search.document import Query
from reverie.memory.search.features import Candidate, measure
from reverie.memory.search.query import WeighedQuery

_LINES = st.lists(st.sampled_from(("fig", "figs", "plum", "fi", "mango")), max_size=8).map(" ".join)
_BODIES = st.lists(_LINES.filter(bool), min_size=1, max_size=5).map("\n".join)
_STANDS_FOR = {"fig": ("fig", 1.0), "plum": ("plum", 1.0), "figs": ("fig", 0.6), "pear": ("pear", 1.0)}
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


def row_of(*texts: str, asks: tuple[str, ...] = (), body: str = "") -> DocumentRow:
    fields = (*texts, *[""] * (len(LINE_FIELDS) - len(texts)))
    length = sum(len(text.split()) for text in (*fields[:4], body))
    return DocumentRow(1, "key", None, 0, None, None, len(asks), length, join_terms(fields, asks, body))


def weighed_for(*terms: str) -> WeighedQuery:
    return WeighedQuery(
        text=QueryText(terms, frozenset(pairwise(terms))),
        weights={"fig": 2.0, "plum": 3.0, "pear": 1.0},
        stands_for=_STANDS_FOR,
        corrected={},
        total=6.0,
        known=1.0,
        mean_length=10.0,
        mean_passage=5.0,
    )


def measured(*rows: DocumentRow, terms: tuple[str, ...] = ("fig", "plum", "pear"), files: str = "") -> list[Candidate]:
    weights = dict.fromkeys(files.split(), 2.0)
    return measure(rows, weighed_for(*terms), Query(" ".join(terms), _NOW), weights)


@given(title=_LINES, summary=_LINES, anchors=_LINES, about=_LINES, situation=_LINES, ask=_LINES, body=_BODIES)
def test_words_are_counted_whole_line_by_line_and_by_field(
    title: str, summary: str, anchors: str, about: str, situation: str, ask: str, body: str
) -> None:
    row = row_of(title, summary, anchors, about, situation, asks=(ask,), body=body)
    (each,) = measured(row)
    counts: dict[str, float] = {}
    fields = {"title": title, "summary": summary, "anchors": anchors, "about": about, "body": body}
    for name, text in fields.items():
        for line in text.split("\n"):
            here: dict[str, float] = {}
            for word, (meant, worth) in _STANDS_FOR.items():
                if count := line.split().count(word):
                    here[meant] = max(here.get(meant, 0.0), count * worth)
            for meant, most in here.items():
                counts[meant] = counts.get(meant, 0.0) + FIELD_WEIGHTS[name] * most
    slack = 0.9 * (0.7 + 0.3 * row.length / 10.0)
    weights = weighed_for().weights
    assert each.values["words"] == pytest.approx(sum(weights[m] * c / (c + slack) for m, c in counts.items()))
    assert each.values["coverage"] == pytest.approx(sum(weights[meant] for meant in counts) / 6.0)
    for name, text in (*fields.items(), ("situation", situation), ("asks", ask)):
        named = {_STANDS_FOR[word][0] for word in text.split() if word in _STANDS_FOR}
        assert each.fields.get(name, set()) == named


def test_words_side_by_side_count_within_one_line_only() -> None:
    apart, together = measured(row_of(body="mango fig\nplum mango"), row_of(body="mango mango\nfig plum"))
    assert [apart.values["pairs"], together.values["pairs"]] == [0.0, 1.0]


def test_the_ask_that_is_most_like_the_request_counts() -> None:
    far, near = measured(row_of(asks=("fig mango mango", "mango")), row_of(asks=("mango", "fig plum pear")))
    assert near.values["ask_likeness"] == pytest.approx(1.0)
    assert 0 < far.values["ask_likeness"] < 0.5
    assert near.values["ask_share"] == 1.0
    assert far.values["words"] == near.values["words"] == 0.0


def test_names_of_files_are_looked_for_in_the_text_and_apart_in_situations_and_asks() -> None:
    said, expected = measured(
        row_of("kiwi", body="lime"), row_of("", "", "", "", "kiwi", asks=("lime",)), files="kiwi lime"
    )
    assert (said.values["file_words"], said.values["file_situation"]) == (4.0, 0.0)
    assert (expected.values["file_words"], expected.values["file_situation"]) == (0.0, 4.0)


def test_a_text_kept_as_it_was_said_has_features_of_its_own() -> None:
    row = row_of("fig plum", body="fig plum pear")
    plain, verbatim = measured(row, row._replace(is_verbatim=1))
    assert "verbatim" not in plain.values
    assert verbatim.values["verbatim_words"] == verbatim.values["words"] == plain.values["words"]
