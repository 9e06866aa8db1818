"""How words are counted in a candidate, against the plain way: cut it into words and count them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.search.analyze import analyse_query
from reverie.memory.search.database import FIELD_WEIGHTS, DocumentRow, join_terms
from reverie.memory.search.features import WeighedQuery, measure

_LINES = st.lists(st.sampled_from(("fig", "figs", "plum", "fi", "mango")), max_size=8).map(" ".join)
_BODIES = st.lists(_LINES.filter(bool), min_size=1, max_size=5).map("\n".join)
_STANDS_FOR = {"fig": ("fig", 1.0), "plum": ("plum", 1.0), "figs": ("fig", 0.6), "pear": ("pear", 1.0)}


def row_of(*texts: str) -> DocumentRow:
    length = sum(len(text.split()) for text in texts)
    return DocumentRow(1, "key", None, 0, None, None, 0, length, 0.0, 0.0, 0, "", join_terms(*texts))


def wanted_for(text: str) -> WeighedQuery:
    return WeighedQuery(
        text=analyse_query(text),
        weights={"fig": 2.0, "plum": 3.0, "pear": 1.0},
        stands_for=_STANDS_FOR,
        names=frozenset(),
        total=6.0,
        mean_length=10.0,
        mean_passage=5.0,
    )


def counted(texts: tuple[str, ...]) -> dict[str, float]:
    """Term → how often, each line by the best of the words that stand for it, weighed by its field."""
    found: dict[str, float] = {}
    for text, weight in zip(texts, FIELD_WEIGHTS, strict=False):
        for line in text.split("\n"):
            here: dict[str, float] = {}
            for word, (meant, worth) in _STANDS_FOR.items():
                if count := line.split().count(word):
                    here[meant] = max(here.get(meant, 0.0), count * worth)
            for meant, most in here.items():
                found[meant] = found.get(meant, 0.0) + weight * most
    return found


@given(title=_LINES, summary=_LINES, body=_BODIES, anchors=_LINES, situation=_LINES, asks=_LINES)
def test_words_are_counted_whole_line_by_line_and_by_field(
    title: str, summary: str, body: str, anchors: str, situation: str, asks: str
) -> None:
    texts = (title, summary, body, anchors, situation, asks)
    row = row_of(*texts)
    (each,) = measure([row], wanted_for("fig plum pear"))
    slack = 0.9 * (0.7 + 0.3 * row.length / 10.0)
    expected = counted(texts)
    assert each.found.keys() == expected.keys()
    assert all(abs(each.found[term] - count / (count + slack)) < 1e-12 for term, count in expected.items())
    places = dict(zip(("title", "summary", "body", "anchors", "situation", "asks"), texts, strict=True))
    for field, text in places.items():
        meant = {_STANDS_FOR[word][0] for word in text.split() if word in _STANDS_FOR}
        assert each.fields.get(field, set()) == meant


def test_words_side_by_side_count_within_one_line_only() -> None:
    wanted = wanted_for("fig plum")
    apart = row_of("", "", "mango fig\nplum mango", "", "", "")
    together = row_of("", "", "mango mango\nfig plum", "", "", "")
    assert [each.values["pairs"] for each in measure([apart, together], wanted)] == [0.0, 1.0]


def test_the_best_passage_of_a_long_text_has_its_words_close_together() -> None:
    wanted = wanted_for("fig plum")
    filler = "\n".join(["mango"] * 6)
    close = row_of("", "", f"{filler}\nfig plum", "", "", "")
    apart = row_of("", "", f"fig\n{filler}\nplum", "", "", "")
    first, second = measure([close, apart], wanted)
    assert first.values["passage"] > second.values["passage"] > 0
