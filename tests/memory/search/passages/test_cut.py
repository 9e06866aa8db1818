from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.search.analyze import terms
from reverie.memory.search.passages.cut import PASSAGE_CHARS, cut, spoken
from reverie.memory.search.passages.terms import lines_of_terms
from reverie.messages.records import decode_line
from tests.memory.search.passages.sessions import Sessions, call, result
from tests.requirements import requirement

LONG = st.lists(st.text(st.sampled_from("ab \n")) | st.integers(0, 3_000).map("x".__mul__), max_size=20).map("".join)


@requirement("past:finds")
@given(LONG)
def test_passages_are_together_the_text_and_none_is_long(text: str) -> None:
    pieces = cut(text)

    assert "".join(pieces) == text
    assert all(len(piece) <= 2 * PASSAGE_CHARS for piece in pieces)
    assert all(len(piece) >= PASSAGE_CHARS for piece in pieces[:-1])


def test_a_long_text_is_cut_where_a_line_ends() -> None:
    text = "\n".join(f"line {number} of many" for number in range(1_000))

    assert all(piece.endswith("\n") for piece in cut(text)[:-1])


@requirement("past:finds")
@pytest.mark.parametrize(
    "text",
    [
        "Caf\u00e9 crème",
        "cafe\u0301s",
        "snake_case and CamelCase",
        "数据库迁移失败",
        "“quoted” — it’s",
        "a\tb,c",
        "ＡＢＣ ﬁle",
    ],
)
def test_the_fast_way_to_terms_finds_what_the_engine_asks_for(text: str) -> None:
    assert lines_of_terms(text).split() == terms(text)


@requirement("past:finds")
@given(st.text(st.characters(max_codepoint=0x24F, exclude_categories=["Cs"])))
def test_the_fast_way_to_terms_agrees_on_any_latin_text(text: str) -> None:
    assert lines_of_terms(text).split() == terms(text)


@pytest.mark.parametrize(
    ("content", "role", "more", "expected"),
    [
        ("hello", "user", {}, "user"),
        ("hello", "assistant", {}, "assistant"),
        (result("hello"), "user", {}, "tool"),
        ("hello", "user", {"isCompactSummary": True}, "summary"),
        (call("Bash", command="hello"), "assistant", {}, "assistant"),
    ],
)
@requirement("past:place")
def test_who_speaks_is_known(sessions: Sessions, content: str, role: str, more: dict[str, bool], expected: str) -> None:
    said = spoken(decode_line(sessions.line("s", content, role, **more)))

    assert said is not None
    assert said.role == expected
    assert "hello" in said.text


@pytest.mark.parametrize(
    "line",
    [
        b"no json",
        b'{"type":"summary","summary":"x"}',
        b'{"type":"user","uuid":"1","isMeta":true,"message":{"content":"x"}}',
    ],
)
def test_what_nobody_said_is_no_passage(line: bytes) -> None:
    assert spoken(decode_line(line)) is None
