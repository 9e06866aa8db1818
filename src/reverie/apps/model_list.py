"""The models a user can switch to: their own profiles, those of the providers, those of a local server."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from typing import TYPE_CHECKING

from reverie.amounts import short_count

if TYPE_CHECKING:
    from reverie.settings.load import Configuration

_SERVER_SECONDS = 1.0
_MOST_OF_A_SERVER = 50


def list_models(configuration: Configuration) -> list[tuple[str, str]]:
    """Names that `--model` and `/model` take, each once, with a few facts; a name of the user's own comes first."""
    from reverie.models.choose import OLLAMA_URL

    url = configuration.settings.model.openai_base_url
    prefix = "openai" if url else "ollama"
    served = [(f"{prefix}/{name}", f"served at {url or OLLAMA_URL}") for name in _fetch_model_names(url or OLLAMA_URL)]
    offline = ("offline", "no model: memories can be searched and saved, prompts are not answered")
    listed = [*_own_profiles(configuration), *served, *_claude_models(configuration), offline]
    return [(name, facts) for number, (name, facts) in enumerate(listed) if name not in dict(listed[:number])]


def _own_profiles(configuration: Configuration) -> Iterator[tuple[str, str]]:
    for profile in configuration.settings.models:
        yield profile.name, f"settings: {profile.model or profile.name} by {profile.provider}"


def _claude_models(configuration: Configuration) -> Iterator[tuple[str, str]]:
    from reverie.models.offline import OFFLINE
    from reverie.models.profiles import PROFILES

    settings, secrets = configuration.settings.model, configuration.secrets
    has_key = bool(secrets.get(settings.anthropic_key_env) or secrets.get("ANTHROPIC_AUTH_TOKEN"))
    need = "" if has_key else f", needs {settings.anthropic_key_env}"
    for profile in PROFILES.values():
        if profile.family == OFFLINE:
            continue
        prices = f", ${profile.prices.input:g} / ${profile.prices.output:g} per million" if profile.prices else ""
        yield profile.family, f"{short_count(profile.window_tokens)} tokens{prices}{need}"


def _fetch_model_names(url: str) -> list[str]:
    """What an OpenAI-compatible server says it has; nothing where none answers."""
    if not url.startswith(("http://", "https://")):
        return []
    try:
        with urllib.request.urlopen(f"{url.rstrip('/')}/models", timeout=_SERVER_SECONDS) as answer:  # noqa: S310
            rows = json.loads(answer.read(1_000_000))["data"]
        return [str(row["id"]) for row in rows][:_MOST_OF_A_SERVER]
    except (OSError, ValueError, KeyError, TypeError):
        return []
