"""The keys that this program itself needs: who else sees them, and what they are, so that nobody prints them."""

from __future__ import annotations

from reverie.session.options import SessionOptions

_SHORTEST_KEY = 16


def keys_of(options: SessionOptions) -> tuple[str, ...]:
    """The keys themselves, as far as they are long enough to be told from other words."""
    values = {options.environment.get(name, "") for name in _key_names(options)}
    return tuple(sorted(value for value in values if len(value) >= _SHORTEST_KEY))


def environment_for_others(options: SessionOptions) -> dict[str, str]:
    """The environment of commands, hooks and tool servers: without our keys, unless `tools.keep_keys` says so."""
    keys = set() if options.settings.tools.keep_keys else _key_names(options)
    return {name: value for name, value in options.environment.items() if name not in keys}


def _key_names(options: SessionOptions) -> set[str]:
    settings = options.settings
    keys = {settings.model.anthropic_key_env, settings.model.openai_key_env}
    return keys | {
        "ANTHROPIC_AUTH_TOKEN",
        "REVERIE_TEAM_TOKEN",
        *(profile.key_env or "" for profile in settings.models),
    }
