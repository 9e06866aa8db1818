"""Reads hook declarations from settings: each handler becomes a value, each mistake a message with its place.

A mistake costs the handler it is in and nothing else: a settings file that another program wrote must not keep a
session from starting.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path

from reverie.extensions.hooks.events import EVENTS
from reverie.extensions.plugins.plugin import Plugin
from reverie.messages.blocks import Json, JsonObject
from reverie.settings import Declaration
from reverie.values import value

SOURCES = ("user", "project", "local", "environment", "flag", "managed", "plugin", "skill", "agent", "session")
"""Who may declare hooks, in the order in which their results are merged."""


class HookKind(StrEnum):
    """What a hook does."""

    COMMAND = "command"
    HTTP = "http"
    MCP_TOOL = "mcp_tool"
    PROMPT = "prompt"
    AGENT = "agent"


_REQUIRED_FIELDS: Mapping[HookKind, str] = {
    HookKind.COMMAND: "command",
    HookKind.HTTP: "url",
    HookKind.MCP_TOOL: "tool",
    HookKind.PROMPT: "prompt",
    HookKind.AGENT: "prompt",
}


@value
class Handler:
    """What a hook runs; equal handlers run once per event."""

    kind: HookKind
    command: str = ""
    args: tuple[str, ...] | None = None
    """Arguments of a command that runs without a shell; None runs it in a shell."""
    shell: str = ""
    """`bash` or `powershell`; the system's own when empty."""
    url: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    variables: tuple[str, ...] = ()
    """Environment variables that the headers may name."""
    prompt: str = ""
    model: str = ""
    server: str = ""
    tool: str = ""
    given: str = "{}"
    """The input of the MCP tool, as JSON."""
    condition: str = ""
    """A permission rule; the hook runs for tool calls that it covers."""
    root: Path | None = None
    """The folder of the plugin or skill that declares it."""
    data: Path | None = None
    """Where that plugin keeps its own files."""
    in_background: bool = False
    rewakes: bool = False
    """In the background, and exit code 2 wakes the agent."""

    def __str__(self) -> str:
        words = {
            HookKind.COMMAND: " ".join([self.command, *(self.args or ())]),
            HookKind.HTTP: self.url,
            HookKind.MCP_TOOL: f"{self.server}/{self.tool}",
        }.get(self.kind, self.prompt)
        line = " ".join(words.split())
        return line if len(line) <= 60 else f"{line[:59]}…"


@value
class Hook:
    """A handler with its event, its matcher and where it was declared."""

    event: str
    handler: Handler
    source: str
    place: str
    matcher: str = ""
    timeout_seconds: float | None = None
    status: str = ""
    """What the user reads while it runs."""
    once: bool = False


@value
class Declared:
    """The hooks of one source."""

    declaration: Declaration
    hooks: tuple[Hook, ...]
    problems: tuple[str, ...] = ()


def parse_declaration(
    declaration: Declaration, *, root: Path | None = None, data: Path | None = None, of_agent: bool = False
) -> Declared:
    """Read one declaration: the `hooks` block of a settings file, of a plugin, of a skill or of an agent.

    `root` and `data` are the folders of the plugin. An agent's `Stop` is the end of that agent.
    """
    problems: list[str] = []
    hooks = tuple(_parse_hooks(declaration, _Owner(root, data, of_agent), problems))
    return Declared(declaration, hooks, tuple(f"{declaration.place}: {problem}" for problem in problems))


def parse_hooks(declarations: Iterable[Declaration], plugins: Iterable[Plugin] = ()) -> tuple[Declared, ...]:
    """The hooks of all settings files and of all plugins."""
    own = (parse_declaration(declaration) for declaration in declarations)
    of_plugins = (
        parse_declaration(declaration, root=plugin.root, data=plugin.data)
        for plugin in plugins
        for declaration in plugin.hooks
    )
    return (*own, *of_plugins)


@value
class _Owner:
    """The plugin or agent that declares hooks."""

    root: Path | None
    data: Path | None
    of_agent: bool


