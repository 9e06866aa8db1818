"""What a session is built from, as one value: everything that comes from outside the library.

Also which of the keys in it others may see.

`session.wiring` builds it from the settings of this process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from pathlib import Path

from reverie.files.places import Places
from reverie.files.trust import TrustPart
from reverie.models.ports import Model
from reverie.models.profiles import ProfileOverride
from reverie.permissions.approval import Approver, NobodyThere
from reverie.settings import Settings
from reverie.settings.layers import Origin
from reverie.values import value

_SHORTEST_KEY = 16


@value
class SessionOptions:
    """Everything that a session is built from."""

    settings: Settings
    places: Places
    directory: Path
    """Where the agent stands at first."""
    project: Path
    """The root of the project."""
    model: str
    make_model: Callable[[str], Model]
    now: Callable[[], datetime]
    new_id: Callable[[], str]
    user_home: Path
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """For the processes that tools and hooks start."""
    overrides: Mapping[str, ProfileOverride] = field(default_factory=dict)
    approver: Approver = field(default_factory=NobodyThere)
    is_interactive: bool = False
    window_tokens: int | None = None
    """The size of the window instead of the model's own."""
    max_rounds: int | None = None
    max_output_tokens: int | None = None
    setup_trigger: str = ""
    """`init` or `maintenance`: runs `Setup` hooks before the session starts."""
    system_prompt: str | None = None
    """Instead of the default system text."""
    appended_prompt: str | None = None
    """After the system text."""
    mode: str | None = None
    """The permission mode to begin with."""
    allowed_tools: tuple[str, ...] = ()
    """Rules that allow, besides those of the settings."""
    disallowed_tools: tuple[str, ...] = ()
    mcp_config: tuple[Path, ...] = ()
    """Files of servers to connect to, besides those that are found."""
    plugin_dirs: tuple[Path, ...] = ()
    agents: str | None = None
    """Roles as JSON, from a flag."""
    team: str = ""
    """The team that this session belongs to; one of its own when empty."""
    agent_name: str = ""
    """How it is called there."""
    program: tuple[str, ...] = ()
    """The command that runs this program, for teammates; none can be started when empty."""
    is_trusted: bool = False
    """Whether the user agreed to the plugins that files of the project switch on."""
    trust_parts: tuple[TrustPart, ...] = ()
    """What the project's settings bring that counts only once the user agreed; hooks tell of themselves."""
    is_tracked: Callable[[Path], bool] = lambda _path: False
    """Whether git holds a file: such a local file came with the project."""
    origins: Mapping[str, Sequence[Origin]] | None = None
    """Where each setting comes from, for rules whose paths count from there."""
    ripgrep: str | None = None
    """The path of the program, where there is one."""
    version: str = ""


def keys_of(options: SessionOptions) -> tuple[str, ...]:
    """The keys that nobody may print, as far as they are long enough to be told from other words."""
    values = {options.environment.get(name, "") for name in _key_names(options)}
    return tuple(sorted(value for value in values if len(value) >= _SHORTEST_KEY))


def environment_for_others(options: SessionOptions) -> dict[str, str]:
    """The environment of commands, hooks and tool servers: without our keys, unless `tools.keep_keys` says so."""
    keys = set() if options.settings.tools.keep_keys else _key_names(options)
    return {name: value for name, value in options.environment.items() if name not in keys}


def _key_names(options: SessionOptions) -> set[str]:
    settings = options.settings
    keys = {settings.model.anthropic_key_env, settings.model.openai_key_env, settings.team.token_env}
    return keys | {
        "ANTHROPIC_AUTH_TOKEN",
        *(profile.key_env or "" for profile in settings.models),
    }
