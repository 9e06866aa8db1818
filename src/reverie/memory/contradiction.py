"""Checks whether a memory without a quote contradicts what the user typed in the session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reverie.memory.search.analyze import terms
from reverie.memory.topics.polarity import MismatchKind, PolarityMismatch, find_mismatch, is_substituted
from reverie.memory.topics.topic import Topic, prose_lines
from reverie.patterns import split_sentences

_ALIKE = 0.6
"""The share of common words, of either side, from which on a memory is taken to be about a sentence."""
_FEWEST_SHARED = 2
_LATEST_MESSAGES = 50


def find_contradicted(topic: Topic, typed: Sequence[str]) -> tuple[str, PolarityMismatch] | None:
    """The sentence that a memory turns round, and in what it differs; None where it agrees with one, or is about none.

    Only what is nearly the same sentence is compared: a memory may say more than was said in one.
    """
    typed_sentences = [each for text in typed[-_LATEST_MESSAGES:] for each in _statements(text)]
    for statement in dict.fromkeys((topic.description, *list(prose_lines(topic.body))[:1], topic.name)):
        about = [each for each in typed_sentences if _is_about(statement, each)]
        mismatches = [_find_contradiction(each, statement) for each in about]
        if about and all(mismatches):
            sentence, mismatch = about[-1], mismatches[-1]
            assert mismatch is not None
            return sentence, mismatch
    return None


def _find_contradiction(sentence: str, statement: str) -> PolarityMismatch | None:
    """A difference that is more than another way to put it: nobody claims that these are the user's words."""
    mismatch = find_mismatch(sentence, statement)
    is_harmless = (
        mismatch is not None and mismatch.kind is MismatchKind.wording and not is_substituted(sentence, statement)
    )
    return None if is_harmless else mismatch


def _statements(text: str) -> Iterable[str]:
    pieces = (" ".join(sentence.split()) for sentence in split_sentences(text))
    return (piece for piece in pieces if not piece.endswith(("?", "？")))


def _is_about(statement: str, sentence: str) -> bool:
    statement_terms, sentence_terms = set(terms(statement)), set(terms(sentence))
    shared = len(statement_terms & sentence_terms)
    return shared >= _FEWEST_SHARED and shared >= _ALIKE * max(len(statement_terms), len(sentence_terms))
