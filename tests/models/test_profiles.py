from __future__ import annotations

import json
from pathlib import Path

import pytest

from reverie.messages.message import Usage
from reverie.models.profiles import PROFILES, Prices, ProfileOverride, Tokenizer, cost, profile, window_tokens
from reverie.models.tokens.window import budget_by, unknown_model
from reverie.settings import Settings
from tests.requirements import requirement

BETA = "context-1m-2025-08-07"


@requirement("tokens:profiles:one-table")
def test_the_table_agrees_with_the_price_page(shared_data: Path) -> None:
    page = json.loads((shared_data / "wire" / "prices.json").read_text(encoding="utf-8"))
    for name, row in page["models"].items():
        facts = profile(name)
        assert facts.prices == Prices(
            row["input"], row["cache_write_5m"], row["cache_write_1h"], row["cache_read"], row["output"]
        ), name
        assert facts.window_tokens == row["context_window"], name
        assert facts.cache_minimum_tokens == row["min_cacheable_tokens"], name
        assert facts.tokenizer == row["tokenizer_generation"], name
        assert row["max_output"] in (None, facts.max_output_tokens), name
    for name, row in page["fast_mode"].items():
        fast = profile(name).fast_prices
        assert fast is not None
        assert (fast.input, fast.output) == (row["input"], row["output"])


@requirement("tokens:profiles:one-table")
def test_every_family_is_found_under_its_own_name() -> None:
    assert all(profile(family) is facts for family, facts in PROFILES.items())


@requirement("tokens:profiles:no-invented-price")
@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("openai/gpt-9", 128_000),
        ("gemini-9-pro", 128_000),
        ("gpt-oss:20b", 32_000),
        ("llama3.3:70b", 32_000),
        ("ollama/gpt-5", 32_000),
        ("claude-sonnet-9", 200_000),
        ("", 200_000),
    ],
)
def test_an_unknown_model_has_a_careful_window_and_no_price(model: str, tokens: int) -> None:
    facts = profile(model)
    assert not facts.is_known
    assert facts.window_tokens == tokens
    assert cost(Usage(1_000, 1_000), facts) is None


@requirement("tokens:profiles:other-vendors")
@pytest.mark.parametrize("model", ["gpt-5-codex", "openai/gpt-5-codex", "gpt-5-codex-2025-09-15", "GPT-5-Codex"])
def test_a_model_of_another_vendor_has_its_list_price(model: str) -> None:
    usage = Usage(1_000_000, 100_000, cache_read_tokens=1_000_000)
    assert cost(usage, profile(model)) == pytest.approx(1.25 + 0.125 + 1.0)


@requirement("tokens:profiles:other-vendors")
def test_a_long_prompt_to_another_vendor_costs_more() -> None:
    facts = profile("gemini-2.5-pro")
    assert cost(Usage(200_000, 1_000), facts) == pytest.approx(0.25 + 0.01)
    assert cost(Usage(200_001, 1_000), facts) == pytest.approx(0.5 + 0.015, rel=1e-4)


def test_an_unknown_claude_is_still_a_claude() -> None:
    assert profile("claude-sonnet-9").tokenizer is Tokenizer.NEW
    assert profile("claude-sonnet-3-7").tokenizer is Tokenizer.OLD
    assert profile("claude-sonnet-9").abilities.prompt_caching
    assert not profile("mistral").abilities.prompt_caching


def test_settings_describe_a_model_by_its_name_or_its_family() -> None:
    mine = {
        "qwen": ProfileOverride(window_tokens=32_768, prices=Prices(1, 1, 1, 1, 2)),
        "claude-sonnet-4-5": ProfileOverride(max_output_tokens=1_000),
    }
    assert profile("qwen", mine).window_tokens == 32_768
    assert cost(Usage(output_tokens=1_000_000), profile("qwen", mine)) == 2
    dated = profile("claude-sonnet-4-5-20250929", mine)
    assert (dated.max_output_tokens, dated.window_tokens) == (1_000, 200_000)
    assert dated.prices == profile("claude-sonnet-4-5").prices


