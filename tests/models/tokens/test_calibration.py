from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.models.tokens.calibration import UNCALIBRATED, Calibration
from tests.requirements import requirement


def after(times: int, skew: float, kind: str = "Bash", start: Calibration = UNCALIBRATED) -> Calibration:
    for _ in range(times):
        start = start.observe(1_000, 1_000 * skew, kind)
    return start


@requirement("tokens:calibration:learns")
@pytest.mark.parametrize("skew", [0.7, 1.3, 1.6])
def test_a_steady_skew_is_learnt(skew: float) -> None:
    assert after(40, skew).ratio("Bash") == pytest.approx(skew, rel=0.12)


@requirement("tokens:calibration:learns")
def test_a_kind_never_seen_takes_part_in_what_the_session_taught() -> None:
    assert 1.0 < after(20, 1.4).ratio("Read") < after(20, 1.4).ratio("Bash")


@requirement("tokens:calibration:learns")
def test_kinds_are_told_apart() -> None:
    both = after(15, 0.7, "terminal", after(15, 1.3))
    assert both.ratio("terminal") < 1 < both.ratio("Bash")


@requirement("tokens:calibration:learns")
@pytest.mark.parametrize("reported", [0, -500, 50_000])
def test_an_accident_teaches_nothing(reported: int) -> None:
    settled = after(20, 1.2)
    assert settled.observe(1_000, reported, "Bash") == settled


@requirement("tokens:calibration:learns")
def test_one_odd_observation_moves_a_settled_factor_little() -> None:
    settled = after(20, 1.0)
    assert settled.observe(1_000, 2_500, "Bash").ratio("Bash") == pytest.approx(1.0, abs=0.05)


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(-1e6, 1e6), st.sampled_from(["", "a", "b"])), max_size=50))
def test_a_factor_stays_between_sane_bounds(seen: list[tuple[float, float, str]]) -> None:
    calibration = UNCALIBRATED
    for estimated, reported, kind in seen:
        calibration = calibration.observe(estimated, reported, kind)
    assert all(0.39 < calibration.ratio(kind) < 3.01 for kind in ("", "a", "b", "c"))


def test_observing_gives_a_new_value_and_leaves_the_old() -> None:
    first = UNCALIBRATED.observe(100, 120, "x")
    first.observe(100, 200, "x")
    assert UNCALIBRATED.ratio("x") == 1
    assert first == UNCALIBRATED.observe(100, 120, "x")


def test_a_calibration_survives_json() -> None:
    known = after(3, 1.2, "terminal", after(9, 0.8))
    assert Calibration.from_json(json.loads(json.dumps(known.to_json()))) == known


@pytest.mark.parametrize("data", [{}, {"overall": "x", "by_kind": 3}, {"overall": [1], "by_kind": {"a": [0, 0]}}])
def test_a_damaged_calibration_counts_as_none(data: dict[str, object]) -> None:
    assert Calibration.from_json(json.loads(json.dumps(data))) == UNCALIBRATED
