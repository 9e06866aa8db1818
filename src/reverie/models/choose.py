"""Makes the model for a name: the place to add a provider.

`offline`, `anthropic/NAME`, `openai/NAME`, `ollama/NAME` and other servers of this machine, `command:PROGRAM`, a Claude
name or alias, or any name when a server is set.
Keys and addresses come in as values; nothing here reads the environment, and no vendor SDK is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from urllib.parse import urlsplit

from reverie.errors import UserMistake
from reverie.models.anthropic import ANTHROPIC_URL, AnthropicModel
from reverie.models.connection import Timeouts
from reverie.models.local_servers import local_url
from reverie.models.names import COMMAND, canonical_name
from reverie.models.offline import OFFLINE, OfflineModel
from reverie.models.openai import OPENAI_URL, OpenAIModel
from reverie.models.ports import Model
from reverie.models.retry import Retries
from reverie.values import value

OLLAMA_URL = "http://localhost:11434/v1"


@value
class Access:
    """Base URLs, keys and time-outs of the providers."""

    anthropic_key: str | None = field(default=None, repr=False)
    anthropic_token: str | None = field(default=None, repr=False)
    anthropic_url: str | None = None
    openai_key: str | None = field(default=None, repr=False)
    openai_url: str | None = None
    timeouts: Timeouts = field(default_factory=Timeouts)
    retries: Retries = field(default_factory=Retries)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What a program of another vendor is started with."""


def choose(name: str, access: Access) -> Model:
    """Make the model for a name; raises `UserMistake` if no provider is known for it. Add a provider here."""
    wanted = name.strip()
    if wanted == OFFLINE:
        return OfflineModel()
    if wanted.startswith(COMMAND):
        from reverie.models.command import command_model

        return command_model(wanted, access.environment, access.timeouts.total_seconds)
    server, slash, rest = wanted.partition("/")
    if slash and rest:
        match server:
            case "anthropic":
                return _anthropic(rest, access)
            case "openai":
                return _openai(rest, access, access.openai_url or OPENAI_URL)
            case "ollama":
                return _openai(rest, access, access.openai_url or OLLAMA_URL)
            case "lmstudio" | "llamacpp" | "vllm":
                return _openai(rest, access, local_url(server))
    if canonical_name(wanted).startswith("claude-") and not slash:
        return _anthropic(wanted, access)
    if wanted and (access.openai_url or access.openai_key):
        return _openai(wanted, access, access.openai_url or OPENAI_URL)
    raise UserMistake(
        f"unknown provider for model {name!r}: use anthropic/NAME, openai/NAME, ollama/NAME or command:claude, "
        "set OPENAI_BASE_URL to your server, or use 'offline'"
    )


def _anthropic(name: str, access: Access) -> AnthropicModel:
    # Short names such as "sonnet" are ours; the provider wants the whole one.
    spelt = name if "claude-" in name.lower() else canonical_name(name)
    return AnthropicModel(
        spelt,
        key=access.anthropic_key,
        auth_token=access.anthropic_token,
        base_url=_check_base_url(access.anthropic_url or ANTHROPIC_URL),
        timeouts=access.timeouts,
        retries=access.retries,
    )


def _openai(name: str, access: Access, base_url: str) -> OpenAIModel:
    return OpenAIModel(
        name,
        key=access.openai_key,
        base_url=_check_base_url(base_url),
        timeouts=access.timeouts,
        retries=access.retries,
    )


def _check_base_url(base_url: str) -> str:
    """The address of a server, or the user's mistake; a password in it is not quoted."""
    try:
        parts = urlsplit(base_url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        shown = base_url.rpartition("@")[2]
        raise UserMistake(f"{shown!r} is not a server address; use a form such as http://localhost:8080")
    return base_url
