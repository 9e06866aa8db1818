"""Facts per model family in one table: window, output limit, cache minimum, prices, tokenizer, abilities.

Figures are those of the vendor's pages of 2026-08-22, and of the models' own pages for what came later or is left open
there. A price that is not in the table makes a cost None, never a guess; the window of a model that is not in the table
is a careful guess, which `models.tokens.window.unknown_model` tells the user. Spellings are in `names`.
Requests above 200,000 tokens on models before 4.6 cost more than this table says: the pages give no figure for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum

from reverie.messages.message import Usage
from reverie.models.names import COMMAND, canonical_name, wants_extended_window
from reverie.values import value

DEFAULT_WINDOW_TOKENS = 200_000
"""The window of a model for which nothing else states one."""
UNKNOWN_HOSTED_TOKENS = 128_000
"""The guess for an unknown model with the name of a large provider's family: the smallest window they offer."""
UNKNOWN_SERVED_TOKENS = 32_000
"""The guess for any other unknown model, such as one of a server on this machine."""
EXTENDED_WINDOW_TOKENS = 1_000_000
"""What the suffix `[1m]` or the beta header asks for."""
EXTENDED_WINDOW_BETA = "context-1m-"
"""How the beta header that asks for the extended window begins; a date follows."""

BATCH_FACTOR = 0.5
WEB_SEARCH_USD = 0.01
"""What the provider asks for one search of the web, beside the tokens."""
US_ONLY_FACTOR = 1.1
"""`inference_geo: "us"`, charged on the models that `charges_for_geo` names."""


class Tokenizer(StrEnum):
    """Which vocabulary cuts the text; the same text weighs differently under each."""

    OLD = "old"
    """Claude up to 4.6."""
    NEW = "new"
    """Claude 4.7 and later: about 30 % more tokens."""
    OTHER = "other"
    """Anybody else's; taken to be like the open vocabularies of 200,000 words."""


@value
class Prices:
    """USD per million tokens."""

    input: float
    write_5m: float
    write_1h: float
    read: float
    output: float


@value
class Abilities:
    """What a provider does for this model."""

    prompt_caching: bool = False
    context_edits: bool = False
    """`context_management` edits that clear tool results or thinking."""
    cache_edits: bool = False
    """Deletes results inside its cache when asked; no public endpoint does, the simulator and some gateways do."""
    server_compaction: bool = False
    thinking: bool = False
    adaptive_thinking: bool = False
    """Decides itself how much to think; other models want a number of tokens."""
    effort: bool = False
    """Takes a word on how much to put into an answer."""
    system_messages: bool = False
    """Takes a `system` message in mid-conversation without losing the cached prefix."""
    web_search: bool = False
    """Searches the web by itself when it is given the provider's own tool for that."""
    keeps_thinking: bool = False
    """Reasoning of earlier turns stays in the window; other models drop it at the next user message."""
    overflow_stops: bool = False
    """A reply that fills the window ends with a stop reason instead of the request being refused."""


@value
class Profile:
    """All we know of one model."""

    family: str
    """The canonical name without date; for an unknown model the name as given."""
    window_tokens: int = DEFAULT_WINDOW_TOKENS
    window_is_stated: bool = False
    """The window is the model's own; neither a beta header nor an environment override changes it."""
    max_output_tokens: int | None = None
    """None where the vendor's pages give no figure."""
    cache_minimum_tokens: int | None = None
    """A shorter prefix is silently not cached; None without prompt caching."""
    prices: Prices | None = None
    fast_prices: Prices | None = None
    tokenizer: Tokenizer = Tokenizer.OTHER
    abilities: Abilities = Abilities()
    tool_prompt_tokens: int = 0
    """What the provider adds to a request as soon as it carries tools; from recorded exchanges."""
    knowledge_cutoff: str = ""
    """Up to when its knowledge is reliable, by the vendor's word; empty where nobody says."""
    charges_for_geo: bool = False
    long_prices: Prices | None = None
    """What everything costs in a request whose prompt is longer than `long_prompt_tokens`."""
    long_prompt_tokens: int = 0
    is_known: bool = False
    """The model stands in the table, or the settings say how large its window is."""

    @property
    def extends_window(self) -> bool:
        """Whether a header widens the window: that of some earlier models, and perhaps of those nobody described."""
        if self.window_is_stated:
            return False
        return self.family in _WIDENED if self.is_known else self.family.startswith("claude-")


