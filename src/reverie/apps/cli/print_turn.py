"""`reverie -p TEXT`: one turn without tools, printed, and recorded as a session.

Formats: `text` prints the answer as it comes, `json` one object at the end, `stream-json` one object per line as things
happen. What was asked is on disk before the request leaves; a failure is recorded too.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reverie import __version__
from reverie.apps import wiring
from reverie.apps.cli.options import Common
from reverie.apps.config import Configuration
from reverie.errors import Unavailable, UserMistake
from reverie.messages.codec import message_to_wire, usage_to_wire
from reverie.messages.entries import AssistantEntry, Entry, Envelope, PromptEntry, SystemBlock, UserEntry
from reverie.messages.fork import iso
from reverie.messages.message import assistant, user
from reverie.messages.records import SYNTHETIC_MODEL
from reverie.messages.transcript import Transcript
from reverie.messages.view import project
from reverie.models.answer import answer
from reverie.ports import BlockDone, Clock, Event, Finished, Model, Reply, Request, Retrying, TextDelta
from reverie.tokens.profiles import cost, profile

NO_MODEL = 1
"""Exit code when nobody could answer: a script must not take the explanation for an answer."""


def print_turn(common: Common, *, prompt: str, output_format: str, system: str | None, max_tokens: int | None) -> int:
    """Answer one prompt; returns the exit code."""
    text = sys.stdin.read() if prompt == "-" else prompt
    if not text.strip():
        raise UserMistake("the prompt is empty: give -p some text, or `-` and text on standard input")
    configuration = common.configuration()
    choice = wiring.model_choice(configuration, common.model)
    if choice.name == wiring.OFFLINE and not choice.is_chosen:
        from reverie.models.offline import REFUSAL

        sys.stderr.write(REFUSAL + "\n")
        return NO_MODEL
    turn = Turn(configuration, common.directory(), wiring.model(configuration, choice.name), wiring.SystemClock())
    return asyncio.run(turn.run(text, _printer(output_format), system, max_tokens))


class Turn:
    """One question and its answer, in a session of its own."""

    def __init__(self, configuration: Configuration, directory: Path, model: Model, clock: Clock) -> None:
        self._configuration = configuration
        self._model = model
        self._clock = clock
        self._session = wiring.new_id()
        self._directory = directory
        self._leaf: str | None = None

    async def run(self, text: str, printer: Printer, system: str | None, max_tokens: int | None) -> int:
        """Ask, print, record."""
        path = wiring.transcript_path(self._configuration, self._directory, self._session)
        started = time.monotonic()
        with Transcript.open(path, now=self._clock.now(), label="reverie -p") as transcript:
            if system:
                transcript.append(PromptEntry(self._envelope(), (SystemBlock(system),), ()), durable=False)
            transcript.append(UserEntry(self._envelope(), user(text), source="typed"))
            view = project(transcript.entries)
            request = Request(
                model=self._model.name,
                messages=view.messages,
                system=view.system,
                max_tokens=max_tokens or self._configuration.settings.model.max_output_tokens,
            )
            printer.begin(Beginning(self._session, self._model.name, self._directory))
            try:
                reply = await answer(self._model, request, printer.event)
            except Unavailable as failure:
                transcript.append(self._failure(failure))
                printer.fail(self._session, failure, time.monotonic() - started)
                return NO_MODEL
            transcript.append(self._recorded(reply))
        facts = profile(self._model.name, wiring.profile_overrides(self._configuration.settings))
        printer.end(Ending(self._session, reply, cost(reply.usage, facts), time.monotonic() - started))
        return 0

    def _recorded(self, reply: Reply) -> Entry:
        return AssistantEntry(
            self._envelope(),
            reply.message,
            reply.message_id or wiring.new_id(),
            reply.request_id,
            reply.model,
            reply.stop_reason,
            reply.usage,
        )

    def _failure(self, failure: Unavailable) -> Entry:
        message = assistant(f"API Error: {failure}")
        return AssistantEntry(self._envelope(), message, model=SYNTHETIC_MODEL, is_error=True)

    def _envelope(self) -> Envelope:
        parent, self._leaf = self._leaf, wiring.new_id()
        return Envelope(
            self._leaf,
            parent,
            self._session,
            iso(self._clock.now()),
            cwd=str(self._directory),
            version=__version__,
        )


@dataclass(frozen=True, slots=True)
class Beginning:
    """A session opens."""

    session: str
    model: str
    directory: Path


@dataclass(frozen=True, slots=True)
class Ending:
    """The turn is over."""

    session: str
    reply: Reply
    cost_usd: float | None
    seconds: float

    def as_wire(self) -> dict[str, Any]:
        """The closing object of both JSON formats."""
        return {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "result": self.reply.text,
            "session_id": self.session,
            "model": self.reply.model,
            "stop_reason": self.reply.stop_reason,
            "num_turns": 1,
            "duration_ms": round(self.seconds * 1000),
            "total_cost_usd": self.cost_usd,
            "usage": usage_to_wire(self.reply.usage),
        }


class Printer:
    """Prints nothing but what every format needs: retries, for people, on standard error."""

    def begin(self, beginning: Beginning) -> None:
        """A session opens."""

    def event(self, event: Event) -> None:
        if isinstance(event, Retrying):
            wait = f"{event.wait_seconds:.1f} s"
            sys.stderr.write(f"reverie: {event.reason}; trying again in {wait} (attempt {event.attempt})\n")

    def end(self, ending: Ending) -> None:
        """The turn is over."""

    def fail(self, session: str, failure: Unavailable, seconds: float) -> None:  # noqa: ARG002 - formats print it
        sys.stderr.write(f"reverie: {failure}\n")


class TextPrinter(Printer):
    """The answer as it comes. After a broken stream the rest is printed at the end, so that nothing stands twice."""

    def __init__(self) -> None:
        self._printed = ""
        self._is_broken = False

    def event(self, event: Event) -> None:
        super().event(event)
        if isinstance(event, Retrying):
            self._is_broken = bool(self._printed)
        elif isinstance(event, TextDelta) and not self._is_broken:
            self._printed += event.text
            sys.stdout.write(event.text)
            sys.stdout.flush()

    def end(self, ending: Ending) -> None:
        text = ending.reply.text
        if self._is_broken:
            sys.stdout.write(text.removeprefix(self._printed) if text.startswith(self._printed) else f"\n{text}")
        if not text.endswith("\n"):
            sys.stdout.write("\n")


class JsonPrinter(Printer):
    """One object at the end."""

    def end(self, ending: Ending) -> None:
        self._write(ending.as_wire())

    def fail(self, session: str, failure: Unavailable, seconds: float) -> None:
        super().fail(session, failure, seconds)
        self._write(
            {
                "type": "result",
                "subtype": "error",
                "is_error": True,
                "result": str(failure),
                "session_id": session,
                "duration_ms": round(seconds * 1000),
            }
        )

    def _write(self, document: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps(document, ensure_ascii=False) + "\n")
        sys.stdout.flush()


class StreamPrinter(JsonPrinter):
    """One object per line as things happen."""

    def begin(self, beginning: Beginning) -> None:
        opening = {"type": "system", "subtype": "init", "session_id": beginning.session, "model": beginning.model}
        self._write({**opening, "cwd": str(beginning.directory), "tools": []})

    def event(self, event: Event) -> None:
        super().event(event)
        match event:
            case TextDelta(text):
                self._write({"type": "stream_event", "event": {"type": "text_delta", "text": text}})
            case BlockDone():
                pass
            case Finished(reply):
                message = message_to_wire(reply.message) | {"id": reply.message_id, "model": reply.model}
                self._write({"type": "assistant", "message": message})
            case _:
                pass


def _printer(output_format: str) -> Printer:
    match output_format:
        case "json":
            return JsonPrinter()
        case "stream-json":
            return StreamPrinter()
        case _:
            return TextPrinter()
