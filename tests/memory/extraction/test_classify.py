from __future__ import annotations

import pytest

from reverie.memory.extraction.candidate import RefusalReason, UserMessage
from reverie.memory.extraction.classify import classify_sentences
from reverie.memory.extraction.find import SURE, UNLIKELY, find_candidates
from reverie.memory.extraction.signals import find_language, find_signals
from reverie.memory.extraction.typed import find_typed_sentences
from reverie.memory.topics.topic import MemoryType
from tests.memory.extraction.kit import MONDAY, said
from tests.requirements import requirement


@requirement("extraction:reading")
@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Never push to main.", "en"),
        ("Bitte nicht auf main pushen.", "de"),
        ("No hagas push a main, por favor.", "es"),
        ("Ne pousse jamais sur main, merci.", "fr"),
        ("不要直接推到 main。", "zh"),
        ("main に直接プッシュしないで", "ja"),
    ],
)
def test_a_signal_means_the_same_in_every_language(text: str, language: str) -> None:
    assert find_language(text) == language
    assert {"never", "dont"} & find_signals(text, language)


@requirement("extraction:reading", "extraction:deterministic")
def test_a_message_is_always_read_the_same_way() -> None:
    spoken = find_typed_sentences("Fix the parser first. We decided to drop the XML export, nobody uses it.")

    first = classify_sentences(spoken, is_answer=False)

    assert classify_sentences(spoken, is_answer=False) == first
    assert [0 <= each.worth <= 1 for each in first] == [True, True]
    assert first[1].worth > first[0].worth
    assert first[1].type is MemoryType.project


@requirement("extraction:reading")
def test_what_no_rule_knows_is_let_in_when_it_surely_reads_like_something_lasting() -> None:
    rule = "Auf main wird bei uns nie direkt gepusht, sonst bricht das Deployment."
    text = f"Schon wieder main! {rule} Mach das rückgängig."

    [candidate] = find_candidates(said(text))

    assert (candidate.cue, candidate.type, candidate.quote) == ("reading", MemoryType.feedback, rule)
    assert classify_sentences(find_typed_sentences(text), is_answer=False)[1].worth >= SURE["other"]


@requirement("extraction:reading", "extraction:gate")
def test_what_a_rule_found_is_doubted_when_the_message_reads_like_something_else() -> None:
    text = "The drone must hold its height. Never climb above the ceiling. If the link is lost it should land and beep."

    doubts = [each.doubt for each in find_candidates(said(text))]

    assert all(doubt and doubt.reason is RefusalReason.transient for doubt in doubts)
    assert classify_sentences(find_typed_sentences(text), is_answer=False)[1].worth < UNLIKELY


@requirement("extraction:reading", "extraction:not-the-task")
def test_a_brief_and_a_pasted_text_are_left_to_the_rules() -> None:
    rule = "We decided to keep the hosting in our own cellar, the cloud bill was too high."
    brief = f"{rule} " + "It is about the list of the shop and its prices. " * 20
    rest = "\n\n```\n" + "x = 1; " * 60 + "\n```\n"
    chosen = "Encore main ! Chez nous on ne pousse jamais sur main, sinon ça déploie tout seul. Annule ça."

    assert [each.cue for each in find_candidates(said(brief))] != ["reading"]
    assert [each.cue for each in find_candidates(said(chosen))] == ["reading"]
    assert find_candidates(said(chosen + rest)) == ()


@requirement("extraction:reading", "extraction:confirmation")
def test_an_approval_is_kept_with_what_it_approves_of() -> None:
    reply = "I split the change into three small commits, each with its own test. Is that all right?"
    text = "Yes, that's perfect, please keep doing it like this. It is so much easier for me to review."

    [candidate] = find_candidates(UserMessage("m1", text, "s1", MONDAY, reply))

    assert candidate.type is MemoryType.feedback
    assert candidate.name == "Split the change into three small commits"
    assert "**What was done:** I split the change into three small commits, each with its own test." in candidate.body
    assert candidate.quote in text
