"""The models a user can switch to: their own profiles, those of the providers, those of a local server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reverie.amounts import short_count

if TYPE_CHECKING:
    from reverie.settings.load import Configuration

_NAMED = 5


def list_models(configuration: Configuration) -> list[tuple[str, str]]:
    """Names that `--model` and `/model` take, each once, with a few facts; a name of the user's own comes first."""
    from reverie.models.local_servers import fetch_model_names

    url = configuration.settings.model.openai_base_url
    served = [(f"openai/{name}", f"served at {url}") for name in fetch_model_names(url) or ()] if url else []
    served += list_local_models()
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


def list_local_models() -> list[tuple[str, str]]:
    """The models of servers that answer on this machine, and the programs of other vendors that are installed."""
    from reverie.models.command import list_installed
    from reverie.models.local_servers import find_local_servers
    from reverie.settings.load import process_environment

    servers = [
        (f"{server.name}/{model}", f"served at {server.base_url}")
        for server in find_local_servers()
        for model in server.models
    ]
    programs = list_installed(process_environment())
    return [*servers, *((f"command:{name}", f"asks the program {name}, as you are signed in") for name in programs)]


def describe_local_models() -> str:
    """What could answer in the background without a key, in a line."""
    names = [name for name, _ in list_local_models()]
    if not names:
        return "local models: none found (model servers on loopback, programs of other agents)"
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"local models: {', '.join(names[:_NAMED])}{more}; not used unless you choose one (--model, model.memory)"
