"""Records every model call with purpose, tokens and price; holds the budget of background work.

The ledger is a file of JSON lines per month under `REVERIE_HOME`, appended by every process. `Governor` says whether
background work may begin and go on; it keeps the figures of one session and knows nothing of files.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from reverie.errors import Error
from reverie.files import append_lines
from reverie.messages.blocks import Block, Text, ToolUse
from reverie.messages.codec import decode_json
from reverie.messages.message import Usage
from reverie.models.offline import OFFLINE
from reverie.models.ports import (
    BlockDone,
    Event,
    Finished,
    Model,
    Reply,
    Request,
    Retrying,
    TextDelta,
    ThinkingDelta,
)
from reverie.models.profiles import profile
from reverie.models.tokens.estimate import weigh_block, weigh_request
from reverie.models.tokens.rates import rates_for
from reverie.settings import BudgetSettings
from reverie.values import value

TEAMMATE = "teammate"
"""As what a session counts the calls of its teammates, which they book themselves."""
FOREGROUND = frozenset({"turn", "agent", "compaction", "summary", "recall", "collapse", "web_search", TEAMMATE})
"""Purposes for which somebody waits; all others count against the budget of background work."""
_MONTHS = "????-??.jsonl"


@value
class Booking:
    """One model call."""

    when: datetime
    session: str
    project: str
    purpose: str
    model: str
    usage: Usage
    cost_usd: float | None
    """None for a model whose price nobody knows."""
    agent: str = ""
    """Which agent asked; empty for the main one."""
    is_estimate: bool = False
    """The provider did not say what was used: the call was interrupted, or its server does not count."""

    @property
    def is_background(self) -> bool:
        return self.purpose not in FOREGROUND


def append_booking(folder: Path, booking: Booking) -> None:
    """Write one call to the ledger of its month."""
    import json

    line = json.dumps(_wire(booking), ensure_ascii=False, separators=(",", ":"))
    append_lines(folder / f"{booking.when:%Y-%m}.jsonl", (line,), durable=False)


def read_bookings(folder: Path, *, since: datetime | None = None) -> Iterator[Booking]:
    """All calls in the ledger, oldest first; lines that cannot be read are passed over."""
    for path in sorted(folder.glob(_MONTHS)):
        if since is not None and path.stem < f"{since:%Y-%m}":
            continue
        for booking in _read_lines(path.read_text(encoding="utf-8", errors="replace")):
            if since is None or booking.when >= since:
                yield booking


class LedgerTail:
    """What other processes book from now on, read bit by bit."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read = {path: path.stat().st_size for path in folder.glob(_MONTHS)}

    def read(self) -> list[Booking]:
        """The calls that were booked since this was last asked."""
        bookings: list[Booking] = []
        for path in sorted(self._folder.glob(_MONTHS)):
            done = self._read.get(path, 0)
            if path.stat().st_size <= done:
                continue
            with path.open("rb") as file:
                file.seek(done)
                fresh = file.read()
            whole = fresh[: fresh.rfind(b"\n") + 1]
            self._read[path] = done + len(whole)
            bookings += _read_lines(whole.decode("utf-8", "replace"))
        return bookings


@value
class BillLine:
    """One row of a bill."""

    key: str
    calls: int
    usage: Usage
    cost_usd: float | None
    """None when the price of every call is unknown."""
    estimates: int = 0
    """How many of the calls are estimated."""

    @property
    def cache_share(self) -> float | None:
        """Of all input tokens, the share that was read from the cache."""
        whole = self.usage.context_tokens
        return self.usage.cache_read_tokens / whole if whole else None


def of_session(bookings: Iterable[Booking], session: str) -> list[Booking]:
    """The calls of a session, named by its id or the beginning of one, and of the teammates that it started."""
    team = f"@session-{session[:8]}"
    return [one for one in bookings if one.session.startswith(session) or one.agent.endswith(team)]


def by(bookings: Iterable[Booking], key: Callable[[Booking], str]) -> list[BillLine]:
    """The calls added up by a key, in the order in which the keys first appear."""
    groups: dict[str, list[Booking]] = defaultdict(list)
    for booking in bookings:
        groups[key(booking)].append(booking)
    return [_line(name, group) for name, group in groups.items()]


