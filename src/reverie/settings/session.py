"""Settings of a session: models, agents, tools, hooks, permissions, instruction files, and how people see it.

`hooks`, `agents` and `models` in the plural are what the user defines; `hook`, `agent` and `model` hold our numbers.
"""

from typing import Annotated, Literal

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
    area,
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
    """A custom model: `[models.NAME]`, selected with `model.default = "NAME"`."""

    name: str
    """The name after `models.`."""
    provider: Literal["anthropic", "openai", "offline"] = "openai"
    """Protocol of the server; `openai` covers every compatible server."""
    model: str | None = None
    """Model name at the provider (default: the profile name)."""
    base_url: str | None = None
    """Base URL of the server (default: the provider's public address)."""
    key_env: Variable | None = None
    """Environment variable that holds the API key; unset if the server needs none."""
    window_tokens: Positive | None = None
    """Context window in tokens."""
    max_output_tokens: Positive | None = None
    """Maximum output tokens."""
    cache_minimum_tokens: Positive | None = None
    """Minimum number of tokens of a cacheable prefix."""
    tokenizer: Literal["old", "new", "other"] | None = None
    """Tokenizer used for counting: the vendor's old or new one, or another."""
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
    """Capabilities of the server beyond text and tools."""
    input_usd_per_million: Amount | None = None
    """US dollars per million input tokens."""
    output_usd_per_million: Amount | None = None
    """US dollars per million output tokens."""
    cache_read_usd_per_million: Amount | None = None
    """US dollars per million tokens read from the cache."""
    cache_write_5m_usd_per_million: Amount | None = None
    """US dollars per million tokens written to the cache for five minutes."""
    cache_write_1h_usd_per_million: Amount | None = None
    """US dollars per million tokens written to the cache for one hour."""


@area
class ModelSettings:
    """Which model is used, and its limits."""

    default: str | None = None
    """Model or profile of the conversation (default: chosen by the API keys available, else `offline`)."""
    fallback: Replaced[tuple[str, ...]] = ()
    """Fallback models, tried in this order when the first has no capacity."""
    background: str | None = None
    """Model for memory selection and progress lines (default: the conversation's model)."""
    thinking: Literal["auto", "on", "off"] = "auto"
    """Enable extended thinking; `auto` leaves the choice to the provider."""
    thinking_tokens: Annotated[int, Range(1_024)] = 8_000
    """Thinking budget in tokens, for models that do not choose it themselves."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    """Effort level, for models that support it; roles and skills may override it."""
    max_output_tokens: Positive = 16_384
    """Maximum output tokens per request."""
    timeout_seconds: Amount = 600.0
    """Timeout of a request in seconds."""
    max_retries: Count = 4
    """Maximum retries after a temporary failure."""
    anthropic_base_url: Personal[str | None] = None
    """Base URL of the Messages API (default: the public one)."""
    anthropic_key_env: Personal[Variable] = "ANTHROPIC_API_KEY"
    """Environment variable that holds the API key."""
    openai_base_url: Personal[str | None] = None
    """Base URL of an OpenAI-compatible API (default: the public one)."""
    openai_key_env: Personal[Variable] = "OPENAI_API_KEY"
    """Environment variable that holds the API key."""


@area
class AgentSettings:
    """Subagents of the main agent."""

    list_attachment: bool = True
    """List agents in an attachment, so that the tool description never changes."""
    summary_interval_seconds: Amount = 30.0
    """Seconds between two progress lines of an agent."""
    summary_words_min: Positive = 3
    """Minimum words of a progress line."""
    summary_words_max: Positive = 5
    """Maximum words of a progress line."""


@area
class ToolsSettings:
    """Tools available to the model."""

    concurrency: Positive = 10
    """Maximum number of read-only tools running in parallel."""
    read_cache_files: Positive = 100
    """Maximum number of files remembered as read."""
    web_fetch: Personal[bool] = False
    """Let the model fetch web pages."""
    web_search: Personal[bool] = True
    """Let the model search the web with the provider's search tool, if it has one."""
    deferred_above: Count = 20
    """Number of MCP tools above which only names are sent and the model loads what it needs."""
    server_wait_seconds: Amount = 2.0
    """Maximum seconds the first request waits for MCP servers; five times as long in non-interactive mode."""
    server_connect_seconds: Amount = 30.0
    """Maximum seconds to connect to an MCP server."""
    server_call_seconds: Amount = 600.0
    """Timeout of an MCP call in seconds, unless the server's entry sets one."""
    keep_keys: Personal[bool] = False
    """Pass API keys of model providers and the team token to commands, hooks and MCP servers."""
    provider_memory: bool = False
    """Also offer the provider's memory tool, `memory_20250818`, backed by the project's memory."""