@value
class ProfileOverride:
    """What the settings say about one model; None leaves the table's word."""

    window_tokens: int | None = None
    max_output_tokens: int | None = None
    cache_minimum_tokens: int | None = None
    prices: Prices | None = None
    tokenizer: Tokenizer | None = None
    abilities: Abilities | None = None


_WIDENED = frozenset({"claude-sonnet-4-0", "claude-sonnet-4-5"})

NO_OVERRIDES: Mapping[str, ProfileOverride] = {}


def _prices(input_usd: float, output_usd: float) -> Prices:
    """Cache writes and reads are fixed multiples of the input price."""
    return Prices(input_usd, round(1.25 * input_usd, 6), round(2 * input_usd, 6), round(0.1 * input_usd, 6), output_usd)


_CUTOFFS = {
    "claude-opus-5-5": "June 2026",
    "claude-fable-5-1": "June 2026",
    "claude-opus-5": "May 2026",
    "claude-fable-5": "January 2026",
    "claude-mythos-5": "January 2026",
    "claude-opus-4-8": "January 2026",
    "claude-opus-4-7": "January 2026",
    "claude-sonnet-5": "January 2026",
    "claude-sonnet-4-6": "August 2025",
    "claude-opus-4-6": "May 2025",
    "claude-opus-4-5": "May 2025",
    "claude-haiku-4-5": "February 2025",
    "claude-sonnet-4-5": "January 2025",
    "claude-sonnet-4-0": "January 2025",
    "claude-opus-4-1": "January 2025",
    "claude-opus-4-0": "January 2025",
    "claude-haiku-3-5": "July 2024",
}
"""Up to when the vendor calls a model's knowledge reliable, where its pages say so."""

_EARLY = Abilities(prompt_caching=True, web_search=True)
_BEFORE_4_5 = replace(_EARLY, context_edits=True, thinking=True)
_4_5 = replace(_BEFORE_4_5, overflow_stops=True)
_OPUS_4_5 = replace(_4_5, keeps_thinking=True, effort=True)
_COMPACTING = replace(_OPUS_4_5, server_compaction=True, adaptive_thinking=True)
_LATEST = replace(_COMPACTING, system_messages=True)


def _claude(
    family: str,
    *,
    prices: Prices,
    cache_minimum: int,
    abilities: Abilities,
    max_output: int | None = 128_000,
    million: bool = True,
    tokenizer: Tokenizer = Tokenizer.NEW,
    fast: Prices | None = None,
    tool_prompt: int = 300,
) -> Profile:
    return Profile(
        family=family,
        window_tokens=EXTENDED_WINDOW_TOKENS if million else DEFAULT_WINDOW_TOKENS,
        window_is_stated=million,
        max_output_tokens=max_output,
        cache_minimum_tokens=cache_minimum,
        prices=prices,
        fast_prices=fast,
        tokenizer=tokenizer,
        abilities=abilities,
        tool_prompt_tokens=tool_prompt,
        knowledge_cutoff=_CUTOFFS.get(family, ""),
        charges_for_geo=million,
        is_known=True,
    )


_HOSTED = ("gpt-", "chatgpt-", "codex-", "o1", "o3", "o4", "gemini-", "grok-")
"""How names of models begin that their makers serve themselves."""
_OPEN_WEIGHTS = ("gpt-oss", "gpt-2", "gpt-j", "gpt-neo")
"""Those among them that anybody may serve."""


def _earlier_claude(
    family: str, *, prices: Prices, cache_minimum: int, abilities: Abilities, max_output: int | None
) -> Profile:
    return _claude(
        family,
        prices=prices,
        cache_minimum=cache_minimum,
        abilities=abilities,
        max_output=max_output,
        million=False,
        tokenizer=Tokenizer.OLD,
        tool_prompt=346,
    )


def _claude_4_6(family: str, *, prices: Prices, cache_minimum: int) -> Profile:
    return _claude(
        family,
        prices=prices,
        cache_minimum=cache_minimum,
        abilities=_COMPACTING,
        tokenizer=Tokenizer.OLD,
        tool_prompt=497,
    )


_OPUS = _prices(5, 25)
_FAST = _prices(10, 50)
_SONNET = _prices(3, 15)
_OLD_OPUS = _prices(15, 75)