@requirement("tokens:window:chain")
@pytest.mark.parametrize(
    ("model", "betas", "override", "tokens"),
    [
        ("claude-sonnet-4-5[1m]", (), 50_000, 1_000_000),
        ("gpt-5[1m]", (), None, 1_000_000),
        ("claude-opus-5", (), 50_000, 1_000_000),
        ("claude-sonnet-4-5", (BETA,), 50_000, 1_000_000),
        ("claude-sonnet-4-5", ("other-beta",), 50_000, 50_000),
        ("local", (), 8_192, 8_192),
        ("local", (), 0, 32_000),
        ("claude-sonnet-4-5", (), None, 200_000),
    ],
)
def test_the_window_comes_from_the_first_that_names_one(
    model: str, betas: tuple[str, ...], override: int | None, tokens: int
) -> None:
    assert window_tokens(model, betas=betas, override_tokens=override) == tokens


@requirement("tokens:window:chain")
def test_a_window_in_the_settings_counts_as_the_models_own() -> None:
    mine = {"local": ProfileOverride(window_tokens=200_000)}
    assert window_tokens("local", betas=(BETA,), override_tokens=9_000, overrides=mine) == 200_000


@requirement("tokens:profiles:unknown")
def test_what_is_assumed_of_an_unknown_model_is_said_until_somebody_says_better() -> None:
    settings = Settings()
    guessed = unknown_model(profile("qwen3"), budget_by(settings, "qwen3"))
    assert guessed is not None
    assert "'qwen3'" in guessed
    assert "32,000 tokens" in guessed
    assert "price is unknown" in guessed
    assert "--window" in guessed
    priced = {"qwen3": ProfileOverride(prices=Prices(1, 1, 1, 1, 2))}
    still = unknown_model(profile("qwen3", priced), budget_by(settings, "qwen3", overrides=priced))
    assert still is not None
    assert "price" not in still

    described = {"qwen3": ProfileOverride(window_tokens=40_000)}
    assert unknown_model(profile("qwen3", described), budget_by(settings, "qwen3", overrides=described)) is None
    assert unknown_model(profile("qwen3"), budget_by(settings, "qwen3", window=8_000)) is None
    assert unknown_model(profile("opus"), budget_by(settings, "opus")) is None
    assert unknown_model(profile("offline"), budget_by(settings, "offline")) is None


@requirement("tokens:profiles:one-table")
def test_the_default_model_of_the_host_is_in_the_table() -> None:
    facts = profile("claude-opus-5-5")
    # What the host program itself reported for such a request.
    spent = Usage(input_tokens=3, output_tokens=112, cache_write_tokens=13_738)
    assert cost(spent, facts) == pytest.approx(0.070942)
    assert (facts.window_tokens, facts.max_output_tokens) == (1_000_000, 128_000)


def test_a_long_prompt_may_cost_more() -> None:
    facts = profile("haiku")
    assert cost(Usage(input_tokens=100_000), facts) == pytest.approx(0.01)
    assert cost(Usage(input_tokens=100_000, cache_read_tokens=1), facts) == pytest.approx(0.05, rel=1e-4)


def test_a_cost_adds_every_kind_of_token_at_its_price() -> None:
    usage = Usage(
        input_tokens=1_000_000,
        output_tokens=1_000_000,
        cache_read_tokens=1_000_000,
        cache_write_tokens=3_000_000,
        cache_write_1h_tokens=1_000_000,
    )
    facts = profile("claude-sonnet-4-5")
    assert cost(usage, facts) == pytest.approx(3 + 15 + 0.30 + 2 * 3.75 + 6)
    assert cost(usage, facts, batch=True) == pytest.approx((3 + 15 + 0.30 + 2 * 3.75 + 6) / 2)


def test_the_surcharge_for_one_country_is_only_taken_where_it_is_charged() -> None:
    usage = Usage(input_tokens=1_000_000)
    assert cost(usage, profile("claude-opus-5"), us_only=True) == pytest.approx(5.5)
    assert cost(usage, profile("claude-opus-4-5"), us_only=True) == pytest.approx(5)


def test_fast_mode_has_its_own_price_and_only_where_it_exists() -> None:
    usage = Usage(output_tokens=1_000_000)
    assert cost(usage, profile("claude-opus-4-8"), fast=True) == pytest.approx(50)
    assert cost(usage, profile("claude-haiku-4-5"), fast=True) is None


def test_the_embedded_engine_costs_nothing() -> None:
    assert cost(Usage(10, 10), profile("offline")) == 0
