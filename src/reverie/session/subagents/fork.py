"""A child that shares the parent's cached prefix: same system bytes, tools, model and messages, then one message more.

A fork is cheap because nothing of the prefix is rendered anew; what it may do is limited by refusing calls when they
are made, never by another tool list. Its desk, spill decisions and log are copies; cancelling the parent's task cancels
it. It never forks again. What a fork is for is the matter of whoever made its `ForkSpec`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path

from reverie.context.compaction import Compactor
from reverie.context.conversation import Conversation
from reverie.context.preparer import Preparer
from reverie.extensions.hooks.verdict import FiresHooks, NoHooks
from reverie.memory.fork_runner import ForkCost, ForkListener
from reverie.messages.blocks import JsonObject, ToolResult
from reverie.messages.entries import Entry, UserEntry
from reverie.messages.message import user
from reverie.models.ledger import FOREGROUND
from reverie.models.ports import Event, Finished, ForkResult, ForkSpec, Model, Request, Retrying
from reverie.models.profiles import Profile, cost
from reverie.models.tokens.estimate import weigh_message
from reverie.models.tokens.rates import rates_for
from reverie.models.tokens.window import WindowBudget
from reverie.permissions.approval import Approver, NobodyThere
from reverie.permissions.need import Act, Need
from reverie.permissions.policy import Mode
from reverie.permissions.real_paths import is_secret_place
from reverie.session.compaction import CompactionHooks
from reverie.session.events import Replied, ToolStarted, TurnEvent
from reverie.session.loop import JoinedAttachment, Loop, LoopHost, Opening, Parts
from reverie.session.tool_calls import Permits, ToolCalls
from reverie.tools.agent import NAME as AGENT_TOOL
from reverie.tools.desk import MemoryWriter
from reverie.tools.registry import Registry
from reverie.tools.span import RecallSpan
from reverie.values import value

MARKER = "<fork_boilerplate_tag>"
"""Stands in the first message of every fork; the Agent tool refuses where it finds it."""
PLACEHOLDER = "The call was handed over; its result will be told to the main agent."
"""The one result that every open call gets in a fork, so that parallel forks share all but their directive."""
EVERY_TOOL = "*"
"""As the only tool of a spec: whatever the parent may do, except to start agents."""
NO_RECURSION = "You are a fork yourself and start no further agents; do this part of the work directly."


@value
class ForkRecord:
    """Where a fork's own entries go: a sidechain file, or nowhere."""

    agent_id: str
    write: Callable[[Sequence[Entry]], None]


@dataclass(slots=True)
class ChildHost(LoopHost):
    """What a child agent's loop is offered: how its conversation begins, and the messages it gets."""

    opening: Callable[[], Opening]
    letters: Callable[[], Sequence[JoinedAttachment]] = tuple

    def render_opening(self) -> Opening:
        """How its conversation begins."""
        return self.opening()

    def at_boundary(self) -> Sequence[JoinedAttachment]:
        """The messages that arrived."""
        return self.letters()


def is_fork(log: Conversation) -> bool:
    """Whether a conversation is a fork's own; its first message may have left the view."""
    return any(
        isinstance(entry, UserEntry) and entry.envelope.is_sidechain and entry.message.text.startswith(MARKER)
        for entry in log.entries
    )


async def run_fork(
    spec: ForkSpec,
    parent: Loop,
    *,
    emit: Callable[[TurnEvent], None] = lambda _event: None,
    recorded: ForkRecord | None = None,
    starts_after: ForkStart | None = None,
    may: Callable[[Need, JsonObject], str] | None = None,
    memories: MemoryWriter | None = None,
    tools: Registry | None = None,
    other_model: ForkModel | None = None,
) -> ForkResult:
    """Run a fork to its end. It never raises for the outside world; its ending says what happened.

    `may` judges each call besides the tools and paths of the spec; a sentence refuses. `memories` writes what the fork
    puts into memory directories; without it such a file is a file like any other. `tools` do the work of the parent's
    tools of the same names, which the model is still told of.
    """
    inherited = len(parent.parts.log.entries)
    child = build_fork(
        spec,
        parent,
        emit=emit,
        recorded=recorded,
        starts_after=starts_after,
        may=may,
        tools=tools,
        other_model=other_model,
    )
    child.parts.calls.desk.memories = memories
    ended = await child.turn(directive(spec.prompt), source="system")
    added = child.parts.log.entries[inherited:]
    used = tuple(call.name for entry in added for call in getattr(getattr(entry, "message", None), "tool_uses", ()))
    # What the session has spent meanwhile may be that of a turn beside it; only its own calls are its own cost.
    reported = _reported_cost(child.parts.model)
    price = cost(ended.usage, child.parts.preparer.facts) or 0.0
    return ForkResult(ended.text, ended.ending, ended.rounds, ended.usage, reported or price, used)


