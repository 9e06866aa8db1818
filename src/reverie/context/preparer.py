"""From a conversation to its next request: stages, cache marks, report.

The one path by which the loop, `Window`, the client wrapper and replay make requests, so that what is measured is what
is sent. Never calls a model. `compaction` drives it and compacts between `reduce` and `request`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from reverie.context.cache_breaks import Break, announcements, extends, fingerprint, predict
from reverie.context.cache_edits import drop_invalid_edits, empty_deleted, is_cache_edit
from reverie.context.compact import too_large
from reverie.context.conversation import Conversation
from reverie.context.pipeline import prepare, stages, write_outcome_files
from reverie.context.prefix import request_from
from reverie.context.request_options import Option, cache_options, find_refused_options, with_options
from reverie.context.spans import RECALL_SPAN, Span, read_span
from reverie.context.spill import READERS
from reverie.context.stage import Reduction, StageContext, StageOutcome
from reverie.context.strategy import DEFAULT, Strategy
from reverie.errors import Unavailable
from reverie.messages.entries import Entry
from reverie.messages.message import Message
from reverie.messages.records import CLEARED
from reverie.messages.rules import Conforming
from reverie.messages.view import Item, View
from reverie.models.ports import Request
from reverie.models.profiles import NO_OVERRIDES, Profile, ProfileOverride, profile
from reverie.models.request_body import request_body
from reverie.models.tokens.count import Learner, TokenCount, count
from reverie.models.tokens.estimate import weigh_message, weigh_request
from reverie.models.tokens.rates import rates_for
from reverie.models.tokens.window import LEAST_ANSWER_TOKENS, WindowBudget, WindowLevel, scale_to_window
from reverie.settings import Settings
from reverie.values import value

_DOUBT = 0.35
"""Share of an estimate that it may be too high by."""


@value
class Report:
    """What was done to make a request, and what to expect of it."""

    tokens: int
    """The estimated size of the request."""
    level: WindowLevel
    reductions: tuple[Reduction, ...] = ()
    predicted_break: Break | None = None
    """Where this request does not extend the one before; None when it does."""
    compaction_is_due: bool = False
    """The view is above the compaction line although everything free of charge was done."""
    failures: tuple[str, ...] = ()
    """Stages that were passed over, and why."""


@value
class ReadyRequest:
    """A request ready to be sent."""

    request: Request
    report: Report
    appended: tuple[Entry, ...] = field(default=(), repr=False)
    """What the reductions added to the conversation."""

    @property
    def body(self) -> dict[str, Any]:
        """The request as a Messages API body, for those who send it themselves."""
        return request_body(self.request)


@value
class ReducedView:
    """What the stages did before a request, and how large the conversation is now."""

    outcome: StageOutcome
    scene: StageContext
    start: int
    """How many entries there were before."""
    failures: tuple[str, ...] = ()


class Preparer:
    """Makes the requests of one conversation."""

    def __init__(
        self,
        *,
        model: str,
        facts: Profile,
        budget: WindowBudget,
        settings: Settings,
        now: Callable[[], datetime],
        strategy: Strategy = DEFAULT,
        spill_path: Callable[[str], Path] | None = None,
        narrower: WindowBudget | None = None,
        overrides: Mapping[str, ProfileOverride] = NO_OVERRIDES,
        has_options: bool = True,
        rereads: bool | None = None,
    ) -> None:
        """`narrower` are the lines without the extended window. Without options a request is one that any client of the
        provider can send as it is, and what it asks for besides an answer is up to that client. `rereads` says whether
        the model can read messages again by their ids; when left out, the tools that it is offered do.
        """
        self.model = model
        self.facts = facts
        self.budget = budget
        self.effort: str = settings.model.effort or ""
        """How much the model is to put into its answers, where it takes a word on that."""
        self._narrower = narrower
        self._overrides = overrides
        self._has_options = has_options
        self._off: set[Option] = set()
        """What the provider refused in this session; shared with forks."""
        self._guessed: frozenset[Option] = frozenset()
        self.settings = settings
        self.strategy = strategy
        self._now = now
        self.spill_path = spill_path
        self._stages = stages(settings, spill_path=spill_path) if strategy.has_stages else ()
        self._rereads = rereads
        self._rates = rates_for(facts)
        self._learner = Learner()
        self._weights: dict[str, tuple[Message, int]] = {}
        self._prompt: tuple[object, object, int] = (None, None, 0)
        """System text and tools that were weighed last, and their weight."""
        self._conforming = Conforming()
        self._counted: tuple[View, TokenCount] | None = None
        """The view that was counted last."""
        self._last: Request | None = None
        self._sent_entries = 0

    def switch_model(self, model: str, facts: Profile, budget: WindowBudget, effort: str) -> Callable[[], None]:
        """Make requests for another model from now on; returns what goes back to the one before."""
        before = copy(self)
        self.model, self.facts, self.budget, self.effort = model, facts, budget, effort
        self._counted = None
        if facts != before.facts:
            self._rates, self._weights, self._learner = rates_for(facts), {}, Learner()
            self._prompt = (None, None, 0)

        def back() -> None:
            self.model, self.facts, self.budget, self.effort = before.model, before.facts, before.budget, before.effort
            self._rates, self._weights, self._learner = before._rates, before._weights, before._learner
            self._prompt, self._counted = before._prompt, None

        return back

    def copy(self) -> Preparer:
        """The same for a child that begins with this conversation."""
        child = copy(self)
        child._weights = dict(self._weights)
        child._learner = Learner()
        child._conforming = Conforming()
        return child

    def weigh(self, item: Item) -> int:
        """The estimated size of an item; remembered, since most items stay from request to request."""
        cached = self._weights.get(item.uuid)
        if cached is not None and cached[0] is item.message:
            return cached[1]
        weight = round(weigh_message(item.message, self._rates))
        if item.uuid:
            self._weights[item.uuid] = (item.message, weight)
        return weight

    def measure(self, log: Conversation) -> int:
        """The canonical count of the conversation as it stands."""
        return self._count(log.view, log).tokens

    def scene(self, log: Conversation) -> StageContext:
        """What a stage or a compaction may know now."""
        budget = self.budget.using(self.measure(log))
        names = {tool.name for tool in log.view.tools}
        # A client of its own (`Window`) may read files by tools of any name.
        reads_files = not self._has_options or not names or not names.isdisjoint(READERS)
        return StageContext(
            budget,
            self._now(),
            log.envelope,
            self.weigh,
            rereads=RECALL_SPAN in names if self._rereads is None else self._rereads,
            reads_files=reads_files,
            edits_cache=self._edits_cache,
            entries=log.entries,
        )

    def read_span(self, log: Conversation, **place: Any) -> Span:
        """Read messages of a conversation again, whether or not they are in view."""
        return read_span(log.entries, weigh=self.scene(log).weigh_text, **place)

    def reduce(self, log: Conversation) -> ReducedView:
        """Run the stages that cost nothing and never ask; a compaction may follow before `request`."""
        start = len(log.entries)
        scene = self.scene(log)
        done = prepare(
            log.projection, scene, self._stages, lambda view: self._count(view, log).tokens, write_outcome_files
        )
        log.record(done.outcome.entries)
        failures = tuple(f"{one.stage}: {one.error}" for one in done.failures)
        return ReducedView(done.outcome, done.scene, start, failures)

    def add(self, log: Conversation, outcome: StageOutcome) -> None:
        """Append what a compaction asked for."""
        log.append(*write_outcome_files(outcome).entries)

    def _count(self, view: View, log: Conversation) -> TokenCount:
        """The size of a view; asked for several times between two entries, counted once."""
        if self._counted is None or self._counted[0] is not view:
            counted = count(
                view,
                self.facts,
                entries=log.entries,
                rates=self._rates,
                learner=self._learner,
                estimate=self._estimate,
            )
            self._counted = (view, counted)
        return self._counted[1]

    def unsure(self, log: Conversation) -> Request | None:
        """The request for which the provider's own count is worth asking: one that is due for compaction only if the
        estimate is right.
        """
        counted = self._count(log.view, log)
        doubt = round(counted.estimated_tokens * _DOUBT)
        if not self.budget.compact_at_tokens < counted.tokens <= self.budget.compact_at_tokens + doubt:
            return None
        reserve = self.budget.window_tokens - self.budget.effective_tokens
        return request_from(log.view, self.facts, model=self.model, max_tokens=reserve, cache=self.settings.cache)

    def record_exact_tokens(self, log: Conversation, tokens: int) -> StageContext:
        """Take over what the provider counted for the conversation as it stands."""
        self._counted = (log.view, TokenCount(tokens, reported_tokens=tokens))
        return self.scene(log)

    def _estimate(self, view: View) -> int:
        """The weight of a whole view from what is remembered of its parts."""
        if self._prompt[0] is not view.system or self._prompt[1] is not view.tools:
            prompt = weigh_request(self.facts, system=view.system, tools=view.tools, rates=self._rates)
            self._prompt = (view.system, view.tools, prompt)
        return self._prompt[2] + sum(map(self.weigh, view.items))

    def request(self, log: Conversation, reduced: ReducedView, *, max_tokens: int | None = None) -> ReadyRequest:
        """Make the request of a conversation as it stands.

        Raises `ContextTooLong`, naming the largest message, when it does not fit; nothing is lost.
        """
        scene, outcome = reduced.scene, reduced.outcome
        view = self.adapt_view(log)
        limit = self.budget.window_tokens if self.settings.compaction.reactive_only else self.budget.blocking_tokens
        if scene.budget.used_tokens > limit and self.strategy.has_limit:
            self._estimate(view)
            raise too_large(view, scene.budget, self.weigh, self._prompt[2], compacts=self.settings.compaction.enabled)
        request = request_from(
            view,
            self.facts,
            model=self.model,
            max_tokens=self._output_tokens(max_tokens, scene.budget),
            cache=cache_options(self.settings.cache, self._off),
            conforming=self._conforming,
        )
        if self._has_options:
            request = with_options(request, self.facts, self.settings, self.budget, effort=self.effort, off=self._off)
        parted = self._predict_break(request, log)
        self._last, self._sent_entries = request, len(log.entries)
        report = Report(
            tokens=scene.budget.used_tokens,
            level=scene.budget.level,
            reductions=outcome.reductions,
            predicted_break=parted,
            compaction_is_due=scene.budget.must_compact,
            failures=reduced.failures,
        )
        return ReadyRequest(request, report, tuple(log.entries[reduced.start :]))

    def adapt_view(self, log: Conversation) -> View:
        """The view as this provider takes it."""
        view = log.view
        if not any(map(is_cache_edit, view.items)):
            return view
        return drop_invalid_edits(view) if self._edits_cache else empty_deleted(view, CLEARED)

    def do_without(self, problem: Unavailable, request: Request) -> frozenset[Option]:
        """Leave out from now on what the provider refused; nothing when the refusal has another reason.

        Where a refusal names nothing, all options are left out. What did not help is asked for again.
        """
        refused = find_refused_options(problem, request)
        if not refused:
            self._off -= self._guessed
        self._guessed = refused
        self._off |= refused
        if Option.WINDOW in refused and self._narrower is not None:
            self.model, self.budget = self.model.removesuffix("[1m]"), self._narrower
        return refused

    def adapt_request(self, request: Request, model: str) -> Request:
        """The same request for another model, with the options and within the answer that this one has."""
        facts = profile(model, self._overrides)
        most = request.max_tokens if facts.max_output_tokens is None else facts.max_output_tokens
        other = replace(request, model=model, max_tokens=min(request.max_tokens, most))
        if not self._has_options or model == request.model:
            return other
        return with_options(other, facts, self.settings, self.budget, effort=self.effort, off=self._off)

    @property
    def _edits_cache(self) -> bool:
        return self.facts.abilities.cache_edits and self._has_options and Option.CACHE_EDITS not in self._off

    def _output_tokens(self, max_tokens: int | None, budget: WindowBudget) -> int:
        """How much may be answered: as asked, within the model's limit and what the window leaves.

        Where it leaves too little, the provider refuses or stops, and the conversation is reduced.
        """
        room = max(
            budget.window_tokens - budget.effective_tokens,
            budget.window_tokens - budget.used_tokens,
            scale_to_window(LEAST_ANSWER_TOKENS, budget.window_tokens),
        )
        limits = (max_tokens or self.settings.model.max_output_tokens, self.facts.max_output_tokens, room)
        return max(1, min(limit for limit in limits if limit is not None))

    def _predict_break(self, request: Request, log: Conversation) -> Break | None:
        """Where this request leaves the one before it; looked for only when it does not simply extend it."""
        if self._last is None or extends(self._last, request):
            return None
        announced = announcements(log.entries[self._sent_entries :])
        return predict(fingerprint(request_body(self._last)), fingerprint(request_body(request)), announced)
