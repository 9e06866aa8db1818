from __future__ import annotations

from reverie.models.profiles import PROFILES, Tokenizer
from reverie.models.tokens.pieces import Pieces
from reverie.models.tokens.rates import RATES, rates_for


def test_every_tokenizer_has_its_rates() -> None:
    assert RATES.keys() == set(Tokenizer)
    assert all(rates_for(facts) is RATES[facts.tokenizer] for facts in PROFILES.values())


def test_the_three_sums_are_weighed_apart() -> None:
    rates = RATES[Tokenizer.OLD]
    assert rates.tokens(Pieces(10, 0, 0)) == 10 * rates.plain
    assert rates.tokens(Pieces(0, 10, 0)) == 10 * rates.script
    assert rates.tokens(Pieces(0, 0, 10)) == 10 * rates.terminal


def test_an_unknown_vocabulary_is_taken_as_the_open_one() -> None:
    assert RATES[Tokenizer.OTHER].tokens(Pieces(7, 8, 9)) == 24
