"""`reverie -p TEXT`: one turn of the agent, printed, and recorded as a session.

Formats: `text` prints the last answer, `json` one object at the end, `stream-json` one object per line as it comes.
What was asked is on disk before the request leaves; a failure is recorded too. Nobody is asked for permission: what the
rules do not allow is refused, and the model is told so.

Slash commands such as `/compact` are done without a model; unknown ones are refused.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from reverie.amounts import short_count
from reverie.apps.cli.exits import DONE, FAILED, INTERRUPTED, say
from reverie.apps.compact_argument import parse_compact_argument
from reverie.apps.plain import escape_json, strip_control_characters
from reverie.errors import UserMistake
from reverie.messages.blocks import Block
from reverie.messages.codec import block_to_wire, message_to_wire, usage_to_wire
from reverie.messages.message import Usage
from reverie.models.ports import Ending, Retrying, TextDelta
from reverie.session.events import (
    CacheBroken,
    Denied,
    Notice,
    Remembered,
    Replied,
    ToolEnded,
    TurnEnded,
    TurnEvent,
    ViewReduced,
)
from reverie.session.session import Session

_SUBTYPES = {
    Ending.COMPLETED: "success",
    Ending.HOOK: "success",
    Ending.MAX_ROUNDS: "error_max_turns",
    Ending.BUDGET: "error_max_budget",
}


_SUMMARY_CHARS = 200
"""How much of a refused call is named on standard error; JSON has it whole."""


def prompt_text(prompt: str) -> str:
    """The prompt of a command line; `-` takes it from standard input."""
    text = sys.stdin.read() if prompt == "-" else prompt
    if not text.strip():
        raise UserMistake("the prompt is empty; use -p TEXT, or `-p -` with text on standard input")
    return text


def print_turn(session: Session, text: str, output_format: str) -> int:
    """Answer one prompt; returns the exit code."""
    return asyncio.run(_run(session, text, _printer(output_format, session)))


async def _run(session: Session, text: str, printer: Printer) -> int:
    code = FAILED
    try:
        async with session:
            # What is said before the turn begins reaches nobody else.
            session.listen(printer.event)
            command = slash_command(session, text)
            await session.begin()
            printer.begin()
            if command is not None:
                return await _run_command(session, command, printer)
            async for event in session.send(text, source="sdk"):
                printer.event(event)
                if isinstance(event, TurnEnded):
                    code = _code(event.ending)
    finally:
        # What the turn taught is known once the session is closed.
        printer.finish()
    return code


async def _run_command(session: Session, command: tuple[str, str], printer: Printer) -> int:
    """A command of the terminal instead of a turn, printed as a turn is."""
    spent, started = session.status.cost_usd or 0.0, time.monotonic()
    text = await run_command(session, *command)
    status = session.status
    cost = None if status.cost_usd is None else status.cost_usd - spent
    printer.event(TurnEnded(Ending.COMPLETED, text, 0, Usage(), cost, time.monotonic() - started, status))
    return DONE


def _code(ending: Ending) -> int:
    match ending:
        case Ending.COMPLETED | Ending.HOOK:
            return DONE
        case Ending.CANCELLED:
            return INTERRUPTED
        case _:
            return FAILED


class Printer:
    """Prints nothing but what every format needs: warnings and retries, for people, on standard error."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.denials: list[Denied] = []
        self.breaks: list[CacheBroken] = []
        self.remembered: list[str] = []

    def begin(self) -> None:
        """A session opens."""

    def event(self, event: TurnEvent) -> None:
        match event:
            case Retrying():
                wait = f"{event.wait_seconds:.1f} s"
                say(f"{event.reason}; retrying in {wait} (attempt {event.attempt})")
            case Notice(text, level) if level != "info":
                say(text)
            case Remembered():
                self.remembered += event.names
                say(event.text)
            case CacheBroken():
                self.breaks.append(event)
            case Denied():
                self.denials.append(event)
                say(_refusal(event))
            case TurnEnded():
                if _code(event.ending) != DONE:
                    say(event.text)
                self.end(event)
            case _:
                pass

    def end(self, ended: TurnEnded) -> None:
        """The turn is over."""

    def finish(self) -> None:
        """The session is closed, and all background work with it."""


