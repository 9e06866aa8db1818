"""The estimates against what a provider really counted, each series with rates fitted to the others only."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from bench.tokens import exchanges
from bench.tokens.series import Series, fit, growth_errors, plain_errors, read_series, size_errors

from reverie.messages.blocks import Json, JsonObject, Text, ToolUse
from reverie.messages.message import Usage
from reverie.messages.view import project
from reverie.models.profiles import Tokenizer, profile
from reverie.models.tokens.count import UNCALIBRATED, growth
from reverie.models.tokens.rates import RATES
from reverie.models.tokens.rounds import rounds
from tests.models.tokens.sessions import MODEL, WORDS, Session
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


@requirement("tokens:estimate:recordings")
def test_the_examples_of_the_providers_own_documents_are_met_within_a_tenth(tmp_path: Path) -> None:
    place: dict[str, Json] = {"type": "string", "description": "The city and state, e.g. San Francisco, CA"}
    weather: dict[str, Json] = {
        "name": "get_weather",
        "description": "Get the current weather in a given location",
        "input_schema": {"type": "object", "properties": {"location": place}, "required": ["location"]},
    }
    asked = "What's the weather like in San Francisco?"
    told: list[tuple[JsonObject, int]] = [
        ({"system": "You are a scientist", "messages": [{"role": "user", "content": "Hello, Claude"}]}, 14),
        ({"tools": [weather], "messages": [{"role": "user", "content": asked}]}, 403),
    ]
    rows = [
        {"request": {"body": {"model": MODEL, **body}}, "response": {"status": 200, "body": {"input_tokens": counted}}}
        for body, counted in told
    ]
    (tmp_path / "test_documented.json").write_text(json.dumps(rows), encoding="utf-8")

    found = exchanges.errors(exchanges.recorded(tmp_path))

    assert len(found.values) == 2
    assert all(abs(error) < 0.10 for error in found.values), found


def _made_up(seed: int) -> Series:
    """A session of ours under a tokenizer of our own: other rates than the shipped ones, and noise of a twentieth."""
    draw = random.Random(seed)
    law = replace(RATES[Tokenizer.OLD], plain=1.32, terminal=1.2, call=24.0, parameter=11.0, result=19.0)
    session = Session()
    session.says("Look why the importer skips records.")
    for number in range(14):
        session.answers(
            Text(" ".join(draw.choices(WORDS.split(), k=draw.randint(20, 60)))),
            ToolUse(f"t{number}", "Bash", {"command": f"grep -n record src/part{number}.py"}),
            usage=Usage(input_tokens=10_000, output_tokens=1),
            stop_reason="tool_use",
        )
        lines = [f"src/part{at}.py:{draw.randint(1, 900)}: {draw.choice(WORDS.split())}(row)" for at in range(40)]
        session.returns(f"t{number}", "\n".join(lines[: draw.randint(12, 40)]))
    calls = rounds(project(session.entries).items)
    size = 10_000.0
    for one, following in pairwise(calls):
        one.usage = Usage(input_tokens=round(size), output_tokens=1)
        size += growth(one, profile(MODEL), law, UNCALIBRATED) * draw.uniform(0.95, 1.05)
        following.usage = Usage(input_tokens=round(size), output_tokens=1)
    return Series(str(seed), tuple(calls))


@requirement("tokens:estimate:series")
def test_rates_fitted_to_other_sessions_of_ours_meet_the_growth_of_one_within_a_tenth() -> None:
    made = [_made_up(seed) for seed in range(4)]
    for series in made:
        rates = fit([other for other in made if other is not series])
        found = growth_errors(series, rates, online=False)
        assert len(found.values) >= 10
        assert found.typical < 0.10
        assert min(found.values) > -0.25
        assert plain_errors(series, lambda text: len(text.encode()) / 4).bias < found.bias


@requirement("tokens:estimate:series")
def test_shipped_rates_learn_the_tokenizer_of_a_session_while_it_goes_on() -> None:
    for series in map(_made_up, range(4)):
        alone, learning = (growth_errors(series, None, online=online) for online in (False, True))
        assert learning.typical < 0.10
        assert learning.typical < alone.typical
