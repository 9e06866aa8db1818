from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.dream.likeness import TopicStatement, adds_nothing_but_words, near_pairs, share
from reverie.memory.dream.tidy import TidyContext, tidy
from tests.memory.dream.kit import after, text
from tests.requirements import requirement

THRESHOLD = 0.75
_WORDS = ("use", "code", "databas", "db", "test", "mock", "mom", "dad", "parent", "tidi", "gate", "always")
_words = st.frozensets(st.sampled_from(_WORDS), min_size=1, max_size=9)
_rows = st.tuples(_words, st.sampled_from(["user", "feedback"]), st.integers(0, 1))
_statements = st.lists(_rows, max_size=12).map(
    lambda rows: [
        TopicStatement(f"{number}.md", kind, words, "", "", frozenset(), negations, frozenset())
        for number, (words, kind, negations) in enumerate(rows)
    ]
)


def _is_near(one: TopicStatement, other: TopicStatement) -> bool:
    same = (one.type, one.negations) == (other.type, other.negations)
    return same and share(one.words, other.words) >= THRESHOLD and adds_nothing_but_words(one.words, other.words)


@requirement("dream:large")
@given(_statements)
def test_no_pair_that_is_near_goes_unseen(statements: list[TopicStatement]) -> None:
    numbers = range(len(statements))
    near = {(a, b) for a in numbers for b in numbers if a < b and _is_near(statements[a], statements[b])}
    found = near_pairs(statements, THRESHOLD)

    assert near <= set(found)
    assert found == sorted(set(found))
    changed = {each.path for each in statements[:3]}
    again = near_pairs(statements, THRESHOLD, changed)
    assert again == [pair for pair in found if any(statements[number].path in changed for number in pair)]


@requirement("dream:large", "dream:idempotent")
def test_in_a_large_memory_of_one_pattern_a_second_dream_changes_nothing() -> None:
    chance = random.Random(3)
    names = [f"{a}{b}{c}" for a in ("ba", "cor", "del", "fin") for b in ("gra", "hul", "jen") for c in "xyzw"]
    texts = {}
    for number in range(1_000):
        one, other = chance.sample(names, 2)
        extra = chance.choice(["", " please", " always", " in every review"])
        texts[f"t{number}.md"] = text(f"t{number}.md", f"Tell the {one} team before the {other} gate changes{extra}.")
    first = tidy(texts, TidyContext())
    result = after(texts, first.steps)

    assert len(first.steps) > 50
    assert tidy(result, TidyContext()).steps == ()