def total(bookings: Iterable[Booking]) -> BillLine:
    """All calls together."""
    return _line("total", list(bookings))


class Governor:
    """What this session may still spend while nobody waits."""

    def __init__(self, budget: BudgetSettings, now: Callable[[], datetime]) -> None:
        self._budget = budget
        self._now = now
        self.bookings: list[Booking] = []
        self._carried_usd = 0.0

    def note(self, booking: Booking) -> None:
        """A call was made."""
        self.bookings.append(booking)

    @property
    def cost_usd(self) -> float:
        """What the session has cost so far, as far as prices are known."""
        return sum(one.cost_usd or 0.0 for one in self.bookings)

    def paid_usd(self, after: int = 0) -> float | None:
        """What the calls after the first so many have cost; None when the price of every one of them is unknown."""
        spent = self.bookings[after:]
        prices = [one.cost_usd for one in spent if one.cost_usd is not None]
        return sum(prices) if prices or not spent else None

    @property
    def background_usd(self) -> float:
        """The part of it for which nobody waited."""
        return sum(one.cost_usd or 0.0 for one in self.bookings if one.is_background)

    def spent_on(self, purpose: str) -> float:
        """What one kind of work has cost so far, as far as prices are known."""
        return sum(one.cost_usd or 0.0 for one in self.bookings if one.purpose == purpose)

    def carry(self, bookings: Iterable[Booking]) -> None:
        """Add what earlier sessions left of their share: a dream is work for all of them."""
        earlier = list(bookings)
        background = sum(one.cost_usd or 0.0 for one in earlier if one.is_background)
        foreground = sum(one.cost_usd or 0.0 for one in earlier) - background
        self._carried_usd = max(0.0, self._budget.background_fraction * foreground - background)

    @property
    def left_usd(self) -> float | None:
        """What the session may still cost; None without a limit."""
        limit = self._budget.session_usd
        return None if limit is None else max(0.0, limit - self.cost_usd)

    def session_is_spent(self) -> str:
        """Why the session may ask no more; empty while it may."""
        limit = self._budget.session_usd
        if limit is not None and self.cost_usd >= limit:
            return f"the session cost ${self.cost_usd:.2f}; its limit is ${limit:.2f} (budget.session_usd)"
        return ""

    def refuses(self, estimate_usd: float = 0.0) -> str:
        """Why background work may not begin, or not go on, now; empty when it may.

        Of a session that has cost less than background work may cost in an hour, the share is taken as if it had cost
        that much: a share of next to nothing would keep the first turns from being learnt from.
        """
        spent = self.session_is_spent()
        if spent:
            return spent
        foreground = self.cost_usd - self.background_usd
        hourly = self._budget.background_usd_per_hour
        share = self._budget.background_fraction * max(foreground, hourly) + self._carried_usd
        background = self.background_usd + estimate_usd
        # Where nobody has asked anything yet, as when only a dream was wanted, there is nothing to take a share of.
        if foreground > 0 and background > share:
            fraction = f"{self._budget.background_fraction:.0%}"
            return (
                f"background work would cost ${background:.4f}; its limit is ${share:.4f} ({fraction} of the session, "
                "budget.background_fraction) and grows with the session"
            )
        hour_ago = self._now() - timedelta(hours=1)
        lately = sum(one.cost_usd or 0.0 for one in self.bookings if one.is_background and one.when >= hour_ago)
        if lately + estimate_usd > hourly:
            return (
                f"background work cost ${lately:.2f} in the last hour; its limit is ${hourly:.2f} "
                "(budget.background_usd_per_hour)"
            )
        return ""


class Book(Protocol):
    """Writes one call down."""

    def __call__(
        self, purpose: str, model: str, usage: Usage, *, is_estimate: bool = False, cost_usd: float | None = None
    ) -> None:
        """`cost_usd` is what the call cost by the provider's own word; without it the price list counts."""
        ...


