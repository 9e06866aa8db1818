"""`Window`: for people with their own loop.

Hand over the whole conversation before each model call and send what comes back. The window keeps what was said in a
transcript of its own, reduces what is sent, places the cache marks and says what it did. `prepare` never calls a model;
`compact` does, if one is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reverie.amounts import format_count
from reverie.context.cache_breaks import Break, CacheWatch
from reverie.context.client_messages import AnyMessage, AnySystem, AnyTool, Followed, to_plain
from reverie.context.compact import Direction, OneSide
from reverie.context.compaction import Compactor
from reverie.context.preparer import Preparer, Report
from reverie.context.receipt import Receipt, receipts
from reverie.context.spans import Span, uncompact
from reverie.context.stage import Reduction
from reverie.context.strategy import find_strategy
from reverie.errors import UserMistake
from reverie.messages.codec import usage_from_wire
from reverie.messages.entries import ToolSpec
from reverie.messages.message import Usage
from reverie.models.ports import Model, Request
from reverie.models.profiles import NO_OVERRIDES, ProfileOverride, profile
from reverie.models.tokens.window import budget_by
from reverie.settings import Settings
from reverie.values import value

SMALLEST_WINDOW = 1_000
"""Below this many tokens nothing but the reserve for the answer would be left."""

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_PLACE = re.compile(r"path|file|command|cmd|script")


@value
class PreparedRequest:
    """What to send, and what was done to make it so."""

    body: dict[str, Any]
    """A Messages API body: `client.messages.create(**request.body)`."""
    report: Report
    request: Request
    """The same as a value, for models of this library."""

    def __repr__(self) -> str:
        """What was done; the messages would fill pages."""
        return f"PreparedRequest({format_count(len(self.body['messages']), 'message')}, report={self.report!r})"


class Window:
    """Keeps one conversation inside a model's window.

    `strategy` is `default`, or `none` to send everything. `directory` is where large tool results are moved to; without
    one they stay inline. `window` overrides the size that the model is known to have.
    """

    def __init__(
        self,
        model: str,
        settings: Settings | None = None,
        strategy: str = "default",
        directory: Path | str | None = None,
        *,
        window: int | None = None,
        overrides: Mapping[str, ProfileOverride] = NO_OVERRIDES,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        if window is not None and (not isinstance(window, int) or window < SMALLEST_WINDOW):
            raise UserMistake(
                f"window={window!r} is not a valid number of tokens: omit it to use the model's window, or "
                f"give at least {SMALLEST_WINDOW:,}"
            )
        self.model = model
        self.settings = settings or Settings()
        self._now = now or _system_time
        self._folder = None if directory is None else Path(directory)
        facts = profile(model, overrides)
        self.budget = budget_by(self.settings, model, window=window, overrides=overrides)
        self._log = Followed(session="window", now=self._now)
        self._preparer = Preparer(
            model=model,
            facts=facts,
            budget=self.budget,
            settings=self.settings,
            strategy=find_strategy(strategy),
            now=self._now,
            spill_path=None if self._folder is None else self._spill_path,
            has_options=False,
        )
        self._compactor = Compactor(self._log, self._preparer)
        self._cache = CacheWatch(facts, self.settings.cache)
        self._predicted: Break | None = None
        self._last_request: Request | None = None

    def __repr__(self) -> str:
        return f"Window({self.model!r}, window={self.budget.window_tokens})"

    def prepare(
        self,
        messages: Iterable[AnyMessage],
        system: AnySystem = (),
        tools: Iterable[AnyTool] = (),
        *,
        max_tokens: int | None = None,
    ) -> PreparedRequest:
        """Make the next request of a conversation that is handed over whole.

        Messages, system text and tools may be given in any form that the provider's client takes, its own objects
        among them. Cache marks in them are left out: the window places its own. Raises `ContextTooLong`, naming the
        message, when a single message does not fit, and `UserMistake` for one that cannot be read; nothing is lost.
        """
        self._log.follow(messages if isinstance(messages, Sequence) else list(messages), system, tools)
        prepared = self._compactor.prepare(max_tokens=max_tokens)
        self._predicted = prepared.report.predicted_break
        self._last_request = prepared.request
        return PreparedRequest(prepared.body, prepared.report, prepared.request)

    def observe(self, usage: Usage | Mapping[str, Any] | Any) -> Break | None:
        """Note what the provider reported for the last request, as JSON or as the client's object.

        Returns a cache break that it shows.
        """
        seen = usage if isinstance(usage, Usage) else usage_from_wire(to_plain(usage))
        self._log.observe(seen, self.model)
        return self._cache.observe(seen, self._last_request, self._predicted, self._now())

    async def compact(
        self,
        model: Model | None = None,
        *,
        instructions: str = "",
        from_: int | None = None,
        up_to: int | None = None,
    ) -> tuple[Reduction, ...]:
        """Compact now; with a model it writes the summary, without one the embedded summariser does.

        With the place of a message in the list that was last handed over, only what comes from it on (`from_`) or
        before it (`up_to`) is summed up. Raises `UserMistake` when no message in view stands there.
        """
        part = self._part(from_, up_to)
        parent = self._last_request or Request(self.model, self._log.view.messages)
        outcome = await self._compactor.compact(model, parent, instructions=instructions, part=part)
        return outcome.reductions

    @property
    def receipts(self) -> list[Receipt]:
        """What each compaction kept, brought back and left out, oldest first."""
        return receipts(self._log.entries)

    def uncompact(self) -> int:
        """Show everything again that the last compaction took away; returns the size of the view in tokens."""
        self._log.branch_from(uncompact(self._log.entries).leaf)
        return self._preparer.measure(self._log)

    def read_span(
        self,
        first: str | None = None,
        last: str | None = None,
        *,
        subject: str | None = None,
        limit_tokens: int = 4_000,
    ) -> Span:
        """Read messages again that are no longer in view, by the ids that a receipt names or by what they are about."""
        return self._preparer.read_span(self._log, first=first, last=last, subject=subject, limit_tokens=limit_tokens)

    def knows(self, messages: Sequence[AnyMessage]) -> bool:
        """Whether these messages continue the conversation of this window."""
        return len(self._log) > 0 and self._log.knows(messages) == len(self._log)

    def _part(self, from_: int | None, up_to: int | None) -> OneSide | None:
        if from_ is None and up_to is None:
            return None
        if from_ is not None and up_to is not None:
            raise UserMistake("give either the first message to compact or the last one, not both")
        if from_ is not None:
            return OneSide(Direction.FROM, self._log.id_at(from_))
        return OneSide(Direction.UP_TO, self._log.id_at(up_to or 0))

    def _spill_path(self, tool_use_id: str) -> Path:
        assert self._folder is not None
        if not any(map(_reads_files, self._log.view.tools)):
            raise UserMistake("no tool of this conversation reads files, so results are not written to files")
        return self._folder / "tool-results" / f"{tool_use_id}.txt"


def _system_time() -> datetime:
    from time import time_ns

    return datetime.fromtimestamp(time_ns() / 1e9, UTC)


def _reads_files(tool: ToolSpec) -> bool:
    """Whether a tool can show the model a file of this machine, by what it is called and takes."""
    if str(tool.extra.get("type", "")).startswith(("bash_", "text_editor_", "computer_")):
        return True
    words = {word.lower() for word in _WORDS.findall(tool.name)}
    shows = words & {"bash", "shell", "sh", "terminal", "powershell", "command", "editor", "cat"}
    reads = words & {"read", "view", "open"} and (words & {"file", "files"} or len(words) == 1)
    takes = tool.input_schema.get("properties")
    return bool(shows or reads) and isinstance(takes, dict) and any(_PLACE.search(name.lower()) for name in takes)
