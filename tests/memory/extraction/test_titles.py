from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench.extraction.labels import HERE
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.memory.extraction.titles import NAME_CHARS, write_title
from reverie.memory.topics.polarity import TITLE_CHARS, MismatchKind, find_mismatch
from tests.requirements import requirement


def _labelled_sentences() -> list[str]:
    files = [HERE / "examples" / f"{name}.jsonl" for name in ("en-b", "de-2", "fr", "es-2", "zh", "ja-2")]
    rows = [json.loads(line) for file in files for line in Path(file).read_text(encoding="utf-8").splitlines()]
    return [kept["sentence"] for row in rows for kept in row["keep"]]


@requirement("extraction:titles")
@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("From now on ask me one question at a time, please.", "Ask me one question at a time"),
        ("Can you always paste the command and its output?", "Always paste the command and its output"),
        ("we settled it: feature flags only via launch config", "Feature flags only via launch config"),
        (
            "The staging machine is shared with the data science people between nine and eleven, they run joins then.",
            "The staging machine is shared with the data science people",
        ),
        (
            "Dans les textes pour les patients on vouvoie, c'est la règle de la clinique.",
            "Dans les textes pour les patients on vouvoie",
        ),
        (
            "Keep amounts as integer cents everywhere; no float may survive, not even in a test.",
            "Keep amounts as integer cents everywhere; no float may survive, not even in a test",
        ),
        ("Zur Info: auf Staging arbeitet auch der Vertrieb mit, danke", "Auf Staging arbeitet auch der Vertrieb mit"),
        ("Por favor, los commits van con el correo del trabajo", "Los commits van con el correo del trabajo"),
        ("以后提交之前先跑一遍测试，不然流水线会红。", "提交之前先跑一遍测试"),
    ],
)
def test_a_title_is_the_core_of_a_sentence(text: str, title: str) -> None:
    assert write_title(text) == title


@requirement("extraction:titles", "memory:polarity")
@pytest.mark.parametrize(
    "text",
    [
        "Use the shared cache in tests, but never in load tests, because a run wiped it and nobody noticed for a week.",
        "Deploy on Fridays only if the release manager has agreed in writing and the on-call person is at the desk.",
        "Answers have at most three sentences in chat unless I ask you for the long version of the story explicitly.",
        "Commits auf main ohne Freigabe durch zwei Kollegen sind nicht erlaubt, das gilt auch für Praktikanten.",
    ],
)
def test_a_long_rule_keeps_its_negation_and_its_condition(text: str) -> None:
    differs = find_mismatch(text, write_title(text), is_title=True)

    assert differs is None or differs.kind is MismatchKind.wording


@requirement("extraction:titles", "memory:polarity")
def test_titles_of_labelled_sentences_mean_the_same_and_mostly_fit() -> None:
    sentences = _labelled_sentences()[::6]
    titles = [write_title(each) for each in sentences]

    wrong = [
        (sentence, title, str(differs))
        for sentence, title in zip(sentences, titles, strict=True)
        if (differs := find_mismatch(sentence, title, is_title=True)) and differs.kind is not MismatchKind.wording
    ]
    assert not wrong
    assert max(map(len, titles)) <= TITLE_CHARS
    assert sum(len(title) <= NAME_CHARS for title in titles) >= 0.75 * len(titles)


@requirement("extraction:titles")
@settings(max_examples=30)
@given(st.text(max_size=200))
def test_any_text_gets_a_bounded_title(text: str) -> None:
    assert len(write_title(text)) <= TITLE_CHARS
