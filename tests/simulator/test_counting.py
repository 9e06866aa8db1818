from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie_simulator.weights import SKEW_RANGE, TokenCounter, best_text_count, rough_text_count
from tests.requirements import requirement

PROSE = "The prompt cache is a contract between the client and the provider, and a break has a price. " * 40


@requirement("simulator:counting:not-the-estimator")
@given(seed=st.integers())
def test_the_skew_follows_from_the_seed_and_stays_in_its_range(seed: int) -> None:
    one, other = TokenCounter(seed, count_text=len), TokenCounter(seed, count_text=len)

    assert one.skew == other.skew
    assert SKEW_RANGE[0] <= one.skew <= SKEW_RANGE[1]
    assert one.text(PROSE) == other.text(PROSE)


@requirement("simulator:counting:not-the-estimator")
def test_two_runs_count_differently() -> None:
    assert len({TokenCounter(seed, count_text=len).text(PROSE) for seed in range(20)}) > 10


@given(st.text())
def test_the_rough_count_is_at_least_one_token_for_any_visible_text(text: str) -> None:
    assert rough_text_count(text) >= (1 if text.strip() else 0)


@pytest.mark.parametrize("text", [PROSE, "def f(x):\n    return x + 1\n" * 60, "提示缓存是一个契约。" * 60])
def test_the_rough_count_is_not_far_from_the_exact_one(text: str) -> None:
    exact = best_text_count()(text)

    assert 0.6 * exact <= rough_text_count(text) <= 1.9 * exact


def test_text_that_is_no_unicode_is_counted_all_the_same() -> None:
    assert TokenCounter(1).text("half a pair: \ud83d") > 0


def test_no_text_has_no_tokens() -> None:
    assert TokenCounter(1).text("") == 0
