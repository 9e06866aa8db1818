"""The query loop: until the model stops asking for tools.

One `Loop` per conversation. A turn takes the user's words, asks the model round after round, runs what it asks for, and
ends with a `TurnEnded` whatever happens: an answer, a failure, a limit, or the user's own word. What is said is on disk
before it is sent. `turn` does not return half-way: a cancelled turn leaves a history that a provider takes.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count

from reverie.context.cache_breaks import CacheWatch
from reverie.context.compaction import CompactionHost, Compactor
from reverie.context.conversation import Conversation
from reverie.context.preparer import Preparer, ReadyRequest
from reverie.context.reactive import FIRST
from reverie.context.stage import Reduction
from reverie.errors import BadRequest, ContextTooLong, MediaTooLarge, Overloaded, RateLimited, Unavailable
from reverie.extensions.hooks.verdict import FiresHooks, titles
from reverie.messages.blocks import Block, Image, Json, JsonObject, Text, ToolResult, ToolUse, nothing_more
from reverie.messages.codec import as_count
from reverie.messages.entries import (
    AssistantEntry,
    AttachmentEntry,
    Entry,
    PromptEntry,
    SystemBlock,
    TitleEntry,
    ToolSpec,
    UserEntry,
)
from reverie.messages.message import Message, Role, Usage, assistant, user
from reverie.messages.records import SYNTHETIC_MODEL
from reverie.messages.reminder import reminder
from reverie.messages.view import ItemKind
from reverie.models.flow import answer, exact_tokens
from reverie.models.ledger import Governor
from reverie.models.ports import BlockDone, Ending, Event, Finished, Model, Reply, Request, Retrying, TextDelta
from reverie.models.profiles import Profile, cost
from reverie.models.tokens.window import WindowBudget
from reverie.session.events import (
    Attached,
    CacheBroken,
    Notice,
    Replied,
    RequestSent,
    Status,
    TurnEnded,
    TurnEvent,
    TurnStarted,
    ViewReduced,
)
from reverie.session.tool_calls import FinishedCall, ToolCalls, answer_interrupted
from reverie.settings import Settings
from reverie.values import value

INTERRUPTED = "[Request interrupted by user]"
CUT_OFF = (
    "Your last reply reached the output limit and was cut off. Go on exactly where it stopped, without repeating "
    "anything; if much is left, do it in smaller pieces."
)
_LIMITED = " (budget.turn_rounds); nothing is lost; your next message continues from here"
_SPENT = " (budget.turn_tokens); nothing is lost; your next message continues from here"
MAX_CONTINUES = 3
"""How often a reply that was cut off is continued within one turn."""


@value
class JoinedAttachment:
    """Something that joins the conversation at the next boundary without anybody having typed it."""

    kind: str
    text: str
    summary: str = ""
    data: JsonObject = field(default_factory=nothing_more)
    pictures: tuple[Image, ...] = ()


Opening = tuple[tuple[SystemBlock, ...], tuple[ToolSpec, ...], tuple[JoinedAttachment, ...]]
"""System text, tools and the first messages of a conversation."""


class LoopHost(CompactionHost):
    """What the owner of a loop offers it; this one offers nothing. `SessionParts` is the one of a session."""

    __slots__ = ()

    def render_opening(self) -> Opening:
        """How a conversation begins; asked once."""
        return (), (), ()

    async def expand(self, text: str) -> Sequence[JoinedAttachment] | str:  # noqa: ARG002 - for those who override
        """What joins behind the user's words, such as a skill that they name; a sentence ends the turn instead."""
        return ()

    async def attach_mentions(self, text: str) -> Sequence[JoinedAttachment]:  # noqa: ARG002
        """What the user's words name and the model is to see with them, such as files."""
        return ()

    async def recall(self, text: str) -> Sequence[JoinedAttachment]:  # noqa: ARG002
        """The memories that matter to the user's words; the request that follows waits for them."""
        return ()

    def before_prompt(self) -> Sequence[JoinedAttachment]:
        """What changed since the last turn and must be said before the user's words, such as the date."""
        return ()

    def at_boundary(self) -> Sequence[JoinedAttachment]:
        """What arrived since the last request: messages of other agents, finished background work."""
        return ()

    async def after_calls(self, done: Sequence[FinishedCall]) -> Sequence[JoinedAttachment]:  # noqa: ARG002
        """What the calls of a round bring along, such as instructions that hold below a folder."""
        return ()

    def after_reply(self) -> None:
        """Start what hangs on a reply and nobody waits for, such as notes."""

    def after_turn(self, ending: Ending) -> None:
        """Start what hangs on a turn and nobody waits for: extraction, a dream."""

    @property
    def background(self) -> tuple[str, ...]:
        """A line for each thing that runs while nobody waits."""
        return ()