def _reported_cost(model: Model) -> float | None:
    """What the calls of a fork cost by the word of whoever answered them."""
    while not isinstance(model, PurposedModel):
        inner = getattr(model, "inner", None)
        if inner is None:
            return None
        model = inner
    return model.reported_usd


@value
class ForkModel:
    """Who answers a fork in the place of the parent's model."""

    model: Model
    facts: Profile
    budget: WindowBudget


class LoopForks:
    """Runs forks of one conversation for work that knows no loop: the `ForkRunner` of memory."""

    def __init__(self, parent: Loop, other: ForkModel | None = None) -> None:
        """`other` answers where the parent has no model that could."""
        self._parent = parent
        self._other = other

    @property
    def model_name(self) -> str:
        return (self._other or self._parent.parts).model.name

    async def run(
        self, spec: ForkSpec, *, listener: ForkListener, refuse: Callable[[str, JsonObject], str]
    ) -> ForkResult:
        """Run a fork to its end; `refuse` judges each call by its tool and input, and a sentence refuses it."""

        def hear(event: TurnEvent) -> None:
            match event:
                case Replied(message=message):
                    listener.replied(message.text)
                case ToolStarted(name=name, given=given):
                    listener.called(name, given)
                case _:
                    pass

        return await run_fork(
            spec,
            self._parent,
            emit=hear,
            may=lambda need, arguments: refuse(need.tool, arguments),
            other_model=self._other,
        )

    def measure(self, spec: ForkSpec) -> ForkCost:
        """Put the first request of a fork together and count it; nothing is sent."""
        child = build_fork(spec, self._parent, emit=lambda _event: None, other_model=self._other)
        child.open()
        log, preparer = child.parts.log, child.parts.preparer
        log.append(UserEntry(log.envelope(), user(directive(spec.prompt)), source="system"))
        first_tokens = preparer.measure(log)
        long_lived_tokens = 0
        if child.parts.settings.cache.system_ttl == "1h":
            # System text and tools are asked to live for an hour, which costs more to write.
            rates = rates_for(preparer.facts)
            messages = sum(weigh_message(item.message, rates) for item in log.view.items)
            long_lived_tokens = max(0, first_tokens - round(messages))
        return ForkCost(first_tokens, long_lived_tokens, preparer.facts)


def build_fork(
    spec: ForkSpec,
    parent: Loop,
    *,
    emit: Callable[[TurnEvent], None],
    recorded: ForkRecord | None = None,
    starts_after: ForkStart | None = None,
    may: Callable[[Need, JsonObject], str] | None = None,
    tools: Registry | None = None,
    hooks: FiresHooks | None = None,
    approver: Approver | None = None,
    compacts: bool = False,
    other_model: ForkModel | None = None,
) -> Loop:
    """The child's loop, ready for its one turn.

    Without `hooks` the user's scripts are not asked, and without an `approver` every question is a no: both are for
    work that may do little. With `compacts` its conversation is compacted like any other when its window fills.
    """
    parts = parent.parts
    log = parts.log.fork(
        write=recorded.write if recorded else lambda _entries: None,
        stamp=lambda envelope: replace(
            envelope, is_sidechain=True, agent_id=recorded.agent_id if recorded else spec.label
        ),
    )
    _answer_open_calls(log)
    preparer = parts.preparer.copy()
    model: Model = PurposedModel(other_model.model if other_model else parts.model, spec.label)
    if other_model is not None:
        preparer.switch_model(model.name, other_model.facts, other_model.budget, "")
    if starts_after is not None:
        model = starts_after.wrap_model(model)
    desk = parts.calls.desk.copy()
    if spec.paths:
        desk.is_closed = is_secret_place
    # The session's own files lie together with its scratch folder.
    readable = (*spec.paths, *spec.reads, desk.project, desk.scratch.parent)
    limits = _limits(spec, readable)
    calls = ToolCalls(
        _rereading(tools or parts.calls.tools, log, preparer),
        desk,
        _permits(spec, parts.calls.permits, readable),
        approver or NobodyThere(),
        hooks or NoHooks(),
        emit,
        agent=spec.label,
        refuse=lambda need, arguments: _recursion(need) or limits(need) or (may(need, arguments) if may else ""),
        asking=parts.calls.asking,
    )
    host = ChildHost(parts.host.render_opening)
    listener = CompactionHooks(hooks or NoHooks(), emit)
    return Loop(
        Parts(
            log=log,
            preparer=preparer,
            model=model,
            calls=calls,
            compactor=Compactor(log, preparer, host, listener, is_internal=not compacts),
            hooks=hooks or NoHooks(),
            governor=parts.governor,
            settings=parts.settings,
            now=parts.now,
            emit=emit,
            host=host,
            max_rounds=spec.max_rounds,
            allowance=None if spec.label in FOREGROUND else parts.governor.refuses,
            max_output_tokens=parts.max_output_tokens,
        )
    )


