"""`Hooks`: all declared hooks, and `fire`, which runs those that match an event.

They run in parallel; the order of their sources decides only how their results are combined. Nothing that a hook
does can fail a turn: each failure is a warning in the verdict. Hooks of a project that the user has not agreed to are
listed as `waiting` and do not run.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from reverie.errors import Error
from reverie.extensions.hooks.consent import part_of
from reverie.extensions.hooks.declarations import SOURCES, Declared, Handler, Hook, HookKind
from reverie.extensions.hooks.events import EVENTS
from reverie.extensions.hooks.matcher import matches
from reverie.extensions.hooks.run import Effects, FiredEvent, HookContext, label, run_hook
from reverie.extensions.hooks.verdict import NOTHING, HookVerdict, merge_verdicts
from reverie.files import write_atomic
from reverie.files.trust import TrustAnswers, TrustPart
from reverie.messages.blocks import JsonObject
from reverie.settings import HookSettings as Limits

MAX_SESSION_END_SECONDS = 60.0
_POLICY = "policy_settings"


class Hooks:
    """The hooks of one session. Mutable: hooks may join, run out, and work in the background."""

    def __init__(
        self,
        declared: Iterable[Declared],
        *,
        limits: Limits,
        context: HookContext,
        facts: Callable[[], JsonObject] = dict,
        trust: TrustAnswers = TrustAnswers(),  # noqa: B008 - a frozen value
        spills: Path | None = None,
        effects: Effects = Effects(),  # noqa: B008 - a frozen value
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        """`facts` gives the common fields of every payload; `spills` is the folder for what is too long to read.

        `wake` is called when a hook in the background has something that cannot wait for the next turn.
        """
        self._declared = tuple(declared)
        self._limits = limits
        self._context = context
        self._facts = facts
        self.answers = trust
        """The user's newest answers about what came with the project."""
        self._spills = spills
        self.effects = effects
        self._wake = wake
        self._used: set[Hook] = set()
        self._background: set[asyncio.Task[None]] = set()
        self._arrived: list[HookVerdict] = []
        self._by_event: dict[str, tuple[Hook, ...]] = {}
        self._waiting: tuple[TrustPart, ...] = ()
        self._arrange()

    @property
    def hooks(self) -> tuple[Hook, ...]:
        """All that may run, by event and in the order of their sources."""
        return tuple(hook for hooks in self._by_event.values() for hook in hooks)

    @property
    def waiting(self) -> tuple[TrustPart, ...]:
        """What came with the project and needs the user's yes first."""
        return self._waiting

    @property
    def problems(self) -> tuple[str, ...]:
        """Declarations that were passed over, a sentence each."""
        problems = (problem for declared in self._declared for problem in declared.problems)
        return tuple(dict.fromkeys([*problems, *filter(None, [self.answers.problem])]))

    def trust(self, trust: TrustAnswers) -> None:
        """Take the user's newest answers."""
        self.answers = trust
        self._arrange()

    def join(self, declared: Declared) -> Callable[[], None]:
        """Add hooks temporarily, such as those of a skill or an agent; returns a function that removes them."""
        self._declared = (*self._declared, declared)
        self._arrange()

        def leave() -> None:
            self._declared = tuple(one for one in self._declared if one is not declared)
            self._arrange()

        return leave

    async def fire(self, event: str, payload: JsonObject, *, subject: str = "") -> HookVerdict:
        """Run every hook that matches the event.

        `payload` holds the event's own fields; `subject` is what matchers look at, where it is not the field that the
        format names. Raises nothing but the caller's own cancellation, which ends all programs.
        """
        if not self._by_event[event] and not self._waiting:
            return NOTHING
        changed = self._look_again(event)
        declared_event = EVENTS[event]
        subject = subject or str(payload.get(declared_event.subject) or "")
        fired = FiredEvent(declared_event, payload)
        chosen = _once(hook for hook in self._by_event.get(event, ()) if self._concerns(hook, fired, subject))
        if not chosen:
            return HookVerdict(messages=changed) if changed else NOTHING
        whole = {**self._facts(), **payload, "hook_event_name": event}
        fired = FiredEvent(declared_event, whole, json.dumps(whole, default=str))
        self._used.update(hook for hook in chosen if hook.once)
        for hook in chosen:
            if hook.handler.in_background:
                self._start(hook, fired)
        foreground = [hook for hook in chosen if not hook.handler.in_background]
        async with asyncio.TaskGroup() as together:
            running = [
                together.create_task(self._run(hook, fired, self._timeout(hook, foreground))) for hook in foreground
            ]
        verdict = merge_verdicts([HookVerdict(messages=changed), *(task.result() for task in running)])
        if event == "ConfigChange" and payload.get("source") == _POLICY and verdict.blocked is not None:
            # Nobody may keep out what an administrator says.
            verdict = replace(verdict, blocked=None, messages=(*verdict.messages, verdict.blocked))
        return verdict

    def take_background_results(self) -> HookVerdict:
        """Results of background hooks since the last call; they no longer decide anything."""
        if not self._arrived:
            return NOTHING
        verdict, self._arrived = merge_verdicts(self._arrived), []
        return verdict

    async def close(self, *, grace_seconds: float = 0.0) -> None:
        """Wait a while for hooks in the background, then end them."""
        unfinished = set(self._background)
        if unfinished and grace_seconds:
            _, unfinished = await asyncio.wait(unfinished, timeout=grace_seconds)
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)

    def _arrange(self) -> None:
        waiting: list[TrustPart] = []
        hooks: list[Hook] = []
        for declared in self._declared:
            if not self._limits.enabled or (self._limits.managed_only and declared.declaration.source != "managed"):
                continue
            if declared.declaration.committed and declared.hooks:
                part = part_of(declared, self._context.project)
                waiting += self.answers.waiting([part])
                if not self.answers.accepts(part):
                    continue
            hooks += declared.hooks
        hooks.sort(key=lambda hook: SOURCES.index(hook.source) if hook.source in SOURCES else len(SOURCES))
        self._waiting = tuple(waiting)
        self._by_event = {event: tuple(hook for hook in hooks if hook.event == event) for event in EVENTS}

    def _look_again(self, event: str) -> tuple[str, ...]:
        """Sentences on hooks whose scripts have changed since they were agreed to; these do not run."""
        before = self._by_event.get(event, ())
        if (before or self._waiting) and any(declared.declaration.committed for declared in self._declared):
            self._arrange()
        runnable = set(self._by_event.get(event, ()))
        places = dict.fromkeys(hook.place for hook in before if hook not in runnable)
        return tuple(
            f"the hooks of {place} do not run: they changed after you trusted them; review them with `reverie trust`"
            for place in places
        )

    def _concerns(self, hook: Hook, fired: FiredEvent, subject: str) -> bool:
        if hook in self._used:
            return False
        event = fired.event
        if event.subject and not matches(event.name, hook.matcher, subject):
            return False
        if not hook.handler.condition:
            return True
        # A condition speaks of tool calls; at any other event it cannot hold.
        return event.is_about_tool and self.effects.covers(
            hook.handler.condition, fired.tool or subject, fired.tool_input
        )

    async def _run(self, hook: Hook, fired: FiredEvent, timeout_seconds: float) -> HookVerdict:
        name = label(hook)
        try:
            async with asyncio.timeout(timeout_seconds):
                verdict = await run_hook(hook, fired, self._context, self._limits, self.effects, timeout_seconds)
            return self._shorten_verdict(verdict)
        except TimeoutError:
            return HookVerdict(messages=(f"hook {name} timed out after {timeout_seconds:g} s and was stopped",))
        except (Error, OSError) as problem:
            return HookVerdict(messages=(f"hook {name} failed: {problem}",))
        except Exception as problem:  # noqa: BLE001 - effects are the caller's, and no hook may fail a turn
            return HookVerdict(messages=(f"hook {name} failed: {type(problem).__name__}: {problem}",))

    def _timeout(self, hook: Hook, beside: Sequence[Hook]) -> float:
        limits = self._limits
        if hook.event == "SessionEnd":
            longest_seconds = max((one.timeout_seconds or 0.0 for one in beside), default=0.0)
            total = max(limits.session_end_timeout_seconds, min(longest_seconds, MAX_SESSION_END_SECONDS))
            return min(hook.timeout_seconds or total, total)
        if hook.timeout_seconds is not None:
            return hook.timeout_seconds
        if hook.handler.kind is HookKind.PROMPT:
            return limits.prompt_timeout_seconds
        if hook.handler.kind is HookKind.AGENT:
            return limits.agent_timeout_seconds
        return limits.user_prompt_timeout_seconds if hook.event == "UserPromptSubmit" else limits.timeout_seconds

    def _start(self, hook: Hook, fired: FiredEvent) -> None:
        async def work() -> None:
            verdict = await self._run(hook, fired, self._timeout(hook, [hook]))
            refused = hook.handler.rewakes and verdict.blocked is not None
            context = (*verdict.context, *([verdict.blocked] if refused and verdict.blocked else []))
            if context or verdict.messages:
                self._arrived.append(HookVerdict(context=context, messages=verdict.messages))
            if refused:
                self._wake()

        task = asyncio.ensure_future(work())
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def _shorten_verdict(self, verdict: HookVerdict) -> HookVerdict:
        """Long output goes to a file; its beginning stays."""
        return replace(
            verdict,
            blocked=None if verdict.blocked is None else self._short(verdict.blocked),
            reason=self._short(verdict.reason),
            context=tuple(self._short(text) for text in verdict.context),
            stop=None if verdict.stop is None else self._short(verdict.stop),
            messages=tuple(self._short(text) for text in verdict.messages),
        )

    def _short(self, text: str) -> str:
        limit = self._limits.output_chars
        if len(text) <= limit:
            return text
        rest = "truncated"
        if self._spills is not None:
            path = self._spills / f"hook-{sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}.txt"
            try:
                write_atomic(path, text.encode("utf-8", "replace"), durable=False)
                rest = f"truncated; the full text ({len(text):,} characters) is in {path}"
            except Error as problem:
                rest = f"{rest}: {problem}"
        return f"{text[:limit]}\n[{rest}]"


def _once(hooks: Iterable[Hook]) -> list[Hook]:
    """Equal handlers of several sources are one; it keeps the place of the first."""
    first: dict[Handler, Hook] = {}
    for hook in hooks:
        first.setdefault(hook.handler, hook)
    return list(first.values())