@dataclass(slots=True)
class Parts:
    """What a loop works with."""

    log: Conversation
    preparer: Preparer
    model: Model
    calls: ToolCalls
    compactor: Compactor
    hooks: FiresHooks
    governor: Governor
    settings: Settings
    now: Callable[[], datetime]
    emit: Callable[[TurnEvent], None]
    host: LoopHost
    """What the owner of the conversation adds to it; set anew once a session is complete."""
    fallbacks: Sequence[Callable[[], Model]] = ()
    """Models to try in this order when the first has no capacity."""
    answer_offline: Callable[[], str] | None = None
    """Answers a turn where no model is configured."""
    allowance: Callable[[], str] | None = None
    """Why no further round may be paid for; asked before each but the first, for work that nobody waits for."""
    max_rounds: int | None = None
    """None leaves it to `budget.turn_rounds`."""
    max_output_tokens: int | None = None
    stop_event: str = "Stop"


class Loop:
    """One conversation with a model, its tools and its memory."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.queued: deque[str] = deque()
        """What the user typed while a turn was running."""
        self.last_request: Request | None = None
        self._cache = CacheWatch(parts.preparer.facts, parts.settings.cache)
        self._usage = Usage()
        self.used_tokens = 0
        """The size of the conversation as it was counted last."""
        self._is_cancelled = False
        self._running: asyncio.Task[TurnEnded] | None = None
        self._partial = ""
        self._cleared: dict[str, int] = {}
        """What the provider said it had cleared, by the kind of edit."""

    @property
    def status(self) -> Status:
        """Figures for a status line."""
        budget = self.parts.preparer.budget
        whole = self._usage.context_tokens
        return Status(
            model=self.parts.model.name,
            used_tokens=self.used_tokens,
            window_tokens=budget.effective_tokens,
            level=budget.using(self.used_tokens).level,
            cache_share=self._usage.cache_read_tokens / whole if whole else None,
            cost_usd=self.parts.governor.paid_usd(),
            mode=self.parts.calls.permits.policy.mode,
            background=self.parts.host.background,
        )

    def fork_estimate_usd(
        self, facts: Profile | None = None, *, fresh_tokens: int = 2_000, output_tokens: int = 600
    ) -> float:
        """What a short fork of this conversation is likely to cost, with its own model or another; 0 if unknown."""
        usage = Usage(fresh_tokens, output_tokens, cache_read_tokens=self.used_tokens)
        return cost(usage, facts or self.parts.preparer.facts) or 0.0

    def measure(self) -> None:
        """Count the conversation anew, as after resuming or rewinding."""
        self.used_tokens = self.parts.preparer.measure(self.parts.log)

    def retune(self, model: Model, effort: str, facts: Profile, budget: WindowBudget) -> Callable[[], None]:
        """Let another model answer, or the same with another effort; returns what goes back to the one before."""
        before = self.parts.model
        preparer_back = self.parts.preparer.switch_model(model.name, facts, budget, effort)
        self.parts.model = model

        def back() -> None:
            self.parts.model = before
            preparer_back()

        return back

    def cancel(self) -> None:
        """Stop the running turn; it ends by itself with a valid history."""
        if self._running is not None and not self._running.done():
            self._is_cancelled = True
            self._running.cancel()

    async def turn(self, text: str, content: Sequence[Block] = (), *, source: str = "typed") -> TurnEnded:
        """Take the user's words and work until the model has nothing more to ask; never raises for the outside world.

        `content` are further blocks, such as pictures. Cancelling the task from outside ends the turn too and is
        passed on.
        """
        self._running = asyncio.current_task()
        self._is_cancelled = False
        started, booked_before, usage_before = time.monotonic(), len(self.parts.governor.bookings), self._usage
        self._rounds = 0
        try:
            ending, words = await self._turn(text, content, source)
        except asyncio.CancelledError:
            self._close_interrupted()
            ending, words = Ending.CANCELLED, INTERRUPTED
            if not self._is_cancelled:
                raise
        finally:
            self._running = None
        await self.parts.log.flush()
        ended = TurnEnded(
            ending,
            words,
            self._rounds,
            _difference(self._usage, usage_before),
            self.parts.governor.paid_usd(booked_before),
            time.monotonic() - started,
            self.status,
        )
        self.parts.host.after_turn(ending)
        self.parts.emit(ended)
        return ended

    async def _turn(self, text: str, content: Sequence[Block], source: str) -> tuple[Ending, str]:
        parts = self.parts
        verdict = await parts.hooks.fire("UserPromptSubmit", {"prompt": text})
        for message in verdict.messages:
            parts.emit(Notice(message, "warning"))
        if verdict.blocked is not None or verdict.stop is not None:
            return Ending.BLOCKED, verdict.blocked or verdict.stop or "A hook refused the prompt."
        # Only words of the user may name a skill; a report of somebody else that begins with a slash is a text.
        beside = await parts.host.expand(text) if source != "system" else ()
        if isinstance(beside, str):
            return Ending.BLOCKED, beside
        self.open()
        if verdict.more:
            parts.log.append(*titles(verdict))
        self.join(parts.host.before_prompt())
        said_by_user = UserEntry(parts.log.envelope(), Message(Role.USER, (Text(text), *content)), source=source)
        parts.log.append(said_by_user, *((TitleEntry("last-prompt", text),) if source != "system" else ()))
        parts.emit(TurnStarted(parts.log.session, text))
        self.join(beside)
        if source != "system":
            self.join(await parts.host.attach_mentions(text))
        self.join([JoinedAttachment("hook_additional_context", reminder(one)) for one in verdict.context])
        self.join(await parts.host.recall(text))
        await parts.log.flush()
        try:
            return await self._rounds_until_done()
        except Unavailable as problem:
            return await self._fail_turn(problem)

    def open(self) -> None:
        """Render system text, tools and first messages, where the conversation has none."""
        view = self.parts.log.view
        if view.system or view.tools:
            return
        system, tools, first = self.parts.host.render_opening()
        self.parts.log.append(PromptEntry(self.parts.log.envelope(), system, tools))
        self.join(first)

    async def _rounds_until_done(self) -> tuple[Ending, str]:
        parts = self.parts
        continues = kept_working = 0
        limit = parts.max_rounds or parts.settings.budget.turn_rounds
        wrote_before = self._usage.output_tokens
        for number in count(1):
            ask = parts.allowance if parts.allowance is not None and number > 1 else parts.governor.session_is_spent
            spent = ask()
            if spent:
                return Ending.BUDGET, spent
            written, most = self._usage.output_tokens - wrote_before, parts.settings.budget.turn_tokens
            if most is not None and written >= most and parts.allowance is None:
                return Ending.BUDGET, f"the turn has written {written:,} tokens of at most {most:,}{_SPENT}"
            if number > limit:
                return Ending.MAX_ROUNDS, f"stopped after {limit} rounds{_LIMITED if parts.max_rounds is None else ''}"
            self._rounds = number
            await self._join_what_is_ready()
            reply = await self._ask(number)
            calls = reply.message.tool_uses
            if calls:
                stop = await self._run_calls(calls)
                if stop:
                    return Ending.HOOK, stop
                continue
            if reply.stop_reason == "pause_turn":
                continue
            if reply.stop_reason == "max_tokens" and continues < MAX_CONTINUES:
                continues += 1
                self.join([JoinedAttachment("max_tokens", CUT_OFF)])
                continue
            if self.queued:
                continue
            reason, is_stopped = await self._stop_hooks(reply, is_active=kept_working > 0)
            if is_stopped:
                return Ending.HOOK, reason
            if reason and kept_working < parts.settings.hook.max_continues:
                kept_working += 1
                self.join([JoinedAttachment("hook_blocking_error", reminder(reason), reason)])
                continue
            return Ending.COMPLETED, reply.message.text
        raise AssertionError("unreachable")

    async def _ask(self, number: int) -> Reply:
        """Prepare, send, record: one reply, after as many rescues as help."""
        parts = self.parts
        attempts = FIRST
        while True:
            is_sent = False
            try:
                prepared = await self._prepare_request()
                parts.emit(RequestSent(number, prepared.report.tokens))
                is_sent = True
                reply = await self._request_reply(prepared.request)
                if reply.stop_reason == "model_context_window_exceeded":
                    raise ContextTooLong("the provider stopped because the window is full")
            except (ContextTooLong, MediaTooLarge) as problem:
                # By our own count too: what we would not send needs the same cure as what a provider refuses.
                if not (is_sent or parts.settings.compaction.rescues):
                    raise
                again = await parts.compactor.rescue(problem, attempts, parts.model, self.last_request)
                if again is None:
                    raise
                attempts = again
                continue
            except (BadRequest, RateLimited) as problem:
                refused = parts.preparer.do_without(problem, prepared.request)
                if not refused:
                    raise
                listed = ", ".join(sorted(refused))
                parts.emit(Notice(f"continuing without {listed}: {problem}", "warning"))
                continue
            break
        self._record(reply)
        self._tell_cleared(reply)
        predicted = prepared.report.predicted_break
        parted = self._cache.observe(reply.usage, prepared.request, predicted, parts.now(), reply.applied_edits)
        if parted is not None:
            parts.emit(CacheBroken(parted, parted.cost_usd))
        self._usage += reply.usage
        self.measure()
        parts.emit(Replied(reply.message, reply.usage, reply.stop_reason, reply.model, reply.message_id))
        parts.emit(self.status)
        parts.host.after_reply()
        return reply

    def _tell_cleared(self, reply: Reply) -> None:
        """Say what the provider cleared by itself beyond what it had cleared before."""
        for edit in reply.applied_edits:
            kind, freed = str(edit.get("type", "")), as_count(edit.get("cleared_input_tokens"))
            count = as_count(edit.get("cleared_tool_uses")) or as_count(edit.get("cleared_thinking_turns"))
            if count > self._cleared.get(kind, 0):
                self.parts.emit(ViewReduced((Reduction("clear", freed, count, "by the provider"),)))
            self._cleared[kind] = count

    async def _prepare_request(self) -> ReadyRequest:
        parts = self.parts
        await parts.compactor.collapse_if_due(parts.model, self.last_request)
        reduced = parts.preparer.reduce(parts.log)
        if reduced.outcome.reductions:
            parts.emit(ViewReduced(reduced.outcome.reductions))
        unsure = parts.preparer.unsure(parts.log)
        if unsure is not None and (tokens := await exact_tokens(parts.model, unsure)) is not None:
            reduced = replace(reduced, scene=parts.preparer.record_exact_tokens(parts.log, tokens))
        if await parts.compactor.compact_if_due(reduced.scene, parts.model, self.last_request):
            reduced = replace(reduced, scene=parts.preparer.scene(parts.log))
        prepared = parts.preparer.request(parts.log, reduced, max_tokens=parts.max_output_tokens)
        self.last_request = prepared.request
        return prepared

    async def _request_reply(self, request: Request) -> Reply:
        """The reply of the model, or of the next one when it has no capacity."""
        self._partial = ""
        request = replace(request, embedded=self.parts.answer_offline)
        try:
            return await answer(self.parts.model, request, self._listen)
        except Overloaded as problem:
            for make in self.parts.fallbacks:
                other = make()
                if other.name == self.parts.model.name:
                    continue
                self.parts.emit(Notice(f"{self.parts.model.name}: {problem}; falling back to {other.name}", "warning"))
                self._partial = ""
                try:
                    return await answer(other, self.parts.preparer.adapt_request(request, other.name), self._listen)
                except Overloaded:
                    continue
            raise

    def _listen(self, event: Event) -> None:
        match event:
            case TextDelta(text):
                self._partial += text
            case Retrying():
                self._partial = ""
            case Finished() | BlockDone():
                return
            case _:
                pass
        self.parts.emit(event)

    def _record(self, reply: Reply) -> None:
        """One entry per block, as readers of these files expect."""
        log = self.parts.log
        log.append(
            *(
                AssistantEntry(
                    log.envelope(),
                    Message(Role.ASSISTANT, (block,)),
                    reply.message_id,
                    reply.request_id,
                    reply.model,
                    reply.stop_reason,
                    reply.usage,
                )
                for block in reply.message.content
            )
        )
        self._partial = ""

    async def _run_calls(self, calls: Sequence[ToolUse]) -> str:
        """Run the calls and record their answers in order; why the turn must end, if a hook says so."""
        done: dict[str, FinishedCall] = {}
        try:
            # Calls change the world: after a power failure the transcript says what was asked for.
            await self.parts.log.flush()
            await self.parts.calls.run(calls, done)
        finally:
            results = [done.get(call.id) or answer_interrupted(call, was_running=False) for call in calls]
            self._record_results(results)
        self.join([JoinedAttachment("hook_additional_context", reminder(one)) for each in results for one in each.said])
        self.join(await self.parts.host.after_calls(results))
        stop = next((each.stop for each in results if each.stop), "")
        return stop or await self._batch_hooks(results)

    async def _batch_hooks(self, results: Sequence[FinishedCall]) -> str:
        """Let hooks hear of a whole round of calls; why the turn must end, if one says so."""
        calls_made: list[Json] = [
            {
                "tool_name": each.call.name,
                "tool_input": dict(each.call.input),
                "tool_use_id": each.call.id,
                "is_error": each.answer.is_error,
            }
            for each in results
        ]
        verdict = await self.parts.hooks.fire("PostToolBatch", {"tool_calls": calls_made})
        for message in verdict.messages:
            self.parts.emit(Notice(message, "warning"))
        self.join([JoinedAttachment("hook_additional_context", reminder(one)) for one in verdict.context])
        if verdict.blocked is None and verdict.stop is None:
            return ""
        return verdict.blocked or verdict.stop or "A hook ended the turn."

    def _record_results(self, results: Sequence[FinishedCall]) -> None:
        log = self.parts.log
        entries: list[Entry] = []
        for each in results:
            result = ToolResult(each.call.id, each.answer.content, is_error=each.answer.is_error)
            entries.append(
                UserEntry(log.envelope(), user(result), tool_details=each.answer.details or None, source="system")
            )
        log.append(*entries)

    async def _join_what_is_ready(self) -> None:
        """Messages of others and words typed meanwhile, with their memories, at a boundary between two requests."""
        self.join(self.parts.host.at_boundary())
        log = self.parts.log
        while self.queued:
            text = self.queued.popleft()
            log.append(UserEntry(log.envelope(), user(text), source="queued"))
            self.parts.emit(TurnStarted(log.session, text))
            self.join(await self.parts.host.attach_mentions(text))
            self.join(await self.parts.host.recall(text))
            await log.flush()

    def join(self, attachments: Sequence[JoinedAttachment]) -> None:
        """Add what nobody typed to the conversation."""
        log = self.parts.log
        for attachment in attachments:
            content: tuple[Block, ...] = (Text(attachment.text), *attachment.pictures)
            log.append(AttachmentEntry(log.envelope(), attachment.kind, content, attachment.data))
            if attachment.summary:
                self.parts.emit(Attached(attachment.kind, attachment.summary, attachment.data))

    async def _stop_hooks(self, reply: Reply, *, is_active: bool) -> tuple[str, bool]:
        """What keeps the agent working, or why it must stop."""
        facts: JsonObject = {"stop_hook_active": is_active, "last_assistant_message": reply.message.text}
        verdict = await self.parts.hooks.fire(self.parts.stop_event, facts)
        for message in verdict.messages:
            self.parts.emit(Notice(message, "warning"))
        if verdict.stop is not None:
            return verdict.stop or reply.message.text, True
        return verdict.blocked or "\n".join(verdict.context), False

    async def _fail_turn(self, problem: Unavailable) -> tuple[Ending, str]:
        log = self.parts.log
        words = f"API Error: {problem}"
        log.append(AssistantEntry(log.envelope(), assistant(words), model=SYNTHETIC_MODEL, is_error=True))
        facts: JsonObject = {"error": _error_name(problem), "error_details": str(problem)}
        await self.parts.hooks.fire("StopFailure", facts, subject=_error_name(problem))
        return Ending.FAILED, str(problem)

    def _close_interrupted(self) -> None:
        """Leave a history that a provider takes: what was said so far stands, and that it was interrupted."""
        log = self.parts.log
        items = log.view.items
        if self._partial.strip():
            log.append(AssistantEntry(log.envelope(), assistant(self._partial.rstrip()), model=self.parts.model.name))
            self._partial = ""
        elif items and items[-1].kind is ItemKind.REPLY and not items[-1].message.tool_uses:
            return
        if items:
            log.append(UserEntry(replace(log.envelope(), is_meta=True), user(INTERRUPTED), source="system"))


def _difference(now: Usage, before: Usage) -> Usage:
    return Usage(
        now.input_tokens - before.input_tokens,
        now.output_tokens - before.output_tokens,
        now.cache_read_tokens - before.cache_read_tokens,
        now.cache_write_tokens - before.cache_write_tokens,
        now.cache_write_1h_tokens - before.cache_write_1h_tokens,
        now.web_searches - before.web_searches,
    )


def _error_name(problem: Unavailable) -> str:
    """The public name of a failure, on which `StopFailure` hooks match."""
    names = {"RateLimited": "rate_limit", "Unauthenticated": "authentication_failed", "Overloaded": "overloaded"}
    return names.get(type(problem).__name__, "server_error" if problem.status and problem.status >= 500 else "unknown")
