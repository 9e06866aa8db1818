"""Settings of a session: models, agents, tools, hooks, permissions, instruction files, and how people see it.

`hooks`, `agents` and `models` in the plural are what the user defines; `hook`, `agent` and `model` hold our numbers.
"""

from typing import Annotated, Literal

from reverie.settings.area import area
from reverie.settings.bounds import (
    AfterTrust,
    Amount,
    Count,
    Managed,
    Personal,
    Positive,
    Range,
    Replaced,
    Variable,
)


@area
class Declaration:
    """A block that a later reader understands, as it stood in one source: the hooks or the agents of one file."""

    source: str
    """The name of the source: `user`, `project`, `local`, `flag`, `managed`; later `plugin` and `session`."""
    place: str
    """The file and line, or the flag."""
    committed: bool
    """It came with the project; it is here because the user trusts the project."""
    text: str
    """The block as JSON, keys in the order of the file."""


@area
class ModelProfile:
    """A model of your own: `[models.NAME]`, then `model.default = "NAME"`."""

    name: str
    """The name after `models.`."""
    provider: Literal["anthropic", "openai", "offline"] = "openai"
    """Which protocol it speaks; `openai` covers every compatible server."""
    model: str | None = None
    """The provider's name for it; the profile's own name when left out."""
    base_url: str | None = None
    """Where the server answers; the provider's public address when left out."""
    key_env: Variable | None = None
    """Environment variable that holds the key; left out for a server without one."""
    window_tokens: Positive | None = None
    """Its window."""
    max_output_tokens: Positive | None = None
    """Its longest reply."""
    cache_minimum_tokens: Positive | None = None
    """Its shortest prefix that is cached."""
    tokenizer: Literal["old", "new", "other"] | None = None
    """Which vocabulary counts: the vendor's old or new one, or another."""
    abilities: (
        tuple[
            Literal[
                "prompt_caching",
                "context_edits",
                "cache_edits",
                "server_compaction",
                "thinking",
                "adaptive_thinking",
                "effort",
                "system_messages",
                "images",
                "overflow_stops",
            ],
            ...,
        ]
        | None
    ) = None
    """What its server can do beyond text and tools."""
    input_usd_per_million: Amount | None = None
    """Price of a million input tokens."""
    output_usd_per_million: Amount | None = None
    """Price of a million output tokens."""
    cache_read_usd_per_million: Amount | None = None
    """Price of a million tokens read from the cache."""
    cache_write_5m_usd_per_million: Amount | None = None
    """Price of a million tokens written to the cache for five minutes."""
    cache_write_1h_usd_per_million: Amount | None = None
    """Price of a million tokens written to the cache for an hour."""


@area
class ModelSettings:
    """Which model answers, and how long it is waited for."""

    default: str | None = None
    """Model or profile of the conversation; when left out, what the keys at hand allow, else `offline`."""
    fallback: Replaced[tuple[str, ...]] = ()
    """Models tried in this order when the first has no capacity."""
    background: str | None = None
    """Model for selection and progress lines; when left out, the conversation's own."""
    thinking: Literal["auto", "on", "off"] = "auto"
    """Let the model think before it answers; `auto` leaves it to the provider."""
    thinking_tokens: Annotated[int, Range(1_024)] = 8_000
    """How much it may think, for models that do not decide that themselves."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    """How much it puts into its answers, where it takes a word on that; roles and skills may name their own."""
    max_output_tokens: Positive = 16_384
    """Longest reply asked for."""
    timeout_seconds: Amount = 600.0
    """How long a request may take."""
    max_retries: Count = 4
    """Further tries after a failure that may pass."""
    anthropic_base_url: Personal[str | None] = None
    """Address of the Messages API instead of the public one."""
    anthropic_key_env: Personal[Variable] = "ANTHROPIC_API_KEY"
    """Environment variable that holds its key."""
    openai_base_url: Personal[str | None] = None
    """Address of an OpenAI-compatible API instead of the public one."""
    openai_key_env: Personal[Variable] = "OPENAI_API_KEY"
    """Environment variable that holds its key."""


@area
class AgentSettings:
    """Agents that work for the main one."""

    list_attachment: bool = True
    """Announce agents in an attachment, so that the tool description never changes."""
    summary_interval_seconds: Amount = 30.0
    """Time between two progress lines of an agent."""
    summary_words_min: Positive = 3
    """Fewest words of such a line."""
    summary_words_max: Positive = 5
    """Most words of such a line."""


@area
class ToolsSettings:
    """What the model can do."""

    concurrency: Positive = 10
    """Tools that only read and may run at once."""
    read_cache_files: Positive = 100
    """Files remembered as read."""
    web_fetch: Personal[bool] = False
    """Let the model fetch pages from the web."""
    web_search: Personal[bool] = True
    """Let the model search the web, with the provider's own tool for it, where it has one."""
    deferred_above: Count = 20
    """With more tools of servers than this, only names are sent and the model loads what it needs."""
    server_wait_seconds: Amount = 2.0
    """Longest wait of the first request for tool servers; five times as long where nobody watches."""
    server_connect_seconds: Amount = 30.0
    """How long a tool server may take to answer at all."""
    server_call_seconds: Amount = 600.0
    """How long a call to a tool server may take, when its entry says nothing."""
    keep_keys: Personal[bool] = False
    """Let commands, hooks and tool servers see the keys of the model providers and the team's token too."""
    provider_memory: bool = False
    """Also offer the provider's own memory tool, `memory_20250818`, served from the project's memory."""


