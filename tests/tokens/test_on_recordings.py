"""The estimates against what a provider really counted, each series with rates fitted to the others only."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.tokens import exchanges
from bench.tokens.series import Series, fit, growth_errors, plain_errors, read_series, size_errors

from tests.requirements import requirement


@pytest.fixture(scope="module")
def recorded_series(shared_data: Path) -> list[Series]:
    return read_series(shared_data / "transcripts")


@requirement("tokens:estimate:recordings")
def test_recorded_requests_are_met_within_a_tenth(shared_data: Path) -> None:
    found = exchanges.errors(exchanges.recorded(shared_data / "wire"))
    assert len(found.values) >= 25
    assert found.typical < 0.10


@requirement("tokens:estimate:recordings")
def test_recorded_answers_are_met_within_a_tenth(shared_data: Path) -> None:
    found = exchanges.errors(exchanges.answers(shared_data / "wire"))
    assert len(found.values) >= 10
    assert found.typical < 0.10


@requirement("tokens:estimate:series")
def test_growth_is_met_within_a_tenth_by_rates_that_have_not_seen_the_series(recorded_series: list[Series]) -> None:
    assert len(recorded_series) >= 4
    for series in recorded_series:
        rates = fit([other for other in recorded_series if other is not series])
        found = growth_errors(series, rates, online=False)
        assert found.typical < 0.10, series.name
        assert found.bias > -0.25, series.name
        assert size_errors(series, rates).typical < 0.01, series.name


@requirement("tokens:estimate:series")
def test_the_shipped_rates_do_as_well_alone_and_learning(recorded_series: list[Series]) -> None:
    for series in recorded_series:
        for online in (False, True):
            found = growth_errors(series, None, online=online)
            assert found.typical < 0.10, (series.name, online)
            assert abs(found.bias) < 0.10, (series.name, online)


@requirement("tokens:estimate:series")
def test_four_bytes_to_a_token_would_be_far_under(recorded_series: list[Series]) -> None:
    for series in recorded_series:
        assert plain_errors(series, lambda text: len(text.encode()) / 4).bias < -0.25, series.name
