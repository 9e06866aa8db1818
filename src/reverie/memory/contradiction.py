"""Checks whether a memory without a quote contradicts what the user typed in the session."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reverie.memory.search.analyze import terms
from reverie.memory.topics.polarity import MismatchKind, PolarityMismatch, find_mismatch, is_substituted
from reverie.memory.topics.topic import Topic, prose_lines
from reverie.patterns import lazy_regex, split_sentences
from reverie.values import value

_ALIKE = 0.6
"""The share of common words, of either side, from which on a memory is taken to be about a sentence."""
_FEWEST_SHARED = 2
_LATEST_MESSAGES = 50
_LEAD = lazy_regex(
    r"\A(?:please\s+)?(?:remember|note)(?:\s+that|\s*:)\s+|\A(?:merk dir|bitte merken)\s*[:,]\s*", re.IGNORECASE
)
_REASON = lazy_regex(
    r",?\s+(?:because|since|so that|as otherwise|weil|denn|damit|porque|parce que)\b|，?因为", re.IGNORECASE
)


def find_contradicted(topic: Topic, typed: Sequence[str]) -> tuple[str, PolarityMismatch] | None:
    """The sentence that a memory turns round, and in what it differs; None where it agrees with one, or is about none.

    Only what is nearly the same sentence is compared: a memory may say more than was said in one.
    """
    typed_sentences = [each for text in typed[-_LATEST_MESSAGES:] for each in _statements(text)]
    for statement in dict.fromkeys((topic.description, *list(prose_lines(topic.body))[:1], topic.name)):
        about = [each for each in typed_sentences if _is_about(statement, each.text)]
        mismatches = [_find_contradiction(each, statement) for each in about]
        if about and all(mismatches):
            sentence, mismatch = about[-1].text, mismatches[-1]
            assert mismatch is not None
            return sentence, mismatch
    return None


@value
class _Statement:
    """Something that the user typed."""

    text: str
    is_whole: bool = True
    """Not so without the reason and the lead-in; of such a part only a turned meaning counts, not other words."""


def _find_contradiction(sentence: _Statement, statement: str) -> PolarityMismatch | None:
    """A difference that is more than another way to put it: nobody claims that these are the user's words."""
    mismatch = find_mismatch(sentence.text, statement)
    if mismatch is None:
        return None
    if not sentence.is_whole:
        return mismatch if mismatch.kind is MismatchKind.negation else None
    is_harmless = mismatch.kind is MismatchKind.wording and not is_substituted(sentence.text, statement)
    return None if is_harmless else mismatch


def _statements(text: str) -> Iterator[_Statement]:
    """The statements of a message; one with a reason or a lead-in also without these, as a memory would state it."""
    for sentence in split_sentences(text):
        piece = " ".join(sentence.split())
        if not piece.endswith(("?", "？")):
            claim = _REASON.split(_LEAD.sub("", piece), maxsplit=1)[0]
            yield _Statement(piece)
            if claim != piece:
                yield _Statement(claim, is_whole=False)


def _is_about(statement: str, sentence: str) -> bool:
    statement_terms, sentence_terms = set(terms(statement)), set(terms(sentence))
    shared = len(statement_terms & sentence_terms)
    return shared >= _FEWEST_SHARED and shared >= _ALIKE * max(len(statement_terms), len(sentence_terms))