class TextPrinter(Printer):
    """The last answer, as far as it is text; the other formats have it to the letter."""

    def end(self, ended: TurnEnded) -> None:
        if _code(ended.ending) == DONE:
            text = strip_control_characters(ended.text)
            sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


class JsonPrinter(Printer):
    """One object at the end."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._stop_reason: str | None = None
        self._result: dict[str, Any] | None = None

    def event(self, event: TurnEvent) -> None:
        if isinstance(event, Replied):
            self._stop_reason = event.stop_reason
        super().event(event)

    def end(self, ended: TurnEnded) -> None:
        subtype = _SUBTYPES.get(ended.ending, "error")
        self._result = {
            "type": "result",
            "subtype": subtype,
            "is_error": subtype != "success",
            "result": ended.text,
            "session_id": self.session.id,
            "model": ended.status.model,
            "stop_reason": self._stop_reason,
            "ending": ended.ending.value,
            "num_turns": ended.rounds,
            "duration_ms": round(ended.seconds * 1000),
            "total_cost_usd": ended.cost_usd,
            "usage": usage_to_wire(ended.usage),
            "cache_breaks": [_describe_cache_break(broken) for broken in self.breaks],
            "permission_denials": [
                {
                    "tool_name": denied.name,
                    "tool_use_id": denied.call_id,
                    "tool_input": dict(denied.given),
                    "reason": denied.reason,
                }
                for denied in self.denials
            ],
        }

    def finish(self) -> None:
        result, self._result = self._result, None
        if result is not None:
            self.write(result | {"remembered": self.remembered})

    def write(self, document: dict[str, Any]) -> None:
        """Print one line."""
        sys.stdout.write(escape_json(json.dumps(document, ensure_ascii=False)) + "\n")
        sys.stdout.flush()


class StreamPrinter(JsonPrinter):
    """One object per line as things happen; what the turn taught may come after its result."""

    def end(self, ended: TurnEnded) -> None:
        super().end(ended)
        self.finish()

    def begin(self) -> None:
        session = self.session
        self.write(
            {
                "type": "system",
                "subtype": "init",
                "session_id": session.id,
                "model": session.status.model,
                "cwd": str(session.parts.desk.directory),
                "permissionMode": session.status.mode,
                "tools": [spec.name for spec in session.parts.tools.specs],
            }
        )

    def event(self, event: TurnEvent) -> None:
        match event:
            case TextDelta(text):
                self.write({"type": "stream_event", "event": {"type": "text_delta", "text": text}})
            case Replied():
                message = message_to_wire(event.message) | {
                    "id": event.message_id,
                    "model": event.model,
                    "stop_reason": event.stop_reason,
                    "usage": usage_to_wire(event.usage),
                }
                self.write({"type": "assistant", "session_id": self.session.id, "message": message})
            case ToolEnded():
                result = {
                    "type": "tool_result",
                    "tool_use_id": event.call_id,
                    "content": event.content if isinstance(event.content, str) else _wire(event.content),
                    "is_error": event.is_error,
                }
                message = {"role": "user", "content": [result]}
                self.write({"type": "user", "session_id": self.session.id, "message": message})
            case CacheBroken():
                self.write(
                    {"type": "system", "subtype": "cache_broken", "session_id": self.session.id}
                    | _describe_cache_break(event)
                )
            case Remembered():
                record = {"type": "system", "subtype": "remembered", "session_id": self.session.id}
                self.write(record | {"names": list(event.names)})
            case ViewReduced():
                kinds = [reduction.kind for reduction in event.reductions]
                self.write({"type": "system", "subtype": "reduced", "kinds": kinds, "session_id": self.session.id})
            case _:
                pass
        super().event(event)


def _describe_cache_break(event: CacheBroken) -> dict[str, Any]:
    """What the provider's cache lost, why, and what that cost."""
    parted = event.parted
    return {
        "cause": parted.cause.value,
        "where": parted.where,
        "lost_tokens": parted.lost_tokens,
        "cost_usd": event.cost_usd,
    }