@area
class HookSettings:
    """Limits of the user's scripts."""

    enabled: Personal[bool] = True
    """Run hooks."""
    managed_only: Personal[bool] = False
    """Run only the hooks of managed files."""
    timeout_seconds: Personal[Amount] = 600.0
    """How long a command may run, when its entry says nothing."""
    prompt_timeout_seconds: Personal[Amount] = 30.0
    """The same for a hook that asks a model."""
    agent_timeout_seconds: Personal[Amount] = 60.0
    """The same for a hook that runs an agent."""
    user_prompt_timeout_seconds: Personal[Amount] = 30.0
    """The same for `UserPromptSubmit`, while the user waits."""
    session_end_timeout_seconds: Personal[Amount] = 1.5
    """All hooks of `SessionEnd` together."""
    output_chars: Positive = 10_000
    """Longest text of a hook in the context; the rest goes to a file."""
    max_continues: Personal[Count] = 8
    """Times in a row that `Stop` hooks may keep the agent working."""
    allowed_http_urls: Personal[tuple[str, ...]] = ()
    """Addresses that `http` hooks may call; empty allows all."""
    http_env_vars: Personal[tuple[str, ...]] = ()
    """Environment variables that their headers may name."""


@area
class PermissionsSettings:
    """What tools may do without asking."""

    mode: Personal[Literal["default", "plan", "acceptEdits", "auto", "dontAsk", "bypassPermissions"]] = "default"
    """How questions are settled."""
    allow: AfterTrust[tuple[str, ...]] = ()
    """Calls that need no question."""
    ask: tuple[str, ...] = ()
    """Calls that always need one."""
    deny: tuple[str, ...] = ()
    """Calls that are refused; goes before the other two."""
    additional_directories: AfterTrust[tuple[str, ...]] = ()
    """Directories beside the project that tools may enter."""


@area
class InstructionsSettings:
    """`CLAUDE.md`, `AGENTS.md` and their relatives."""

    enabled: Personal[bool] = True
    """Load instruction files."""
    agents_md: Personal[bool] = True
    """Load `AGENTS.md` with the same rank."""
    file_chars: Positive = 40_000
    """Length above which a file is loaded with a warning."""
    file_bytes: Personal[Positive] = 4 * 1024 * 1024
    """Size above which a file is skipped."""
    include_depth: Personal[Count] = 4
    """Includes within includes."""
    excludes: tuple[str, ...] = ()
    """Files to leave out, as patterns of paths; a project's reach only into it."""
    from_additional_directories: bool = False
    """Also load those of `permissions.additional_directories`."""
    managed_text: Managed[str | None] = None
    """Instructions of an administrator, before all files."""


@area
class UiSettings:
    """What a person sees in the terminal."""

    color: Literal["auto", "always", "never"] = "auto"
    """Colours in the output."""
    meter: bool = True
    """Show window and cost while working."""


@area
class StatusLineSettings:
    """A line of the user's own below the conversation."""

    command: Personal[str | None] = None
    """A shell command that is told of the session as JSON and prints the line."""
