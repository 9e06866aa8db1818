"""`Model` over a program of another vendor that the user has installed: `command:claude`, `command:codex/gpt-5`, ….

One run of the program answers one request: in an empty directory of its own, without tools, within a time limit, and
with everything it started ended when nobody waits any longer. Instructions, tools and conversation are one prompt; tool
calls come back as JSON in the reply (`prompts/command_tools.md`), so that forks work with it as with any model.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import shutil
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from functools import cache
from pathlib import Path

from reverie.errors import ContextTooLong, RateLimited, Unauthenticated, Unavailable, UserMistake
from reverie.files.programs import kill_group, start_program
from reverie.files.secret_scan import redact
from reverie.messages.blocks import Block, Text, ToolResult, ToolUse
from reverie.messages.codec import decode_json
from reverie.messages.message import Message, Role, Usage
from reverie.models.command_programs import PROGRAMS, CommandProgram, ProgramAnswer, ProgramCall
from reverie.models.messages_stream import announce
from reverie.models.names import COMMAND
from reverie.models.ports import Event, Finished, Reply, Request
from reverie.models.profiles import profile
from reverie.models.received import whole_text, whole_value
from reverie.models.tokens.estimate import weigh_text
from reverie.models.tokens.rates import rates_for
from reverie.settings.environment import ASKED_BY
from reverie.values import value

_PROMPTS = Path(__file__).parent / "prompts"
_MOST_ARGUMENT_BYTES = 120_000
"""One argument of a program may have 131,072 bytes on Linux."""
_MOST_OUTPUT_BYTES = 10_000_000
_QUOTED_CHARS = 300
_NOT_SIGNED_IN = re.compile(
    r"log ?in|sign ?in|authenticat|api key|unauthori[sz]ed|credential|\b401\b|\b403\b", re.IGNORECASE
)
_LIMITED = re.compile(r"rate limit|usage limit|quota|too many requests|\b429\b|limit reached", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"too long|context (?:length|window)|maximum context|exceeds? the .{0,30}(?:limit|window)", re.IGNORECASE
)


def _token() -> str:
    return secrets.token_hex(12)


@value
class CommandModel:
    """Answers by running a program; one object serves any number of requests at once."""

    name: str
    """As the user writes it: `command:claude` or `command:claude/opus`."""
    program: CommandProgram
    path: str
    """Where the program is installed."""
    model: str = ""
    """Passed on to the program; empty leaves the choice to it."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout_seconds: float = 600.0
    new_id: Callable[[], str] = _token

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Run the program to its end and give its answer; raises the `Unavailable` family."""
        prompt = render_prompt(request)
        answer = await self._ask(prompt)
        text = whole_text(answer.text)
        blocks = tuple(self._parse_blocks(text, request))
        for block in blocks:
            for event in announce(block):
                yield event
        rates = rates_for(profile(self.name))
        is_counted = answer.usage != Usage()
        guess = Usage(round(weigh_text(prompt, rates)), round(weigh_text(text, rates)))
        has_calls = any(isinstance(block, ToolUse) for block in blocks)
        yield Finished(
            Reply(
                Message(Role.ASSISTANT, blocks),
                answer.usage if is_counted else guess,
                "tool_use" if has_calls else "end_turn",
                self.name,
                cost_usd=answer.cost_usd,
                is_estimate=not is_counted,
            )
        )

    async def _ask(self, prompt: str) -> ProgramAnswer:
        with tempfile.TemporaryDirectory(prefix="reverie-model-", ignore_cleanup_errors=True) as scratch:
            directory = Path(scratch)
            call = self.program.build(self.model, prompt, directory)
            if any(len(argument.encode()) > _MOST_ARGUMENT_BYTES for argument in call.arguments):
                raise ContextTooLong(f"too long for one argument of {self.program.name}, which reads no standard input")
            for name, text in call.files.items():
                (directory / name).parent.mkdir(parents=True, exist_ok=True)
                (directory / name).write_text(text, encoding="utf-8")
            code, output, errors = await self._run(call, directory)
        return self._understand(code, output, errors)

    async def _run(self, call: ProgramCall, directory: Path) -> tuple[int, str, str]:
        environment = {**self.environment, **call.environment, ASKED_BY: "command"}
        try:
            process = await start_program(
                self.path,
                *call.arguments,
                cwd=directory,
                env=environment,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except (OSError, ValueError) as problem:
            raise Unavailable(f"{self.path} cannot be run: {problem}") from problem
        try:
            async with asyncio.timeout(self.timeout_seconds):
                output, errors = await process.communicate(call.stdin.encode("utf-8", "replace"))
        except TimeoutError:
            raise Unavailable(
                f"{self.program.name} gave no answer within {self.timeout_seconds:g} s (model.timeout_seconds)"
            ) from None
        finally:
            # With all that it started, also when nobody waits any longer.
            kill_group(process.pid)
            if process.returncode is None:
                with suppress(asyncio.CancelledError):
                    await process.wait()
        return process.returncode or 0, _decode(output), _decode(errors)

    def _understand(self, code: int, output: str, errors: str) -> ProgramAnswer:
        try:
            answer = self.program.read(output)
        except (ValueError, RecursionError):
            if code == 0:
                shown = f": {_quote(output)}" if output.strip() else " (it printed nothing)"
                raise Unavailable(f"the output of {self.program.name} is not an answer{shown}") from None
            answer = ProgramAnswer("", error=errors or output or f"exit code {code}")
        problem = answer.error or (errors or output or f"exit code {code}" if code else "")
        if problem:
            raise _fault(self.program.name, problem)
        if not answer.text.strip():
            raise Unavailable(f"{self.program.name} gave an empty answer")
        return answer

    def _parse_blocks(self, text: str, request: Request) -> Iterator[Block]:
        """The reply as text and tool calls; only tools that were offered are calls."""
        names = {tool.name for tool in request.tools}
        before, calls = _find_calls(text) if names else (text, [])
        calls = [call for call in calls if call.get("name") in names]
        if not calls:
            yield Text(text)
            return
        if before.strip():
            yield Text(before.strip())
        for call in calls:
            arguments = call.get("input")
            yield ToolUse(
                f"call_{self.new_id()}",
                str(call["name"]),
                whole_value(arguments) if isinstance(arguments, dict) else {},
            )


def find_program(name: str, environment: Mapping[str, str]) -> str | None:
    """Where the program behind `command:NAME` is installed."""
    return shutil.which(name, path=environment.get("PATH"))


def list_installed(environment: Mapping[str, str]) -> list[str]:
    """The programs of `PROGRAMS` that are installed; they are offered, never used unasked."""
    return [name for name in PROGRAMS if find_program(name, environment)]


def command_model(name: str, environment: Mapping[str, str], timeout_seconds: float) -> CommandModel:
    """The model for `command:NAME` or `command:NAME/MODEL`.

    Raises: `UserMistake` for a program that is not known or not installed.
    """
    program_name, _, model = name.removeprefix(COMMAND).partition("/")
    program = PROGRAMS.get(program_name)
    if program is None:
        raise UserMistake(
            f"unknown program in model {name!r}: use {', '.join(f'{COMMAND}{each}' for each in PROGRAMS)}"
        )
    path = find_program(program_name, environment)
    if path is None:
        raise UserMistake(
            f"model {name!r} needs the program {program_name}, which is not in PATH; install it and sign in"
        )
    return CommandModel(name, program, path, model, environment, timeout_seconds)


def render_prompt(request: Request) -> str:
    """A request as one text."""
    tools = "\n\n".join(
        f"{tool.name}: {tool.description}\n{json.dumps(tool.input_schema, ensure_ascii=False)}"
        for tool in request.tools
    )
    form = ""
    if request.output_schema is not None:
        schema = json.dumps(request.output_schema, ensure_ascii=False)
        form = f" It is one JSON object that fits this schema, without a code fence: {schema}"
    values = {
        "system": "\n\n".join(block.text for block in request.system) or "Answer the user.",
        "tools": _fill("command_tools", {"tools": tools}) if tools else "",
        "conversation": "\n\n".join(map(_render_message, request.messages)),
        "form": form,
    }
    return _fill("command", values)


def _render_message(message: Message) -> str:
    parts: list[str] = []
    for block in message.content:
        match block:
            case Text(text):
                parts.append(text)
            case ToolUse(id, name, arguments):
                call = {"tool_calls": [{"id": id, "name": name, "input": arguments}]}
                parts.append(json.dumps(call, ensure_ascii=False, default=str))
            case ToolResult(call_id, content):
                text = (
                    content
                    if isinstance(content, str)
                    else "\n".join(each.text for each in content if isinstance(each, Text))
                )
                parts.append(f"Result of {call_id}:\n{text}")
            case _:
                pass
    return f"[{message.role.value}]\n" + "\n".join(parts)


def _find_calls(text: str) -> tuple[str, list[dict[str, object]]]:
    """What a reply says before its tool calls, and the calls; in a code fence or bare."""
    start = text.find('{"tool_calls"')
    start = start if start >= 0 else text.find('"tool_calls"')
    start = text.rfind("{", 0, start + 1) if start >= 0 else -1
    if start < 0:
        return text, []
    try:
        document, _ = json.JSONDecoder().raw_decode(text[start:])
        document = decode_json(json.dumps(document))
    except (ValueError, RecursionError):
        return text, []
    calls = document.get("tool_calls") if isinstance(document, dict) else None
    before = re.sub(r"```\w*\s*\Z", "", text[:start])
    return before, [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def _fault(program: str, problem: str) -> Unavailable:
    quoted = _quote(problem)
    if _TOO_LONG.search(problem):
        return ContextTooLong(f"too long for {program}: {quoted}")
    if _LIMITED.search(problem):
        return RateLimited(f"{program} has reached a limit: {quoted}")
    if _NOT_SIGNED_IN.search(problem):
        return Unauthenticated(f"{program} is not signed in ({quoted}); run `{program}` once and sign in")
    return Unavailable(f"{program} failed: {quoted}")


def _quote(text: str) -> str:
    line = " ".join(redact(text).split())
    return line if len(line) <= _QUOTED_CHARS else line[:_QUOTED_CHARS] + "…"


def _decode(output: bytes) -> str:
    return output[:_MOST_OUTPUT_BYTES].decode("utf-8", "replace")


def _fill(name: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda match: values[match[1]], _read_prompt(name))


@cache
def _read_prompt(name: str) -> str:
    text = (_PROMPTS / f"{name}.md").read_text(encoding="utf-8")
    return re.sub(r"\A<!--.*?-->\n", "", text, flags=re.DOTALL).rstrip("\n") + "\n"
