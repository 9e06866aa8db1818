"""Replay: each request of a recording through a strategy, the provider's validation and its prompt cache.

What a strategy makes of the conversation is what would be sent; the recorded replies are taken as given, because the
question is what they would have cost and what was in view when they were asked for.

A recording is split into its requests: what was added before each reply, the reply, and when. Its own compactions are
left out: the whole history is replayed, so every strategy starts from the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from reverie.apps.replay.figures import RequestRow, SessionFigures
from reverie.apps.replay.survival import lost
from reverie.context.client_messages import Followed
from reverie.context.compaction import Compactor
from reverie.context.preparer import Preparer, ReadyRequest
from reverie.context.receipt import receipts
from reverie.context.spans import RESTORED, chain
from reverie.context.strategy import Strategy
from reverie.errors import ContextTooLong, UserMistake
from reverie.messages.entries import AssistantEntry, AttachmentEntry, BoundaryEntry, Entry, PromptEntry, UserEntry
from reverie.messages.message import Usage
from reverie.models.profiles import Profile, cost
from reverie.models.request_body import encode_body
from reverie.models.tokens.estimate import weigh_message
from reverie.models.tokens.rates import rates_for
from reverie.models.tokens.window import WindowBudget
from reverie.settings import Settings
from reverie.values import value
from reverie_simulator.provider import SimulatedProvider
from reverie_simulator.rules.check import validate
from reverie_simulator.usage import CacheUsage

Progress = Callable[[int, int], None]


@value
class ReplaySetup:
    """Under which conditions a recording is replayed."""

    model: str
    facts: Profile
    budget: WindowBudget
    settings: Settings
    strategy: Strategy
    seed: int = 1
    dump: Path | None = None
    """Where every request body is written, as it would be sent."""
    spills: Path | None = None
    """Where spilled results go; without it they stay inline."""


def replay(
    file: str, entries: Sequence[Entry], setup: ReplaySetup, progress: Progress = lambda _, __: None
) -> SessionFigures:
    """Run one recording; raises `UserMistake` when it holds no request."""
    replayed = steps(entries)
    if not replayed:
        raise UserMistake(f"{file} contains no model reply; nothing to replay")
    run = ReplayRun(setup, replayed[0].at)
    rows: list[RequestRow] = []
    stopped: str | None = None
    started = time.perf_counter()
    for number, step in enumerate(replayed, 1):
        try:
            row = run.request(step, number)
        except ContextTooLong as problem:
            stopped = str(problem)
            break
        rows.append(row)
        if row.refused is not None:
            stopped = row.refused
            break
        progress(number, len(replayed))
    return SessionFigures(
        file=file,
        strategy=setup.strategy.name,
        model=setup.model,
        window=setup.budget.window_tokens,
        requests=tuple(rows),
        receipts=tuple(one.to_json() for one in receipts(run.log.entries)),
        stopped=stopped,
        steps=len(replayed),
        seconds=time.perf_counter() - started,
    )


class ReplayRun:
    """The state of one replay: the conversation, what keeps it small, and the provider's cache."""

    def __init__(self, setup: ReplaySetup, start: datetime) -> None:
        self.setup = setup
        self.time = start
        self.log = Followed(session="replay", now=lambda: self.time)
        self.provider = SimulatedProvider(seed=setup.seed)
        preparer = Preparer(
            model=setup.model,
            facts=setup.facts,
            budget=setup.budget,
            settings=setup.settings,
            strategy=setup.strategy,
            now=lambda: self.time,
            spill_path=None if setup.spills is None else self._spill_path,
            rereads=True,
        )
        self.compactor = Compactor(self.log, preparer)
        self._rates = rates_for(setup.facts)

    def request(self, step: ReplayStep, number: int) -> RequestRow:
        """One request, as it would be sent and billed."""
        self.time = step.at
        for entry in step.arrived:
            assert isinstance(entry, UserEntry | AssistantEntry | AttachmentEntry | PromptEntry)
            self.log.adopt(entry)
        before = time.perf_counter()
        prepared = self.compactor.prepare()
        took_ms = (time.perf_counter() - before) * 1000
        self._dump(prepared.body, number)
        row, usage = self._bill(prepared, step, took_ms)
        self._adopt_reply(step, usage)
        return row

    def _bill(self, prepared: ReadyRequest, step: ReplayStep, took_ms: float) -> tuple[RequestRow, Usage]:
        served = self.provider.serve(prepared.body, self.time)
        if served is None:
            raise UserMistake(f"the simulator does not support model {self.setup.model!r}; choose another with --model")
        cache_usage: CacheUsage = served.outcome.usage
        output = round(sum(weigh_message(entry.message, self._rates) for entry in step.reply))
        usage = Usage(
            input_tokens=cache_usage.input_tokens,
            output_tokens=output,
            cache_read_tokens=cache_usage.read_tokens,
            cache_write_tokens=cache_usage.written_tokens,
            cache_write_1h_tokens=cache_usage.written_1h_tokens,
        )
        parted = prepared.report.predicted_break
        refused = None
        error = validate(prepared.body)
        if error is not None:
            refused = error.message
        elif cache_usage.total_tokens > self.setup.budget.window_tokens:
            refused = (
                f"prompt is too long: {cache_usage.total_tokens} tokens > {self.setup.budget.window_tokens} maximum"
            )
        row = RequestRow(
            tokens=cache_usage.total_tokens,
            cache_read=cache_usage.read_tokens,
            cache_write=cache_usage.written_tokens,
            fresh=cache_usage.input_tokens,
            output=output,
            cost_usd=cost(usage, self.setup.facts),
            reduced=prepared.report.reductions,
            break_cause=None if parted is None else parted.cause.value,
            is_announced=parted is None or parted.is_announced,
            refused=refused,
            prepare_ms=took_ms,
            lost=lost(self.log.entries, self.log.view) if _was_compacted(prepared) else (),
        )
        return row, usage

    def _adopt_reply(self, step: ReplayStep, usage: Usage) -> None:
        for entry in step.reply:
            self.log.adopt(replace(entry, usage=usage, model=self.setup.model))

    def _dump(self, body: dict[str, Any], number: int) -> None:
        if self.setup.dump is not None:
            self.setup.dump.mkdir(parents=True, exist_ok=True)
            (self.setup.dump / f"{number:04d}.json").write_bytes(encode_body(body))

    def _spill_path(self, tool_use_id: str) -> Path:
        assert self.setup.spills is not None
        return self.setup.spills / f"{tool_use_id}.txt"


