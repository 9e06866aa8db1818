from __future__ import annotations

import random

import pytest

from reverie.files.secret_scan.rules import IN_CONTEXT, TOKENS, VALUE_MIN_CHARS, SecretRule
from tests.files.secret_scan.fresh import fresh
from tests.requirements import requirement


@requirement("secrets:scan:every-rule")
def test_there_are_more_than_forty_kinds() -> None:
    assert len({rule.name for rule in TOKENS + IN_CONTEXT}) > 40


@pytest.mark.parametrize("rule", TOKENS, ids=lambda rule: rule.name)
def test_what_a_rule_describes_is_one_long_word_with_its_keyword(rule: SecretRule) -> None:
    chance = random.Random(rule.name)

    for _ in range(20):
        secret = fresh(rule.source, chance)
        assert rule.pattern().fullmatch(secret), rule.name
        assert any(keyword in secret for keyword in rule.keywords)
        assert len(secret) >= VALUE_MIN_CHARS
        assert not any(char.isspace() for char in secret)


@pytest.mark.parametrize("rule", IN_CONTEXT, ids=lambda rule: rule.name)
def test_the_keywords_of_a_rule_in_context_are_in_lower_case(rule: SecretRule) -> None:
    assert all(keyword == keyword.lower() for keyword in rule.keywords)
