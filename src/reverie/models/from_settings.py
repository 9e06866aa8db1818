"""Builds models from settings: which one is used, how it is reached, and the user's own profiles."""

from __future__ import annotations

from pathlib import Path

from reverie.errors import UserMistake
from reverie.models.names import COMMAND
from reverie.models.offline import OFFLINE
from reverie.models.ports import Model
from reverie.models.profiles import Abilities, Prices, ProfileOverride, Tokenizer
from reverie.models.tokens.window import WindowBudget, budget_by
from reverie.settings import ModelProfile, Settings
from reverie.settings.load import Configuration, SettingsFlags, from_process, process_environment
from reverie.values import value

FIRST_CHOICE = {"anthropic": "claude-sonnet-5", "openai": "openai/gpt-5"}
"""What answers when a key is there and no model was named."""


@value
class ModelChoice:
    """Which model answers, and whether somebody asked for it."""

    name: str
    is_chosen: bool


def model_choice(configuration: Configuration, named: str | None) -> ModelChoice:
    """The model named on the command line, else in the settings, else what the keys at hand allow."""
    model = configuration.settings.model
    if named or model.default:
        return ModelChoice(named or model.default or OFFLINE, is_chosen=True)
    if configuration.secrets.get(model.anthropic_key_env) or configuration.secrets.get("ANTHROPIC_AUTH_TOKEN"):
        return ModelChoice(FIRST_CHOICE["anthropic"], is_chosen=False)
    if configuration.secrets.get(model.openai_key_env):
        return ModelChoice(FIRST_CHOICE["openai"], is_chosen=False)
    return ModelChoice(OFFLINE, is_chosen=False)


def memory_model_name(settings: Settings, named: str | None) -> str | None:
    """The model for memory work without a conversation: the named one, else that of the settings; None for rules."""
    return named or settings.model.memory


def model(configuration: Configuration, name: str) -> Model:
    """The model of that name: a profile of the user's own, or one that a provider serves."""
    from reverie.models.choose import Access, choose
    from reverie.models.connection import Timeouts
    from reverie.models.retry import Retries

    settings, secrets = configuration.settings.model, configuration.secrets
    own = configuration.settings.profile(name)
    timeouts = Timeouts(total_seconds=settings.timeout_seconds)
    retries = Retries(attempts=settings.max_retries + 1)
    if own is None:
        access = Access(
            anthropic_key=secrets.get(settings.anthropic_key_env),
            anthropic_token=secrets.get("ANTHROPIC_AUTH_TOKEN"),
            anthropic_url=settings.anthropic_base_url,
            openai_key=secrets.get(settings.openai_key_env),
            openai_url=settings.openai_base_url,
            timeouts=timeouts,
            retries=retries,
            environment=process_environment() if name.startswith(COMMAND) else {},
        )
        return choose(name, access)
    key = secrets.get(own.key_env) if own.key_env else None
    if own.key_env and key is None:
        raise UserMistake(f"no API key for model {name!r}: set {own.key_env}")
    access = Access(
        anthropic_key=key,
        anthropic_url=own.base_url,
        openai_key=key,
        openai_url=own.base_url,
        timeouts=timeouts,
        retries=retries,
    )
    served_as = own.model or own.name
    return choose(OFFLINE if own.provider == OFFLINE else f"{own.provider}/{served_as}", access)


def profile_overrides(settings: Settings) -> dict[str, ProfileOverride]:
    """What the user's own model profiles say, over the table of known models."""
    return {name: _override(own) for own in settings.models for name in (own.model or own.name, own.name)}


def _override(own: ModelProfile) -> ProfileOverride:
    return ProfileOverride(
        window_tokens=own.window_tokens,
        max_output_tokens=own.max_output_tokens,
        cache_minimum_tokens=own.cache_minimum_tokens,
        prices=_prices(own),
        tokenizer=None if own.tokenizer is None else Tokenizer(own.tokenizer),
        abilities=None if own.abilities is None else Abilities(**dict.fromkeys(own.abilities, True)),
    )


def _prices(own: ModelProfile) -> Prices | None:
    """What the user says a model costs; cached input costs as much as other input unless said otherwise."""
    usual, output = own.input_usd_per_million, own.output_usd_per_million
    if usual is None or output is None:
        return None
    cached = (
        own.cache_write_5m_usd_per_million,
        own.cache_write_1h_usd_per_million,
        own.cache_read_usd_per_million,
    )
    write_5m, write_1h, read = (usual if price is None else price for price in cached)
    return Prices(input=usual, write_5m=write_5m, write_1h=write_1h, read=read, output=output)


def budget(settings: Settings, model_name: str, *, window: int | None = None, reported_tokens: int = 0) -> WindowBudget:
    """The lines of a model's window; `window` makes it another size."""
    overrides = profile_overrides(settings)
    return budget_by(settings, model_name, window=window, reported_tokens=reported_tokens, overrides=overrides)


def process_model(name: str, project: Path) -> Model:
    """A model by name, with the keys of this process."""
    return model(from_process(SettingsFlags(project=project)), name)