def _was_compacted(prepared: ReadyRequest) -> bool:
    return any(isinstance(entry, BoundaryEntry) for entry in prepared.appended)


SECONDS_BETWEEN = 20
"""Time from one request to the next where a recording has no clock; tool calls of an agent take about so long."""

BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


@value
class ReplayStep:
    """One request and what it was answered."""

    arrived: tuple[Entry, ...]
    """Entries that came since the reply before."""
    reply: tuple[AssistantEntry, ...]
    """The records of the answer."""
    at: datetime


def steps(entries: Sequence[Entry]) -> list[ReplayStep]:
    """The requests of a recording in order; what was typed after the last reply asks for nothing."""
    replay_steps: list[ReplayStep] = []
    arrived: list[Entry] = []
    reply: list[AssistantEntry] = []
    clock = BEGINNING
    for entry in chain(entries):
        if isinstance(entry, AssistantEntry):
            if entry.is_error:
                continue
            # Two replies with nothing between are taken as one: no request ends with the model's own words.
            reply.append(entry)
            continue
        if not isinstance(entry, UserEntry | AttachmentEntry | PromptEntry):
            continue
        if (isinstance(entry, UserEntry) and entry.is_summary) or (
            isinstance(entry, AttachmentEntry) and RESTORED in entry.data
        ):
            continue
        if reply:
            replay_steps.append(_step(arrived, reply, clock))
            arrived, reply, clock = [], [], clock + timedelta(seconds=SECONDS_BETWEEN)
        arrived.append(entry)
    if reply:
        replay_steps.append(_step(arrived, reply, clock))
    return _in_order(_from_the_first_question(replay_steps))


def _from_the_first_question(replay_steps: list[ReplayStep]) -> list[ReplayStep]:
    """A recording whose beginning is missing may open with replies and results: they are history, not requests."""
    lost: tuple[Entry, ...] = ()
    for number, step in enumerate(replay_steps):
        if any(isinstance(entry, UserEntry) and not entry.message.tool_results for entry in step.arrived):
            return [replace(step, arrived=(*lost, *step.arrived)), *replay_steps[number + 1 :]]
        lost = (*lost, *step.arrived, *(replace(entry, usage=None) for entry in step.reply))
    return []


def _step(arrived: Sequence[Entry], reply: Sequence[AssistantEntry], otherwise: datetime) -> ReplayStep:
    return ReplayStep(tuple(arrived), tuple(reply), _moment(reply[0].envelope.timestamp) or otherwise)


def _moment(timestamp: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _in_order(replay_steps: list[ReplayStep]) -> list[ReplayStep]:
    """Clocks that go backwards, as after a resume on another machine, stand still instead."""
    ordered: list[ReplayStep] = []
    for step in replay_steps:
        at = max(step.at, ordered[-1].at) if ordered else step.at
        ordered.append(replace(step, at=at))
    return ordered
