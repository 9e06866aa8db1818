"""Runs one hook: its input, its handler, and the meaning of its answer. Failures are raised.

`fire` turns a failure into a warning and puts the answers of many hooks together.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import TypeAlias

from reverie.errors import Unavailable
from reverie.extensions.hooks import matcher as matching
from reverie.extensions.hooks.command_hook import Ended, Program, run_program
from reverie.extensions.hooks.declarations import Handler, Hook, HookKind
from reverie.extensions.hooks.events import Event
from reverie.extensions.hooks.http_hook import HookRequest, HookResponse, fill_headers, is_allowed, post
from reverie.extensions.hooks.model_hook import judgement, question, read_judgement, without_model
from reverie.extensions.hooks.output import outcome, parse_control_fields
from reverie.extensions.hooks.verdict import NOTHING, HookVerdict
from reverie.files import write_folder
from reverie.messages.blocks import Json, JsonObject
from reverie.models.ports import Flow
from reverie.settings import HookSettings as Limits
from reverie.values import value

_TOOL_INPUT_BYTES = 96 * 1024
"""A variable of more than 128 KiB keeps a program from starting; the input is on stdin anyway."""
_PLACEHOLDER = re.compile(r"\$\{(CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT|CLAUDE_PLUGIN_DATA)\}")
_FIELD = re.compile(r"\$\{([\w.]+)\}")

Run: TypeAlias = Callable[[Program], Awaitable[Ended]]
Post: TypeAlias = Callable[[HookRequest], Awaitable[HookResponse]]
AskModel: TypeAlias = Callable[[Flow[HookVerdict], str], Awaitable[HookVerdict]]
RunAgent: TypeAlias = Callable[[str, str], Awaitable[str]]
CallTool: TypeAlias = Callable[[str, str, JsonObject], Awaitable[str]]
Covers: TypeAlias = Callable[[str, str, JsonObject], bool]


async def _no_agent(_: str, __: str) -> str:
    raise Unavailable("agents are not available here")


async def _no_tool(_: str, __: str, ___: JsonObject) -> str:
    raise Unavailable("no MCP server is connected here")


def _ignore_status(_: str) -> None:
    return


@value
class Effects:
    """The side effects of hooks; the defaults run them, or raise `Unavailable` where the session must provide one."""

    run: Run = run_program
    post: Post = post
    ask: AskModel = without_model
    """Drives a flow with the model of this name; an empty name means the default model."""
    agent: RunAgent = _no_agent
    """Runs an agent with a prompt and a model's name, and returns its last words."""
    call: CallTool = _no_tool
    """Calls a tool of an MCP server and returns its text."""
    covers: Covers = matching.covers
    """Whether a permission rule covers a tool call."""
    status: Callable[[str], None] = _ignore_status
    """Shows the status message of a hook that runs."""


@value
class HookContext:
    """Where hooks run."""

    project: Path
    environment: Mapping[str, str] = field(repr=False)
    env_file: Path | None = None
    """Where hooks leave variables for later commands of the session."""


@value
class FiredEvent:
    """An event that was fired, with what it says."""

    event: Event
    payload: JsonObject
    text: str = "{}"
    """The payload with the common fields, as every hook is given it."""

    @property
    def tool(self) -> str:
        name = self.payload.get("tool_name")
        return name if isinstance(name, str) else ""

    @property
    def tool_input(self) -> JsonObject:
        tool_input = self.payload.get("tool_input")
        return tool_input if isinstance(tool_input, dict) else {}


def label(hook: Hook) -> str:
    """How warnings name a hook."""
    return f"`{hook.handler}` ({hook.place})"


async def run_hook(
    hook: Hook, fired: FiredEvent, context: HookContext, limits: Limits, effects: Effects, timeout_seconds: float
) -> HookVerdict:
    """Run one hook. Raises `TimeoutError`, `OSError` and our own errors."""
    handler = hook.handler
    if hook.status:
        effects.status(hook.status)
    match handler.kind:
        case HookKind.COMMAND:
            for folder in _own_folders(handler, fired, context):
                write_folder(folder)
            ended = await effects.run(_build_program(handler, fired, context))
            return outcome(fired.event, label(hook), code=ended.code, stdout=ended.stdout, stderr=ended.stderr)
        case HookKind.HTTP:
            response = await effects.post(_build_request(handler, fired, context, limits, timeout_seconds))
            return _read_response(fired.event, label(hook), response)
        case HookKind.PROMPT:
            flow = judgement(fired.event, label(hook), handler.prompt, fired.text, timeout_seconds=timeout_seconds)
            return await effects.ask(flow, handler.model)
        case HookKind.AGENT:
            words = await effects.agent(question(fired.event, handler.prompt, fired.text), handler.model)
            return read_judgement(fired.event, label(hook), words)
        case HookKind.MCP_TOOL:
            arguments = _fill_fields(json.loads(handler.given), fired.payload)
            assert isinstance(arguments, dict)
            text = await effects.call(handler.server, handler.tool, arguments)
            return outcome(fired.event, label(hook), code=0, stdout=text)