@area
class HookSettings:
    """Hooks: user scripts that run at events."""

    enabled: Personal[bool] = True
    """Run hooks."""
    managed_only: Personal[bool] = False
    """Run only hooks from managed settings files."""
    timeout_seconds: Personal[Amount] = 600.0
    """Timeout of a command hook in seconds, unless its entry sets one."""
    prompt_timeout_seconds: Personal[Amount] = 30.0
    """Timeout in seconds of a hook that calls a model."""
    agent_timeout_seconds: Personal[Amount] = 60.0
    """Timeout in seconds of a hook that runs an agent."""
    user_prompt_timeout_seconds: Personal[Amount] = 30.0
    """Timeout in seconds of `UserPromptSubmit` hooks, while the user waits."""
    session_end_timeout_seconds: Personal[Amount] = 1.5
    """Timeout in seconds of all `SessionEnd` hooks together."""
    output_chars: Positive = 10_000
    """Maximum characters of hook output in the context; the rest is written to a file."""
    max_continues: Personal[Count] = 8
    """Maximum consecutive times that `Stop` hooks may keep the agent working."""
    allowed_http_urls: Personal[tuple[str, ...]] = ()
    """URLs that `http` hooks may call; empty allows all."""
    http_env_vars: Personal[tuple[str, ...]] = ()
    """Environment variables that headers of `http` hooks may use."""


@area
class PermissionsSettings:
    """What tools may do without asking."""

    mode: Personal[Literal["default", "plan", "acceptEdits", "auto", "dontAsk", "bypassPermissions"]] = "default"
    """Permission mode."""
    allow: AfterTrust[tuple[str, ...]] = ()
    """Tool calls allowed without asking."""
    ask: tuple[str, ...] = ()
    """Tool calls that always ask."""
    deny: tuple[str, ...] = ()
    """Tool calls that are refused; overrides `allow` and `ask`."""
    additional_directories: AfterTrust[tuple[str, ...]] = ()
    """Directories outside the project that tools may access."""


@area
class InstructionsSettings:
    """Instruction files such as `CLAUDE.md` and `AGENTS.md`."""

    enabled: Personal[bool] = True
    """Load instruction files."""
    agents_md: Personal[bool] = True
    """Also load `AGENTS.md`, with the same precedence."""
    file_chars: Positive = 40_000
    """Characters above which a file is loaded with a warning."""
    file_bytes: Personal[Positive] = 4 * 1024 * 1024
    """Bytes above which a file is skipped."""
    include_depth: Personal[Count] = 4
    """Maximum depth of nested includes."""
    excludes: tuple[str, ...] = ()
    """Path patterns of files to skip; patterns of a project apply only inside it."""
    from_additional_directories: bool = False
    """Also load instruction files of `permissions.additional_directories`."""
    managed_text: Managed[str | None] = None
    """Instructions by an administrator, placed before all files."""


@area
class UiSettings:
    """Terminal display."""

    color: Literal["auto", "always", "never"] = "auto"
    """Use of colours in the output."""
    meter: bool = True
    """Show context usage and cost while working."""


@area
class StatusLineSettings:
    """Custom status line below the conversation."""

    command: Personal[str | None] = None
    """Shell command that receives the session as JSON on standard input and prints the line."""