def _refusal(denied: Denied) -> str:
    """One line on a call that was not permitted, and how it would have been."""
    who = f" for {denied.agent}" if denied.agent else ""
    way = f"; allow it with --allowed-tools {quote(denied.suggestions[0])}" if denied.suggestions else ""
    what = " ".join(denied.summary.split())[:_SUMMARY_CHARS]
    return f"permission denied{who}: {denied.name} {what} ({denied.reason}){way}"


def _wire(content: Sequence[Block]) -> list[dict[str, Any]]:
    return [block_to_wire(block) for block in content]


def _printer(output_format: str, session: Session) -> Printer:
    match output_format:
        case "json":
            return JsonPrinter(session)
        case "stream-json":
            return StreamPrinter(session)
        case _:
            return TextPrinter(session)


_COMMAND = re.compile(r"/(?P<name>[A-Za-z][\w-]*)(?:\s+(?P<argument>.*))?", re.DOTALL)
"""Names with a colon are a plugin's, longer paths are paths."""
_PROMPTS_NAMED = 5
_DONE_HERE = ("compact", "uncompact", "snip")
_ELSEWHERE = {
    "agents": "reverie",
    "clear": "reverie -p without --continue",
    "context": "reverie context",
    "cost": "reverie cost",
    "dream": "reverie dream",
    "help": "reverie --help",
    "memory": "reverie list",
    "model": "reverie --model NAME",
    "permissions": "reverie --permission-mode MODE",
    "resume": "reverie --resume ID",
    "status": "reverie context",
    "tasks": "reverie tasks",
    "trust": "reverie trust",
}
"""What does the same on the command line."""


def slash_command(session: Session, text: str) -> tuple[str, str] | None:
    """The command that a prompt is, with its argument; None for words, and for skills, which the session expands.

    Raises `UserMistake` for a command that there is not, or not here.
    """
    match = _COMMAND.fullmatch(text.strip())
    if match is None or match["name"].startswith("mcp__"):
        return None
    name = match["name"]
    commands = [command for command, _, _ in session.commands]
    if name in commands or Path(f"/{name}").exists():
        return None
    if name in _DONE_HERE:
        return name, (match["argument"] or "").strip()
    if name in _ELSEWHERE:
        raise UserMistake(f"/{name} is only available in the interactive terminal; use `{_ELSEWHERE[name]}`")
    from difflib import get_close_matches

    near = get_close_matches(name, [*commands, *_DONE_HERE], n=1)
    hint = (
        f"did you mean /{near[0]}?"
        if near
        else "type /help in the terminal for a list; to send the text as a prompt, put a word before it"
    )
    raise UserMistake(f"unknown command or skill /{name}; {hint}")


async def run_command(session: Session, name: str, argument: str) -> str:
    """Do it; returns what came of it."""
    if name == "snip":
        freed = session.snip()
        return f"removed {short_count(freed)} tokens" if freed else "nothing to remove"
    if name == "uncompact":
        session.uncompact()
        return "last compaction undone"
    before = session.status.used_tokens
    compact_argument = parse_compact_argument(argument)
    if compact_argument.side and not compact_argument.message:
        named = ", ".join(f"{uuid} “{' '.join(text.split())[:60]}”" for uuid, text in session.prompts[-_PROMPTS_NAMED:])
        raise UserMistake(
            f"/compact {compact_argument.side} requires a message id; your most recent messages: {named or 'none'}"
        )
    if await session.compact(compact_argument.instructions, **compact_argument.part) is None:
        return "nothing to compact"
    return f"compacted from {short_count(before)} to {short_count(session.status.used_tokens)} tokens"
