from __future__ import annotations

import pytest

from reverie.models.names import canonical_name, wants_extended_window
from tests.requirements import requirement


@requirement("tokens:profiles:spellings")
@pytest.mark.parametrize(
    ("spelt", "family"),
    [
        ("claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("Claude-Sonnet-4-5[1m]", "claude-sonnet-4-5"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4-0"),
        ("claude-opus-4-5@20251101", "claude-opus-4-5"),
        ("claude-opus-4-8@default", "claude-opus-4-8"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("anthropic:claude-opus-4-6:thinking", "claude-opus-4-6"),
        ("arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-5", "claude-opus-5"),
        ("claude-3-5-haiku-20241022", "claude-haiku-3-5"),
        ("claude-3-opus-latest", "claude-opus-3-0"),
        ("claude-sonnet-4", "claude-sonnet-4-0"),
        ("claude-opus-5", "claude-opus-5"),
        ("sonnet", "claude-sonnet-5-5"),
        ("Qwen2.5-Coder:7b", "Qwen2.5-Coder:7b"),
        ("gpt-5[1m]", "gpt-5"),
        ("<synthetic>", "<synthetic>"),
    ],
)
def test_a_model_has_one_family_name_however_it_is_spelt(spelt: str, family: str) -> None:
    assert canonical_name(spelt) == family


def test_only_the_suffix_asks_for_the_extended_window() -> None:
    assert wants_extended_window("claude-sonnet-4-5[1m]")
    assert wants_extended_window("opus[1M] ")
    assert not wants_extended_window("claude-[1m]-sonnet")