def directive(prompt: str) -> str:
    """A fork's own message."""
    return f"{MARKER}\n{prompt}"


class ForkStart:
    """Lets parallel forks begin once the first one's answer has begun, so that the shared prefix is written once."""

    def __init__(self) -> None:
        self._begun = asyncio.Event()
        self._has_leader = False

    def wrap_model(self, model: Model) -> Model:
        """A fork's model: the first to ask goes ahead, all others wait for its first word."""
        return _Waiting(model, self)

    async def ready(self) -> bool:
        """Wait until the prefix is in the cache; whether this is the one that puts it there."""
        if not self._has_leader:
            self._has_leader = True
            return True
        await self._begun.wait()
        return False

    def begun(self) -> None:
        """The leader's answer has begun, or it failed; nobody waits any longer."""
        self._begun.set()


class _Waiting:
    def __init__(self, model: Model, starting: ForkStart) -> None:
        self.inner = model
        self._starting = starting

    @property
    def name(self) -> str:
        return self.inner.name

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        leads = await self._starting.ready()
        try:
            async with aclosing(self.inner.stream(request)) as events:
                async for event in events:
                    if not isinstance(event, Retrying):
                        self._starting.begun()
                    yield event
        finally:
            if leads:
                self._starting.begun()


class PurposedModel:
    """The parent's model under another purpose, for the ledger."""

    def __init__(self, model: Model, purpose: str) -> None:
        # The innermost would have the last word; what counts is what this call is for.
        self.inner: Model = model.inner if isinstance(model, PurposedModel) else model
        self._purpose = purpose
        self.reported_usd: float | None = None
        """What its calls have cost so far, where whoever answers says so."""

    @property
    def name(self) -> str:
        return self.inner.name

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        async with aclosing(self.inner.stream(replace(request, purpose=self._purpose))) as events:
            async for event in events:
                if isinstance(event, Finished) and event.reply.cost_usd is not None:
                    self.reported_usd = (self.reported_usd or 0.0) + event.reply.cost_usd
                yield event


def _answer_open_calls(log: Conversation) -> None:
    """Give every open call of the parent's last reply the same placeholder."""
    answered = {result.tool_use_id for item in log.view.items for result in item.message.tool_results}
    waiting = [call.id for item in log.view.items for call in item.message.tool_uses if call.id not in answered]
    if waiting:
        results = (ToolResult(call, PLACEHOLDER) for call in waiting)
        log.append(UserEntry(log.envelope(), user(*results), source="system"))


def _rereading(tools: Registry, log: Conversation, preparer: Preparer) -> Registry:
    """The tools, of which the one that reads messages again reads those of the fork."""
    own = RecallSpan(lambda **place: preparer.read_span(log, **place))
    return Registry(own if tool.spec.name == own.spec.name else tool for tool in tools)


def _recursion(need: Need) -> str:
    return NO_RECURSION if need.tool == AGENT_TOOL else ""


def _limits(spec: ForkSpec, readable: Sequence[Path]) -> Callable[[Need], str]:
    """The tools and paths of a spec as a judgement on a call. Nobody sees what such work reads, so it reads little."""
    roots = tuple(_real(path) for path in spec.paths)
    read_roots = tuple(_real(path) for path in readable)

    def judge_need(need: Need) -> str:
        if need.tool not in spec.tools and EVERY_TOOL not in spec.tools:
            allowed = ", ".join(spec.tools) or "none"
            return f"{need.tool} is not available in this background task ({spec.label}); it may use: {allowed}."
        if not roots or need.act not in (Act.EDIT, Act.READ):
            return ""
        if need.act is Act.EDIT:
            outside = [path for path in need.paths if not _is_inside(_real(path), roots)]
            where = ", ".join(map(str, spec.paths))
            return f"This background task may write only below {where}, not {outside[0]}." if outside else ""
        for path in need.paths:
            if not _is_inside(_real(path), read_roots):
                return f"This background task reads only the project, the memory and its own session, not {path}."
            if is_secret_place(path):
                return f"{path} is a place where secrets are kept; background tasks do not read it."
        return ""

    return judge_need


def _permits(spec: ForkSpec, permits: Permits, readable: Sequence[Path]) -> Permits:
    """Background work reads and edits within its limits unasked; what the user forbids stays forbidden."""
    policy = permits.policy
    if spec.paths:
        policy = policy.with_roots(*readable).with_mode(Mode.ACCEPT_EDITS)
    return replace(permits, policy=policy, remember=lambda _rule, _scope: None)


def _real(path: Path) -> Path:
    return path.resolve()


def _is_inside(path: Path, roots: Sequence[Path]) -> bool:
    return any(path == root or root in path.parents for root in roots)
