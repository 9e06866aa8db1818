from __future__ import annotations

import json
import os
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import pytest

from reverie.memory.extraction.candidate import RefusalReason
from reverie.memory.extraction.classify import Reader, SentenceKind, SentenceReading
from reverie.memory.extraction.extract import extract
from reverie.memory.extraction.find import SURE, SURE_IN_MANY, UNLIKELY, find_candidates
from reverie.memory.extraction.form import is_english, marks
from reverie.memory.extraction.gate import GateContext
from reverie.memory.extraction.session import SessionMessage, SessionWords
from reverie.memory.topics.topic import MemoryType
from tests.memory.extraction.kit import said
from tests.requirements import requirement

np = pytest.importorskip("numpy", reason="the `semantic` extra is not installed")


class Letters:
    """Turns texts into vectors by their letters; knows no meaning, but is always of the same opinion."""

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]):  # type: ignore[no-untyped-def]
        self.embedded += texts
        rows = np.array([[hash_of(text, number) for number in range(384)] for text in texts], dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def windows(self, text: str) -> tuple[str, ...]:
        return (text,)


def hash_of(text: str, number: int) -> float:
    return sum(ord(char) * (place + 1) * (number + 3) for place, char in enumerate(text)) % 97 / 97 - 0.5


class Opinion(Reader):
    """Reads every sentence the same way."""

    def __init__(
        self, worth: float, kind: MemoryType = MemoryType.feedback, otherwise: SentenceKind = SentenceKind.task
    ) -> None:
        super().__init__(lambda: None)
        self.reading = SentenceReading(worth, kind, otherwise)

    def read(self, sentences: Sequence[str]) -> dict[str, SentenceReading]:
        return dict.fromkeys(sentences, self.reading)


def test_the_weights_fit_the_marks_of_form() -> None:
    stored = json.loads((files("reverie.memory.extraction") / "reading.json").read_text(encoding="utf-8"))

    assert {len(row) for row in stored["weights"]} == {384 + len(marks("Never push to main.")) + 1}
    assert len(stored["weights"]) == len(SentenceKind)


@requirement("extraction:reading", "extraction:deterministic")
def test_a_sentence_is_read_once_and_always_the_same_way() -> None:
    letters = Letters()
    reader = Reader(lambda: letters)

    first = reader.read(["Ask me before you delete anything.", "Thanks a lot."])
    again = reader.read(["Thanks  a lot."])

    assert letters.embedded == ["Ask me before you delete anything.", "Thanks a lot."]
    assert again["Thanks  a lot."] == first["Thanks a lot."]
    assert Reader(lambda: Letters()).read(["Thanks a lot."])["Thanks a lot."] == first["Thanks a lot."]
    assert all(0 <= each.worth <= 1 for each in first.values())


@requirement("extraction:reading")
@pytest.mark.parametrize("text", ["以后提交信息都用英文写。", "Bitte nicht auf main pushen.", "テストを直してください"])
def test_only_english_is_read(text: str) -> None:
    assert not is_english(text)
    assert Reader(lambda: Letters()).read([text]) == {}


def test_without_vectors_nothing_is_read() -> None:
    assert Reader(lambda: None).read(["Ask me before you delete anything."]) == {}
    assert Reader(lambda: None).likest("a rule", ["a rule"]) == (-1, -1.0)


def test_the_nearest_text_is_named_by_its_place() -> None:
    number, nearness = Reader(lambda: Letters()).likest(
        "Never push to main", ["Call me Sam", "规则", "Never push to main"]
    )

    assert number == 2
    assert nearness == pytest.approx(1.0)


@requirement("extraction:reading")
def test_what_no_rule_knows_is_let_in_when_it_surely_reads_like_something_lasting() -> None:
    text = "Readability is what I pay for, not a low line count, please."

    assert find_candidates(said(text)) == ()
    [found] = find_candidates(said(text), Opinion(SURE))
    assert (found.type, found.quote, found.cue) == (MemoryType.feedback, text, "reading")
    assert find_candidates(said(text), Opinion(SURE - 0.01)) == ()


@requirement("extraction:reading", "extraction:not-the-task")
@pytest.mark.parametrize(
    "text",
    [
        "Please rename those two columns before the export.",
        "Should every column have an owner?",
        "Every branch of this function needs a test.",
        "The docs say every table needs an owner.",
        "The importer writes a table.",
        "/usr/bin/npm: every package needs an update",
        "Maybe every table needs an owner.",
    ],
)
def test_what_is_tied_to_the_task_is_not_let_in_by_its_reading(text: str) -> None:
    assert find_candidates(said(text), Opinion(1.0)) == ()


@requirement("extraction:reading")
def test_in_long_and_in_pasted_messages_more_is_asked_for() -> None:
    rule = "Readability is what I pay for, not a low line count, please."
    many = f"I looked at it. It took a while. We met on the stairs. {rule}"
    brief = f"{rule} " + "It is about the list of the shop and its prices. " * 20
    pasted = f"{rule}\n\n```\n{'x = 1; ' * 60}\n```\n"

    assert not [each for each in find_candidates(said(many), Opinion(SURE)) if each.quote == rule]
    assert [each for each in find_candidates(said(many), Opinion(SURE_IN_MANY)) if each.quote.startswith(rule)]
    assert find_candidates(said(brief), Opinion(1.0)) == ()
    assert find_candidates(said(pasted), Opinion(1.0)) == ()


@requirement("extraction:reading", "extraction:gate")
@pytest.mark.parametrize(
    ("otherwise", "reason"),
    [
        (SentenceKind.task, RefusalReason.transient),
        (SentenceKind.quote, RefusalReason.reported),
        (SentenceKind.code, RefusalReason.derivable),
    ],
)
def test_what_a_rule_found_is_turned_down_when_it_reads_like_something_else(
    otherwise: SentenceKind, reason: RefusalReason
) -> None:
    spoken = SessionMessage(said("Never push directly to main."), 0, 0)

    done = extract(SessionWords((spoken,)), (spoken,), GateContext(reader=Opinion(UNLIKELY / 2, otherwise=otherwise)))

    assert done.passed == ()
    told = f"reads like {otherwise.value} ({1 - UNLIKELY / 2:.2f})"
    assert [(each.reason, each.detail) for each in done.refused] == [(reason, told)]


@requirement("extraction:reading")
def test_what_somebody_asks_to_remember_needs_no_likeness_unless_it_must_never_be_kept() -> None:
    asked = SessionMessage(said("Remember that the staging server is wiped every Sunday night."), 0, 0)

    kept = extract(SessionWords((asked,)), (asked,), GateContext(reader=Opinion(0.0)))
    turned_down = extract(
        SessionWords((asked,)), (asked,), GateContext(reader=Opinion(0.0, otherwise=SentenceKind.person))
    )

    assert len(kept.passed) == 1
    assert [each.reason for each in turned_down.refused] == [RefusalReason.judgement]


@requirement("extraction:reading")
def test_with_the_real_model_the_rest_is_told_from_what_lasts() -> None:
    from reverie.memory.search.weights import find_weights

    folder = find_weights(Path(os.environ.get("REVERIE_HOME", Path.home() / ".reverie")) / "models")
    if folder is None:
        pytest.skip("no model is installed: run `reverie models install` to run this test")
    from reverie.memory.search.embed import Embedder

    embedder = Embedder(folder)
    reader = Reader(lambda: embedder)
    lasting = ["Our reviewers want every change to carry a screenshot.", "I spent ten years writing compilers."]
    passing = ["Rename that variable and run it again.", "The build is red at the moment."]

    read = reader.read([*lasting, *passing])

    assert min(read[text].worth for text in lasting) > 0.6 > max(read[text].worth for text in passing)
