"""Scripts: which reply, tool call or fault a request gets.

A script is any callable from an `Incoming` request to a `ScriptAction`, or None for the default reply. `RuleScript` is
the usual one: rules in order, the first that matches and is not used up decides. Files are read by `script_file`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import TypeAlias

from reverie.messages.blocks import JsonObject
from reverie.values import value
from reverie_simulator.replies import last_results, last_user_text
from reverie_simulator.wire import blocks_at, flag_at, join_text, objects_at, text_at

FAULTS: Mapping[str, int] = {
    "rate_limit": 429,
    "overloaded": 529,
    "server_error": 500,
    "timeout": 504,
    "too_large": 413,
    "authentication": 401,
    "billing": 402,
    "permission": 403,
    "not_found": 404,
    "conflict": 409,
    "invalid": 400,
    "prompt_too_long": 400,
    "error_event": 529,
    "drop": 0,
}
"""Kinds of fault and the status each has unless another is given; the last two break a reply that has begun."""


@value
class Incoming:
    """A request as rules see it."""

    number: int
    """The first request of a run is 1; refused ones do not count."""
    body: JsonObject
    """In the form of the Messages API, whichever protocol the request came in."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Header names are in lower case."""

    @property
    def model(self) -> str:
        return text_at(self.body, "model")

    @property
    def last_user(self) -> str:
        return last_user_text(self.body)

    @property
    def system(self) -> str:
        return join_text(blocks_at(self.body, "system"))

    @property
    def tool_result(self) -> str:
        """The text of the tool results with which the conversation ends."""
        return join_text(last_results(self.body))

    @property
    def answered_tools(self) -> frozenset[str]:
        """The names of the tools whose results come with this request."""
        ids = {text_at(result, "tool_use_id") for result in last_results(self.body)}
        return frozenset(
            text_at(block, "name")
            for message in objects_at(self.body, "messages")
            for block in objects_at(message, "content")
            if block.get("type") == "tool_use" and text_at(block, "id") in ids
        )

    @property
    def streams(self) -> bool:
        return flag_at(self.body, "stream")


@value
class ToolCall:
    """A tool to call; the id is made up unless given."""

    name: str
    input: JsonObject = field(default_factory=dict)
    id: str | None = None


@value
class Fault:
    """Something that goes wrong."""

    kind: str
    status: int | None = None
    message: str | None = None
    retry_after_seconds: float | None = None
    after_events: int | None = None
    """How many events of a stream are sent before an `error_event` or a `drop`."""


@value
class ScriptAction:
    """What happens to a request. Fields that are not given are as in the default reply."""

    text: str | None = None
    """May name `{last_user}`, `{system}`, `{tool_result}`, `{model}` and `{request}`."""
    thinking: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    blocks: tuple[JsonObject, ...] = ()
    """Content as it is to appear; instead of the three above."""
    stop_reason: str | None = None
    summary: str | None = None
    """What a compaction writes, should this request set one off."""
    fault: Fault | None = None
    delay_seconds: float = 0.0
    """How long the reply waits before its first byte."""
    event_delay_seconds: float = 0.0
    """How long a stream waits before each event."""


@value
class Condition:
    """When a rule applies: everything that is given must hold. Patterns are searched, not matched in full."""

    last_user: re.Pattern[str] | None = None
    system: re.Pattern[str] | None = None
    tool_result: re.Pattern[str] | None = None
    model: re.Pattern[str] | None = None
    request: int | None = None
    has_tool_results: bool | None = None
    answers_tool: str | None = None
    """A tool whose result comes with the request."""
    offers_tool: str | None = None
    streams: bool | None = None
    headers: tuple[tuple[str, re.Pattern[str]], ...] = ()

    def holds(self, incoming: Incoming) -> bool:
        return (
            _finds(self.last_user, incoming.last_user)
            and _finds(self.system, incoming.system)
            and _finds(self.tool_result, incoming.tool_result)
            and _finds(self.model, incoming.model)
            and self.request in (None, incoming.number)
            and self.has_tool_results in (None, bool(last_results(incoming.body)))
            and (self.answers_tool is None or self.answers_tool in incoming.answered_tools)
            and (self.offers_tool is None or any(_offers(incoming, self.offers_tool)))
            and self.streams in (None, incoming.streams)
            and all(_finds(pattern, incoming.headers.get(name, "")) for name, pattern in self.headers)
        )


ALWAYS = Condition()


@value
class ScriptRule:
    """A condition and what follows, one action after another when there are several."""

    then: tuple[ScriptAction, ...]
    when: Condition = ALWAYS
    times: int | None = None
    """How often the rule may apply; None is without end, and the last action repeats."""
    name: str = ""


Script: TypeAlias = Callable[[Incoming], ScriptAction | None]


class RuleScript:
    """The rules of one run; it remembers how often each was used."""

    def __init__(self, rules: Iterable[ScriptRule]) -> None:
        self.rules = tuple(rules)
        self._used = [0] * len(self.rules)

    def __call__(self, incoming: Incoming) -> ScriptAction | None:
        for at, rule in enumerate(self.rules):
            if rule.times is not None and self._used[at] >= rule.times:
                continue
            if rule.when.holds(incoming):
                action = rule.then[min(self._used[at], len(rule.then) - 1)]
                self._used[at] += 1
                return action
        return None


def in_order(*actions: ScriptAction) -> RuleScript:
    """A script that gives these actions one after another, then the default reply."""
    return RuleScript([ScriptRule(then=actions, times=len(actions))] if actions else [])


def fill_placeholders(text: str, incoming: Incoming) -> str:
    """Put what the request says in place of `{names}`, in one pass; unknown names stay."""
    values = {
        "last_user": lambda: incoming.last_user,
        "system": lambda: incoming.system,
        "tool_result": lambda: incoming.tool_result,
        "model": lambda: incoming.model,
        "request": lambda: str(incoming.number),
    }
    return re.sub(r"\{(\w+)\}", lambda match: values[match[1]]() if match[1] in values else match[0], text)


def _finds(pattern: re.Pattern[str] | None, text: str) -> bool:
    return pattern is None or pattern.search(text) is not None


def _offers(incoming: Incoming, name: str) -> Iterable[bool]:
    return (text_at(tool, "name") == name for tool in objects_at(incoming.body, "tools"))