_TABLE: tuple[Profile, ...] = (
    _claude("claude-fable-5-2", prices=_prices(8, 40), cache_minimum=512, abilities=_LATEST),
    _claude("claude-mythos-5-2", prices=_prices(8, 40), cache_minimum=512, abilities=_LATEST),
    _claude("claude-opus-5-5", prices=Prices(4, 5, 8, 0.2, 20), cache_minimum=512, abilities=_LATEST),
    _claude("claude-sonnet-5-5", prices=_prices(2, 10), cache_minimum=1_024, abilities=_COMPACTING, tool_prompt=370),
    replace(
        _claude("claude-haiku-5-5", prices=_prices(0.1, 0.5), cache_minimum=4_096, abilities=_COMPACTING),
        long_prices=_prices(0.5, 2.5),
        long_prompt_tokens=100_000,
    ),
    _claude("claude-fable-5-1", prices=_prices(10, 50), cache_minimum=512, abilities=_LATEST),
    _claude("claude-mythos-5-1", prices=_prices(10, 50), cache_minimum=512, abilities=_LATEST),
    _claude("claude-fable-5", prices=_prices(10, 50), cache_minimum=512, abilities=_LATEST),
    _claude("claude-mythos-5", prices=_prices(10, 50), cache_minimum=512, abilities=_LATEST),
    _claude("claude-opus-5", prices=_OPUS, cache_minimum=512, abilities=_LATEST, fast=_FAST),
    _claude("claude-opus-4-8", prices=_OPUS, cache_minimum=1_024, abilities=_LATEST, fast=_FAST),
    _claude("claude-opus-4-7", prices=_OPUS, cache_minimum=2_048, abilities=_COMPACTING),
    _claude_4_6("claude-opus-4-6", prices=_OPUS, cache_minimum=4_096),
    _claude("claude-sonnet-5", prices=_prices(2, 10), cache_minimum=1_024, abilities=_COMPACTING, tool_prompt=370),
    _claude_4_6("claude-sonnet-4-6", prices=_SONNET, cache_minimum=1_024),
    _earlier_claude("claude-opus-4-5", prices=_OPUS, cache_minimum=4_096, abilities=_OPUS_4_5, max_output=64_000),
    _earlier_claude("claude-opus-4-1", prices=_OLD_OPUS, cache_minimum=1_024, abilities=_BEFORE_4_5, max_output=32_000),
    _earlier_claude("claude-opus-4-0", prices=_OLD_OPUS, cache_minimum=1_024, abilities=_BEFORE_4_5, max_output=32_000),
    _earlier_claude("claude-sonnet-4-5", prices=_SONNET, cache_minimum=1_024, abilities=_4_5, max_output=64_000),
    _earlier_claude("claude-sonnet-4-0", prices=_SONNET, cache_minimum=1_024, abilities=_BEFORE_4_5, max_output=64_000),
    _earlier_claude("claude-haiku-4-5", prices=_prices(1, 5), cache_minimum=4_096, abilities=_4_5, max_output=64_000),
    _earlier_claude(
        "claude-haiku-3-5", prices=_prices(0.8, 4), cache_minimum=2_048, abilities=_EARLY, max_output=8_192
    ),
    Profile(family="offline", max_output_tokens=None, prices=Prices(0, 0, 0, 0, 0), is_known=True),
)

PROFILES: Mapping[str, Profile] = {entry.family: entry for entry in _TABLE}
"""The table, by family."""

_UNKNOWN_CLAUDE = Profile(
    family="",
    cache_minimum_tokens=4_096,
    tokenizer=Tokenizer.NEW,
    abilities=_BEFORE_4_5,
    tool_prompt_tokens=346,
)
"""A Claude that is not in the table: the careful end of every figure, and no price."""


