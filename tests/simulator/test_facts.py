from __future__ import annotations

import pytest

from reverie_simulator.facts import facts_of, known_models


@pytest.mark.parametrize(
    ("name", "full", "window", "minimum"),
    [
        ("claude-opus-5", "claude-opus-5", 1_000_000, 512),
        ("claude-opus-4-8", "claude-opus-4-8", 1_000_000, 1_024),
        ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929", 200_000, 1_024),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20250929", 200_000, 1_024),
        ("claude-sonnet-4-0", "claude-sonnet-4-20250514", 200_000, 1_024),
        ("claude-opus-4-20250514", "claude-opus-4-20250514", 200_000, 1_024),
        ("claude-haiku-4-5", "claude-haiku-4-5-20251001", 200_000, 4_096),
        ("claude-3-5-haiku-latest", "claude-3-5-haiku-20241022", 200_000, 2_048),
        ("claude-opus-5-5", "claude-opus-5-5", 1_000_000, 512),
    ],
)
def test_a_model_is_known_by_all_its_names(name: str, full: str, window: int, minimum: int) -> None:
    facts = facts_of(name)

    assert facts is not None
    assert (facts.name, facts.window_tokens, facts.cache_minimum_tokens) == (full, window, minimum)


@pytest.mark.parametrize(
    "name", ["", "opus", "gpt-5", "claude-does-not-exist", "claude-opus-4-8[1m]", "claude-opus-99"]
)
def test_other_names_are_nobodys(name: str) -> None:
    assert facts_of(name) is None


def test_every_model_that_is_listed_can_be_asked() -> None:
    assert all(facts_of(facts.name) == facts for facts in known_models())
    assert len(known_models()) > 10