def _parse_hooks(declaration: Declaration, owner: _Owner, problems: list[str]) -> Iterator[Hook]:
    for event, groups in _parse_events(declaration.text, problems).items():
        if event not in EVENTS:
            problems.append(f"hooks: unknown event {event!r} is ignored")
            continue
        if not isinstance(groups, list):
            problems.append(f"hooks.{event}: expected a list of matchers with their hooks")
            continue
        for number, group in enumerate(groups):
            where = f"hooks.{event}[{number}]"
            matcher = group.get("matcher") or "" if isinstance(group, dict) else ""
            entries = group.get("hooks") if isinstance(group, dict) else None
            if not isinstance(entries, list) or not isinstance(matcher, str):
                problems.append(f'{where}: expected `{{"matcher": "…", "hooks": [...]}}`')
                continue
            if (error := _find_regex_error(matcher)) is not None:
                problems.append(f"{where}: the matcher {matcher!r} is not a valid regular expression: {error}")
                continue
            for entry in entries:
                try:
                    yield _parse_hook(event, matcher, entry, declaration, owner)
                except _Mistake as mistake:
                    problems.append(f"{where}: {mistake}")


def _parse_events(text: str, problems: list[str]) -> JsonObject:
    try:
        block: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        problems.append(f"hooks: not valid JSON: {error}")
        return {}
    if isinstance(block, dict) and isinstance(block.get("hooks"), dict):
        block = block["hooks"]
    if not isinstance(block, dict):
        problems.append("hooks: expected a table of events")
        return {}
    return block


def _find_regex_error(matcher: str) -> str | None:
    try:
        re.compile(matcher if matcher != "*" else "")
    except (re.error, RecursionError, OverflowError) as error:
        return str(error)
    return None


class _Mistake(ValueError):
    """What is wrong with an entry."""


def _parse_hook(event: str, matcher: str, entry: Json, declaration: Declaration, owner: _Owner) -> Hook:
    if not isinstance(entry, dict):
        raise _Mistake('a hook must be a table, `{"type": "command", "command": "…"}`')
    timeout = entry.get("timeout")
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0):
        raise _Mistake("`timeout` must be a positive number of seconds")
    return Hook(
        "SubagentStop" if owner.of_agent and event == "Stop" else event,
        _parse_handler(entry, owner),
        declaration.source,
        declaration.place,
        matcher,
        None if timeout is None else float(timeout),
        _text(entry, "statusMessage"),
        once=entry.get("once") is True,
    )


def _parse_handler(entry: JsonObject, owner: _Owner) -> Handler:
    named = entry.get("type", "command" if "command" in entry else None)
    if named not in tuple(HookKind):
        raise _Mistake(f"`type` is {named!r}; expected one of {', '.join(HookKind)}")
    kind = HookKind(str(named))
    if not _text(entry, _REQUIRED_FIELDS[kind]).strip():
        raise _Mistake(f"a hook of type {kind} requires `{_REQUIRED_FIELDS[kind]}`")
    tool_input = entry.get("input") or {}
    if not isinstance(tool_input, dict):
        raise _Mistake("`input` must be a table")
    rewakes = entry.get("asyncRewake") is True
    return Handler(
        kind,
        command=_text(entry, "command"),
        args=_texts(entry, "args") if "args" in entry else None,
        shell=_text(entry, "shell"),
        url=_text(entry, "url"),
        headers=_pairs(entry, "headers"),
        variables=_texts(entry, "allowedEnvVars"),
        prompt=_text(entry, "prompt"),
        model=_text(entry, "model"),
        server=_text(entry, "server"),
        tool=_text(entry, "tool"),
        given=json.dumps(tool_input, sort_keys=True),
        condition=_text(entry, "if"),
        root=owner.root,
        data=owner.data,
        in_background=rewakes or entry.get("async") is True,
        rewakes=rewakes,
    )


def _text(entry: JsonObject, key: str) -> str:
    value = entry.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _Mistake(f"`{key}` must be a string")
    return value


def _texts(entry: JsonObject, key: str) -> tuple[str, ...]:
    value = entry.get(key) or []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _Mistake(f"`{key}` must be a list of strings")
    return tuple(str(item) for item in value)


def _pairs(entry: JsonObject, key: str) -> tuple[tuple[str, str], ...]:
    value = entry.get(key) or {}
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise _Mistake(f"`{key}` must be a table of strings")
    return tuple((name, str(item)) for name, item in value.items())
