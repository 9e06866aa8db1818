from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from reverie.memory.topics.anchors import CommitAnchor, FileAnchor, SymbolAnchor, UrlAnchor
from reverie.memory.topics.situations import When
from reverie.memory.topics.topic import Source, Topic, Trust, parse_topic, render_topic
from tests.requirements import requirement


def read(block: str) -> Topic:
    return parse_topic("a.md", f"---\nname: n\ndescription: d\n{block}\n---\nbody\n")


def test_anchors_may_be_written_by_hand_in_short() -> None:
    found = read("anchors: [src/a.py, 'src/a.py#load', 3f2a91c, 'https://acme.dev/x']").anchors

    assert found == (
        FileAnchor("src/a.py"),
        SymbolAnchor("load", "src/a.py"),
        CommitAnchor("3f2a91c"),
        UrlAnchor("https://acme.dev/x"),
    )
    assert read("anchors: src/a.py").anchors == (FileAnchor("src/a.py"),)
    assert read("anchors:\n  - file: a.py\n    sha256: 00\n  - {symbol: f}").anchors == (
        FileAnchor("a.py", "00"),
        SymbolAnchor("f"),
    )


def test_situations_may_be_written_by_hand_in_short() -> None:
    assert read("when: always").when == When(always=True)
    assert read("when: ['*.py', release notes]").when == When(files=("*.py",), words=("release notes",))
    assert read("when: [git, commit, always]").when == When(always=True, tools=("git",), tasks=("commit",))
    assert read("when: [' ']").when == When()
    assert read("when:\n  tasks: test\n  files:\n    - src/**\n  always: no").when == When(
        files=("src/**",), tasks=("test",)
    )


def test_dates_are_read_in_the_forms_people_use() -> None:
    for text in ("2026-01-02", "'2026-01-02'", "2026/1/2", "2026-01-02T10:00:00Z"):
        assert read(f"observed: {text}").observed == date(2026, 1, 2)
    assert read("modified: 2026-01-02T10:00:00.5Z").modified == datetime(2026, 1, 2, 10, 0, 0, 500000, tzinfo=UTC)


def test_truth_trust_and_sources_are_read() -> None:
    topic = read(
        "pinned: yes\ntrust: said\nabout: Dana\nsources:\n  - session: s1\n    message: m1\n    quote: 'do: it'"
    )

    assert (topic.pinned, topic.trust, topic.about) == (True, Trust.said, ("Dana",))
    assert topic.sources == (Source("s1", "m1", "do: it"),)


@pytest.mark.parametrize(
    "block",
    [
        "observed: soon",
        "observed: 2026-02-31",
        "modified: yesterday",
        "pinned: maybe",
        "trust: gossip",
        "type: opinion",
        "anchors: [{what: x}]",
        "anchors: [{file: a, commit: b}]",
        "when: {moon: full}",
        "when: [[a, {b: c}]]",
        "about: [{a: b}]",
        "asks: {a: b}",
        "asks: [[a]]",
        "sources: [{who: x}]",
        "sources: [[x]]",
    ],
)
def test_what_a_known_key_cannot_mean_is_kept_and_not_used(block: str) -> None:
    topic = read(block)

    key = block.partition(":")[0]
    assert [name for name, _ in topic.extra] == [key]
    assert topic == Topic("a.md", "n", "d", body="body", extra=topic.extra)


@requirement("memory:asks")
def test_asks_are_a_list_a_line_each() -> None:
    topic = Topic("a.md", "A", "b", asks=("tidy the   report", "", "new: query\nplease", "tidy the report"))

    assert topic.asks == ("tidy the report", "new: query please")
    assert 'asks:\n  - "tidy the report"\n  - "new: query please"\n' in render_topic(topic)
    assert read("asks: tidy the report").asks == ("tidy the report",)
    assert read("asks: [one, 'two, three']").asks == ("one", "two, three")


@requirement("memory:asks")
def test_asks_by_hand_stay_as_they_are_however_many_and_long() -> None:
    text = "---\nname: A\ndescription: d\nasks: [" + ", ".join(["x" * 300, *"abcdefg"]) + "]  # mine\n---\nbody\n"
    topic = parse_topic("a.md", text)

    assert len(topic.asks) == 8
    edited = render_topic(replace(topic, body="other"), text)
    assert edited == text.replace("body\n", "other\n")
