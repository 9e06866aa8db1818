"""Hypothesis strategies for topics and for front matter as people write it."""

from __future__ import annotations

from datetime import UTC, date

from hypothesis import strategies as st

from reverie.files.front_matter import Scalar, Table, Value, canonical
from reverie.memory.topics.anchors import Anchor, CommitAnchor, FileAnchor, SymbolAnchor, UrlAnchor
from reverie.memory.topics.fields import FIELDS
from reverie.memory.topics.situations import When
from reverie.memory.topics.topic import MemoryType, Source, Topic, Trust

lines = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=40)
texts = st.text(max_size=60)
words = st.text(st.characters(exclude_categories=["Cs", "Z", "C"]), min_size=1, max_size=12)

anchors: st.SearchStrategy[Anchor] = st.one_of(
    st.builds(FileAnchor, words, st.none() | words),
    st.builds(SymbolAnchor, words, st.none() | words),
    st.builds(CommitAnchor, words),
    st.builds(UrlAnchor, words),
)

whens = st.builds(
    When,
    always=st.booleans(),
    files=st.lists(texts, max_size=2).map(tuple),
    tools=st.lists(texts, max_size=2).map(tuple),
    tasks=st.lists(texts, max_size=2).map(tuple),
    words=st.lists(texts, max_size=2).map(tuple),
)

sources = st.builds(Source, st.none() | texts, st.none() | texts, st.none() | texts)

_scalars = st.builds(Scalar, texts) | st.sampled_from(
    [Scalar(t, plain=True) for t in ("5", "true", "2026-01-02", "null")]
)


def _deeper(inner: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    pairs = st.dictionaries(texts, inner, max_size=3).map(lambda found: Table(tuple(found.items())))
    return pairs | st.lists(inner, max_size=3).map(tuple)


values: st.SearchStrategy[Value] = st.recursive(_scalars, _deeper, max_leaves=6)

_known = {field.key for field in FIELDS} | {"metadata"}
extras = st.dictionaries(texts.filter(lambda key: key not in _known), values.map(canonical), max_size=3).map(
    lambda found: tuple(found.items())
)

topics = st.builds(
    Topic,
    path=st.just("feedback_testing.md"),
    name=lines,
    description=lines,
    type=st.none() | st.sampled_from(MemoryType),
    body=st.text(max_size=200),
    trust=st.none() | st.sampled_from(Trust),
    observed=st.none() | st.dates(min_value=date(1970, 1, 1)),
    verified=st.none() | st.dates(min_value=date(1970, 1, 1)),
    pinned=st.booleans(),
    expires=st.none() | st.dates(min_value=date(1970, 1, 1)),
    anchors=st.lists(anchors, max_size=2).map(tuple),
    when=st.none() | whens,
    asks=st.lists(texts, max_size=7).map(tuple),
    about=st.lists(texts, max_size=2).map(tuple),
    sources=st.lists(sources, max_size=2).map(tuple),
    modified=st.none() | st.datetimes(timezones=st.just(UTC)),
    extra=extras,
)