class Booked:
    """A model whose every call is booked, also one that is interrupted or whose server does not say what was used.

    A call that the provider refused used nothing and is not booked.
    """

    def __init__(self, model: Model, book: Book) -> None:
        self.inner = model
        self._book = book
        self._known = Usage()
        """What the last whole answer used: of the next request, that much is expected to come from the cache."""

    @property
    def name(self) -> str:
        return self.inner.name

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Pass everything on and book each attempt."""
        written: list[Block] | None = []
        """What has arrived of an answer; None while no request is under way."""
        try:
            async with aclosing(self.inner.stream(request)) as events:
                async for event in events:
                    match event:
                        case Finished(reply):
                            self._finish(request, reply)
                            written = None
                        case Retrying():
                            self._interrupt(request, written)
                            written = None
                        case TextDelta(text) | ThinkingDelta(text):
                            written = [*(written or ()), Text(text)]
                        case BlockDone(block) if isinstance(block, ToolUse):
                            written = [*(written or ()), block]
                        case _:
                            pass
                    yield event
            self._interrupt(request, written)
        except Error:
            self._interrupt(request, written)
            raise
        except BaseException:
            # Nobody listens any more; what was sent is answered and paid for, also when nothing has arrived yet.
            if written is not None and self.name != OFFLINE:
                self._estimate(request, written)
            raise

    def _finish(self, request: Request, reply: Reply) -> None:
        if self.name != OFFLINE and reply.usage == Usage():
            self._estimate(request, reply.message.content, reply.model)
        else:
            self._known = reply.usage
            # The provider's own compaction stands beside what it reports for the answer.
            self._book(
                request.purpose,
                reply.model or request.model,
                reply.usage + reply.compaction_usage,
                is_estimate=reply.is_estimate,
                cost_usd=reply.cost_usd,
            )

    def _interrupt(self, request: Request, written: Sequence[Block] | None) -> None:
        if written and self.name != OFFLINE:
            self._estimate(request, written)

    def _estimate(self, request: Request, written: Sequence[Block], model: str = "") -> None:
        facts = profile(model or request.model)
        rates = rates_for(facts)
        sent = weigh_request(facts, system=request.system, tools=request.tools, messages=request.messages, rates=rates)
        cached = min(sent, self._known.context_tokens)
        output = round(sum(weigh_block(block, rates) for block in written))
        usage = Usage(sent - cached, output, cached)
        self._book(request.purpose, model or request.model, usage, is_estimate=True)


def _line(key: str, group: list[Booking]) -> BillLine:
    usage = sum((one.usage for one in group), Usage())
    prices = [one.cost_usd for one in group if one.cost_usd is not None]
    return BillLine(key, len(group), usage, sum(prices) if prices else None, sum(one.is_estimate for one in group))


def _read_lines(text: str) -> Iterator[Booking]:
    for line in text.split("\n"):
        try:
            yield _booking(decode_json(line))
        except (ValueError, KeyError, TypeError):
            continue


def _wire(booking: Booking) -> dict[str, Any]:
    usage = booking.usage
    return {
        "when": booking.when.isoformat(timespec="milliseconds"),
        "session": booking.session,
        "project": booking.project,
        "purpose": booking.purpose,
        "agent": booking.agent,
        "model": booking.model,
        "input": usage.input_tokens,
        "output": usage.output_tokens,
        "cache_read": usage.cache_read_tokens,
        "cache_write": usage.cache_write_tokens,
        "cache_write_1h": usage.cache_write_1h_tokens,
        "cost_usd": booking.cost_usd,
        **({"web_searches": usage.web_searches} if usage.web_searches else {}),
        **({"estimated": True} if booking.is_estimate else {}),
    }


def _booking(wire: dict[str, Any]) -> Booking:
    usage = Usage(
        wire["input"],
        wire["output"],
        wire["cache_read"],
        wire["cache_write"],
        wire["cache_write_1h"],
        wire.get("web_searches", 0),
    )
    return Booking(
        datetime.fromisoformat(wire["when"]),
        wire["session"],
        wire["project"],
        wire["purpose"],
        wire["model"],
        usage,
        wire["cost_usd"],
        wire.get("agent", ""),
        wire.get("estimated") is True,
    )
