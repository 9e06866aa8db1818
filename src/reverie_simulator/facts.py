"""What the simulator must know of a model, by name: sizes, tokenizer generation and what requests it takes.

Sizes and abilities come from `models.profiles`; what each generation refuses comes from the provider's public notes.
A name that the provider does not use has no facts, and a request for it gets a 404.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TypeAlias

from reverie.models.profiles import PROFILES, Profile, Tokenizer
from reverie.values import value

Version: TypeAlias = tuple[int, int]

NEW_TOKENIZER_FACTOR = 1.3
"""Newer models make about 30 % more tokens of a text."""
DEFAULT_OUTPUT_TOKENS = 64_000
DEFAULT_CACHE_MINIMUM_TOKENS = 1_024

_NAME = re.compile(
    r"claude-(?:(?P<family>opus|sonnet|haiku|fable|mythos)-(?P<major>\d+)(?:-(?P<minor>\d{1,2}))?"
    r"|(?P<old_major>\d)(?:-(?P<old_minor>\d))?-(?P<old_family>opus|sonnet|haiku))"
    r"(?P<date>-\d{8}|-latest)?"
)

_DATED: dict[tuple[str, Version], str] = {
    ("opus", (4, 5)): "claude-opus-4-5-20251101",
    ("sonnet", (4, 5)): "claude-sonnet-4-5-20250929",
    ("haiku", (4, 5)): "claude-haiku-4-5-20251001",
    ("opus", (4, 1)): "claude-opus-4-1-20250805",
    ("opus", (4, 0)): "claude-opus-4-20250514",
    ("sonnet", (4, 0)): "claude-sonnet-4-20250514",
    ("sonnet", (3, 7)): "claude-3-7-sonnet-20250219",
    ("haiku", (3, 5)): "claude-3-5-haiku-20241022",
}
"""The full names of models that are also known by a short one; newer models have only one name."""


@value
class ModelFacts:
    """One model as the simulator sees it."""

    name: str
    """The full name, as replies carry it."""
    family: str
    version: Version
    profile: Profile

    @property
    def window_tokens(self) -> int:
        return self.profile.window_tokens

    @property
    def max_output_tokens(self) -> int:
        return self.profile.max_output_tokens or DEFAULT_OUTPUT_TOKENS

    @property
    def cache_minimum_tokens(self) -> int:
        """Shorter prefixes are silently not cached."""
        return self.profile.cache_minimum_tokens or DEFAULT_CACHE_MINIMUM_TOKENS

    @property
    def tokens_factor(self) -> float:
        """Tokens per token of the older tokenizer."""
        return NEW_TOKENIZER_FACTOR if self.profile.tokenizer is Tokenizer.NEW else 1.0

    @property
    def overflows_softly(self) -> bool:
        """A reply that runs into the window's end stops there, instead of the request being refused."""
        return self.profile.abilities.overflow_stops

    @property
    def takes_prefill(self) -> bool:
        return self.version < (4, 6)

    @property
    def takes_sampling(self) -> bool:
        """Whether `temperature`, `top_p` and `top_k` are accepted."""
        return self.version < (4, 7)

    @property
    def takes_both_samplings(self) -> bool:
        """Whether `temperature` and `top_p` may stand together."""
        return self.version < (4, 1) or (self.family == "sonnet" and self.version < (4, 5))

    @property
    def takes_thinking_budget(self) -> bool:
        return (3, 7) <= self.version < (4, 7)

    @property
    def takes_adaptive_thinking(self) -> bool:
        return self.version >= (4, 6)

    @property
    def thinks_unasked(self) -> bool:
        """Whether a request that says nothing about reasoning gets it."""
        return self.version >= (5, 0)

    @property
    def keeps_old_thinking(self) -> bool:
        """Whether reasoning of earlier turns stays in the prompt when nothing else is asked for."""
        return self.version >= (4, 6) or (self.family == "opus" and self.version >= (4, 5))

    @property
    def takes_system_messages(self) -> bool:
        """Whether `{"role": "system"}` may stand among the messages."""
        return self.profile.abilities.system_messages

    @property
    def compacts(self) -> bool:
        return self.profile.abilities.server_compaction

    @property
    def reports_stop_details(self) -> bool:
        return self.version >= (4, 6)

    @property
    def reports_thinking_tokens(self) -> bool:
        return self.version >= (4, 6) and (self.family, self.version) != ("sonnet", (4, 6))


@lru_cache(maxsize=256)
def facts_of(model: str) -> ModelFacts | None:
    """The facts of a model by any of the provider's own names, or None when there is no such model."""
    match = _NAME.fullmatch(model)
    if match is None:
        return None
    family = match["family"] or match["old_family"]
    version = (int(match["major"] or match["old_major"]), int(match["minor"] or match["old_minor"] or 0))
    if not (3, 0) <= version < (10, 0):
        return None
    name = _DATED.get((family, version), model.removesuffix("-latest"))
    return ModelFacts(name, family, version, _nearest_profile(family, version))


def known_models() -> tuple[ModelFacts, ...]:
    """Every model of the table that the simulator plays, the newest first."""
    by_name = (facts_of(name) for name in PROFILES)
    return tuple(sorted((facts for facts in by_name if facts), key=lambda facts: facts.version, reverse=True))


def _nearest_profile(family: str, version: Version) -> Profile:
    """The model's own profile, else that of the newest before it in its line, else of the oldest."""
    line = sorted(
        (_version(entry.family), entry) for entry in PROFILES.values() if entry.family.startswith(f"claude-{family}-")
    )
    before = [entry for since, entry in line if since <= version]
    return before[-1] if before else line[0][1]


def _version(name: str) -> Version:
    numbers = [int(part) for part in name.split("-") if part.isdecimal()]
    return (numbers[0], numbers[1] if len(numbers) > 1 else 0)