_OTHER_VENDORS: Mapping[str, tuple[float, float, float]] = {
    # USD per million tokens: input, read from the cache, output.
    "gpt-6-sol": (2, 0.2, 10),
    "gpt-6-luna": (0.1, 0.01, 0.5),
    "gpt-5.6-terra": (2, 0.2, 12),
    "gpt-5.6-luna": (0.2, 0.02, 1.2),
    "gpt-5.5": (5, 0.5, 30),
    "gpt-5.4": (2.5, 0.25, 15),
    "gpt-5.4-mini": (0.75, 0.075, 4.5),
    "gpt-5.4-nano": (0.2, 0.02, 1.25),
    "gpt-5.3-codex": (1.75, 0.175, 14),
    "gpt-5.2": (1.75, 0.175, 14),
    "gpt-5.2-codex": (1.75, 0.175, 14),
    "gpt-5.1": (1.25, 0.125, 10),
    "gpt-5.1-codex": (1.25, 0.125, 10),
    "gpt-5.1-codex-mini": (0.25, 0.025, 2),
    "gpt-5": (1.25, 0.125, 10),
    "gpt-5-codex": (1.25, 0.125, 10),
    "gpt-5-mini": (0.25, 0.025, 2),
    "gpt-5-nano": (0.05, 0.005, 0.4),
    "gpt-4.1": (2, 0.5, 8),
    "gpt-4.1-mini": (0.4, 0.1, 1.6),
    "gpt-4o": (2.5, 1.25, 10),
    "gpt-4o-mini": (0.15, 0.075, 0.6),
    "o3": (2, 0.5, 8),
    "o4-mini": (1.1, 0.275, 4.4),
    "codex-mini": (1.5, 0.375, 6),
    "gemini-3.5-flash": (1.5, 0.15, 9),
    "gemini-3.1-pro": (2, 0.2, 12),
    "gemini-3-pro": (2, 0.2, 12),
    "gemini-3-flash": (0.5, 0.05, 3),
    "gemini-2.5-pro": (1.25, 0.125, 10),
    "gemini-2.5-flash": (0.3, 0.03, 2.5),
    "gemini-2.5-flash-lite": (0.1, 0.01, 0.4),
    "grok-4.5": (2, 0.5, 6),
    "grok-code-fast-1": (0.2, 0.02, 1.5),
    "kimi-k3": (3, 0.3, 15),
    "kimi-k2.7-code": (0.95, 0.19, 4),
}
"""List prices of other vendors, read on 2026-11-17 from GitHub's table of model prices and from the vendors' pages;
where two sources disagree the model is left out, so that its cost is unknown. Subscriptions charge differently."""
_WRITES_COST_MORE = ("gpt-6-", "gpt-5.6-")
"""Models whose cache writes cost a quarter more than input; with the others a write costs what input costs."""
_LONG_PROMPTS: Mapping[str, int] = {
    "gpt-6-": 272_000,
    "gpt-5.6-luna": 200_000,
    "gpt-5.6-": 272_000,
    "gpt-5.5": 272_000,
    "gpt-5.4": 272_000,
    "gemini-3.1-pro": 200_000,
    "gemini-3-pro": 200_000,
    "gemini-2.5-pro": 200_000,
    "grok-4.5": 200_000,
}
"""Above how many tokens a request costs twice the input and one and a half times the output, by the start of a name."""
_FLAT = ("gpt-5.4-mini", "gpt-5.4-nano")
_VENDORS = frozenset({"openai", "google", "models", "xai", "x-ai", "moonshotai", "github-copilot"})
"""What may stand before a name, with a slash, without being a server of somebody's own."""
_VENDOR_SUFFIX = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest|preview(?:-[\d-]+)?)$")


def _priced(facts: Profile) -> Profile:
    """Add the list price of another vendor's model, named with or without its vendor and the date of a snapshot."""
    vendor, slash, rest = facts.family.lower().rpartition("/")
    name = rest if slash and vendor in _VENDORS else facts.family.lower()
    while (shorter := _VENDOR_SUFFIX.sub("", name)) != name:
        name = shorter
    if name not in _OTHER_VENDORS:
        return facts
    fresh, read, output = _OTHER_VENDORS[name]
    written = 1.25 * fresh if name.startswith(_WRITES_COST_MORE) else fresh
    prices = Prices(fresh, written, written, read, output)
    limit = next((tokens for start, tokens in _LONG_PROMPTS.items() if name.startswith(start)), 0)
    if not limit or name in _FLAT:
        return replace(facts, prices=prices)
    long_prices = Prices(2 * fresh, 2 * written, 2 * written, 2 * read, 1.5 * output)
    return replace(facts, prices=prices, long_prices=long_prices, long_prompt_tokens=limit)


def profile(model: str, overrides: Mapping[str, ProfileOverride] = NO_OVERRIDES) -> Profile:
    """The facts on a model, by any of its spellings; an unknown one gets a careful window and no price."""
    family = canonical_name(model)
    facts = _command(family) if family.startswith(COMMAND) else PROFILES.get(family) or _priced(_unknown(family))
    override = overrides.get(model) or overrides.get(family)
    if override is not None:
        facts = _overridden(facts, override)
    if wants_extended_window(model):
        facts = replace(facts, window_tokens=EXTENDED_WINDOW_TOKENS, window_is_stated=True)
    return facts


