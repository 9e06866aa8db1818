""""""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.models.profiles import PROFILES, Tokenizer
from reverie.models.tokens import rates as module
from reverie.models.tokens.rates import CELL_CHARS, EXACT_CHARS, RATES, Pieces, pieces, rates_for
from tests.requirements import requirement


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


CHINESE = (
    "记忆不是一堆文件，而是知道什么时候该想起什么。昨天我们决定在测试里使用真正的数据库，因为模拟掩盖了错误的迁移。"
)
JAPANESE = "昨日の会議では、テストに本物のデータベースを使うことに決めました。モックが壊れた移行を隠していたからです。"
RUSSIAN = "Вчера мы решили использовать в тестах настоящую базу данных, потому что подделка скрыла сломанную миграцию."
PROSE = (
    "Yesterday we decided to use a real database in the tests, because a fake one had hidden a broken migration. "
    "Nobody noticed for two weeks, and then the nightly import failed on the first customer with an empty address. "
)


def total(text: str) -> float:
    return sum(pieces(text))


def _base64() -> str:
    return base64.b64encode(random.Random(7).randbytes(3_000)).decode()


def _json() -> str:
    rows = [{"id": number, "name": f"row-{number}", "tags": ["a", "b"], "ok": number % 2 == 0} for number in range(60)]
    return json.dumps(rows, indent=2)


def _log() -> str:
    return "\n".join(f"2026-08-22T12:{n % 60:02}:07.{n:03}Z INFO worker[{n}] done in {n * 7} ms" for n in range(80))


@requirement("tokens:estimate:kinds")
@pytest.mark.parametrize(
    ("make", "tolerance"),
    [
        (lambda: PROSE * 5, 0.15),
        (lambda: CHINESE * 5, 0.25),
        (lambda: JAPANESE * 5, 0.25),
        (lambda: RUSSIAN * 5, 0.30),
        (_base64, 0.15),
        (_json, 0.25),
        (_log, 0.25),
        (lambda: random.Random(1).randbytes(2_000).hex(), 0.20),
        (lambda: Path(module.__file__).read_text(encoding="utf-8"), 0.15),
    ],
    ids=["prose", "chinese", "japanese", "russian", "base64", "json", "log", "hex", "code"],
)
def test_the_pieces_of_every_kind_of_text_are_those_of_an_open_vocabulary(
    make: Callable[[], str], tolerance: float
) -> None:
    toktok = pytest.importorskip("toktok")
    text = make()
    [truth] = toktok.batch_count([text], "o200k_base")
    assert total(text) == pytest.approx(truth, rel=tolerance)


@requirement("tokens:estimate:laws")
def test_nothing_weighs_nothing() -> None:
    assert pieces("") == (0, 0, 0)


@requirement("tokens:estimate:laws")
@given(st.text(max_size=400), st.text(max_size=400))
def test_a_text_never_has_fewer_pieces_than_its_beginning(start: str, rest: str) -> None:
    assert 0 <= total(start) <= total(start + rest) + 1e-9


@requirement("tokens:estimate:laws")
@given(
    st.lists(st.sampled_from([PROSE, CHINESE, "\x1b[0m\n", "    x = {}\n", "0123456789" * 9]), max_size=80), st.data()
)
def test_the_samples_of_long_texts_keep_that_law(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts) * 3
    cut = data.draw(st.integers(0, len(text)))
    assert total(text[:cut]) <= total(text) + 1e-6


@requirement("tokens:estimate:laws")
@given(st.text(max_size=300), st.text(max_size=300))
def test_two_texts_together_weigh_what_they_weigh_apart(one: str, other: str) -> None:
    assert total(one + other) == pytest.approx(total(one) + total(other), abs=5)


@requirement("tokens:estimate:laws")
@given(st.text(alphabet=st.characters(), max_size=200))
def test_any_text_at_all_can_be_weighed_and_weighs_the_same_again(text: str) -> None:
    assert pieces(text) == pieces(str(text))


def test_half_a_surrogate_pair_does_not_stop_the_scales() -> None:
    assert total("broken \ud83d here") > 0


def test_a_sampled_text_weighs_about_what_it_would_in_full() -> None:
    lines = [f"{number}: {PROSE[number % 50 : number % 50 + 60]} = {{'k': {number * 37}}}" for number in range(1_500)]
    text = "\n".join(lines)
    assert len(text) > EXACT_CHARS + 2 * CELL_CHARS
    in_full = sum(total(text[at : at + EXACT_CHARS]) for at in range(0, len(text), EXACT_CHARS))
    assert total(text) == pytest.approx(in_full, rel=0.05)


def test_the_three_sums_tell_scripts_and_terminals_from_plain_text() -> None:
    assert pieces(PROSE).script == pieces(PROSE).terminal == 0
    assert pieces(CHINESE).script > 10 * pieces(CHINESE).plain
    assert pieces("\x1b[31mred\x1b[0m").terminal > 0