def _own_folders(handler: Handler, fired: FiredEvent, context: HookContext) -> Iterator[Path]:
    """The folders that must exist before the program runs."""
    if handler.data is not None:
        yield handler.data
    if fired.event.has_env_file and context.env_file is not None:
        yield context.env_file.parent


def _build_program(handler: Handler, fired: FiredEvent, context: HookContext) -> Program:
    own = _own_variables(handler, context)
    variables = {**_inherit_environment(context.environment), **own}
    if fired.event.is_about_tool:
        tool_input = json.dumps(fired.tool_input, default=str)
        variables["TOOL_NAME"] = fired.tool
        if len(tool_input) <= _TOOL_INPUT_BYTES:
            variables["TOOL_INPUT"] = tool_input
    if fired.event.has_env_file and context.env_file is not None:
        variables["CLAUDE_ENV_FILE"] = str(context.env_file)
    directory = Path(str(fired.payload.get("cwd") or context.project))
    return Program(
        _build_command(handler, own),
        directory if directory.is_dir() else context.project,
        variables,
        fired.text.encode("utf-8"),
    )


def _inherit_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment that a program inherits, without OpenTelemetry variables."""
    return {name: value for name, value in environment.items() if not name.startswith("OTEL_")}


def _own_variables(handler: Handler, context: HookContext) -> dict[str, str]:
    variables = {"CLAUDE_PROJECT_DIR": str(context.project)}
    if handler.root is not None:
        variables["CLAUDE_PLUGIN_ROOT"] = str(handler.root)
    if handler.data is not None:
        variables["CLAUDE_PLUGIN_DATA"] = str(handler.data)
    return variables


def _build_command(handler: Handler, variables: Mapping[str, str]) -> tuple[str, ...]:
    if handler.args is not None:
        return tuple(
            _PLACEHOLDER.sub(lambda match: variables.get(match[1], match[0]), word)
            for word in (handler.command, *handler.args)
        )
    # A shell reads the same names from its environment: substituted here, a path could be parsed as a command.
    match handler.shell:
        case "powershell" | "pwsh":
            return "pwsh", "-NoProfile", "-Command", handler.command
        case "":
            return "/bin/sh", "-c", handler.command
        case shell:
            return shell, "-c", handler.command


def _build_request(
    handler: Handler, fired: FiredEvent, context: HookContext, limits: Limits, timeout_seconds: float
) -> HookRequest:
    if not is_allowed(handler.url, limits.allowed_http_urls):
        raise Unavailable("its URL is not in `hook.allowed_http_urls`")
    variables = set(handler.variables)
    if limits.http_env_vars:
        variables &= set(limits.http_env_vars)
    headers = fill_headers(handler.headers, variables, context.environment)
    return HookRequest(handler.url, headers, fired.text.encode("utf-8"), timeout_seconds)


def _read_response(event: Event, name: str, response: HookResponse) -> HookVerdict:
    """The verdict of a JSON response with status 2xx; an empty one decides nothing."""
    if not 200 <= response.status < 300:
        raise Unavailable(f"its URL returned status {response.status}")
    if not response.text.strip():
        return NOTHING
    try:
        return parse_control_fields(event, response.text)
    except ValueError as mistake:
        return HookVerdict(messages=(f"hook {name}: invalid response: {mistake}",))


def _fill_fields(value: Json, payload: JsonObject) -> Json:
    """The input of a tool with `${tool_input.file_path}` and the like looked up in the payload."""
    if isinstance(value, dict):
        return {name: _fill_fields(item, payload) for name, item in value.items()}
    if isinstance(value, list):
        return [_fill_fields(item, payload) for item in value]
    if isinstance(value, str):
        return _FIELD.sub(lambda match: _look_up_field(match[1], payload, match[0]), value)
    return value


def _look_up_field(path: str, payload: JsonObject, otherwise: str) -> str:
    item: object = payload
    for name in path.split("."):
        item = item.get(name) if isinstance(item, Mapping) else None
    if item is None:
        return otherwise
    return item if isinstance(item, str) else json.dumps(item, default=str)