def window_tokens(
    model: str,
    *,
    betas: Iterable[str] = (),
    override_tokens: int | None = None,
    overrides: Mapping[str, ProfileOverride] = NO_OVERRIDES,
) -> int:
    """The window of a model: suffix, stated window, beta header, environment override, default. First match wins.

    A model whose own window is the default one states nothing, so that header and override can still move it.
    """
    facts = profile(model, overrides)
    if facts.window_is_stated:
        return facts.window_tokens
    if facts.extends_window and any(beta.startswith(EXTENDED_WINDOW_BETA) for beta in betas):
        return EXTENDED_WINDOW_TOKENS
    if override_tokens is not None and override_tokens > 0:
        return override_tokens
    return facts.window_tokens


def cost(
    usage: Usage, facts: Profile, *, batch: bool = False, us_only: bool = False, fast: bool = False
) -> float | None:
    """What one reply cost in USD, or None when the price is not known."""
    prices = facts.fast_prices if fast else facts.prices
    if prices is None:
        return None
    prompt_tokens = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    if facts.long_prices is not None and prompt_tokens > facts.long_prompt_tokens:
        prices = facts.long_prices
    write_5m_tokens = max(usage.cache_write_tokens - usage.cache_write_1h_tokens, 0)
    total = (
        usage.input_tokens * prices.input
        + write_5m_tokens * prices.write_5m
        + usage.cache_write_1h_tokens * prices.write_1h
        + usage.cache_read_tokens * prices.read
        + usage.output_tokens * prices.output
    )
    if batch:
        total *= BATCH_FACTOR
    if us_only and facts.charges_for_geo:
        total *= US_ONLY_FACTOR
    return total / 1_000_000 + usage.web_searches * WEB_SEARCH_USD


def _command(family: str) -> Profile:
    """A model behind another vendor's program: priced as the model that it most likely asks, without its abilities."""
    from reverie.models.command_programs import PROGRAMS

    program, _, named = family.removeprefix(COMMAND).partition("/")
    usual = profile(PROGRAMS[program].usual_model) if program in PROGRAMS else Profile(family)
    asked = profile(named) if named else usual
    return Profile(
        family,
        min(usual.window_tokens, UNKNOWN_HOSTED_TOKENS),
        window_is_stated=True,
        prices=asked.prices or usual.prices,
        tokenizer=asked.tokenizer,
        is_known=program in PROGRAMS,
    )


def _unknown(family: str) -> Profile:
    if family.startswith("claude-"):
        return replace(_UNKNOWN_CLAUDE, family=family, tokenizer=_tokenizer_of_unknown(family))
    if not family or family.startswith("<"):
        return Profile(family=family)  # no model at all, such as a reply that a program made up
    server, slash, rest = family.partition("/")
    name = rest if slash and server == "openai" else family
    is_hosted = name.startswith(_HOSTED) and not name.startswith(_OPEN_WEIGHTS)
    return Profile(family=family, window_tokens=UNKNOWN_HOSTED_TOKENS if is_hosted else UNKNOWN_SERVED_TOKENS)


def _tokenizer_of_unknown(family: str) -> Tokenizer:
    """Claude names carry their version as `-major-minor`; 4.7 brought the new vocabulary."""
    numbers = [int(part) for part in family.split("-") if part.isdecimal()]
    return Tokenizer.OLD if numbers and tuple(numbers[:2]) < (4, 7) else Tokenizer.NEW


def _overridden(facts: Profile, override: ProfileOverride) -> Profile:
    return replace(
        facts,
        window_tokens=facts.window_tokens if override.window_tokens is None else override.window_tokens,
        window_is_stated=facts.window_is_stated or override.window_tokens is not None,
        max_output_tokens=facts.max_output_tokens if override.max_output_tokens is None else override.max_output_tokens,
        cache_minimum_tokens=(
            facts.cache_minimum_tokens if override.cache_minimum_tokens is None else override.cache_minimum_tokens
        ),
        prices=override.prices or facts.prices,
        tokenizer=override.tokenizer or facts.tokenizer,
        abilities=override.abilities or facts.abilities,
        is_known=facts.is_known or override.window_tokens is not None,
    )
