"""One running simulation: a provider, its clock, its log and the faults that were asked for by hand.

Takes the bytes of a request and gives back what is to be sent; only the sending is left to `app`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from datetime import datetime

from reverie.messages.blocks import Json, JsonObject
from reverie.models.ports import Clock
from reverie.values import value
from reverie_simulator.answers import ErrorAnswer, MessageAnswer, PromptCount
from reverie_simulator.api_error import ApiError
from reverie_simulator.clock import MovableClock
from reverie_simulator.explain import Explanation
from reverie_simulator.provider import SimulatedProvider
from reverie_simulator.records import Record, RequestLog, without_secrets
from reverie_simulator.rules.body import parse_body
from reverie_simulator.rules.headers import read_headers
from reverie_simulator.script import Incoming, RuleScript, Script, ScriptAction

MESSAGES = "/v1/messages"
COUNT_TOKENS = "/v1/messages/count_tokens"


@value
class Handled:
    """A request that was dealt with and is to be answered."""

    request_id: str
    result: MessageAnswer | PromptCount | ErrorAnswer


class Simulation:
    """Everything that one run of the simulator remembers."""

    def __init__(
        self, *, clock: Clock, seed: int, script: Script | None = None, window_tokens: int | None = None
    ) -> None:
        self.seed = seed
        self.clock = MovableClock(clock)
        self.provider = SimulatedProvider(seed=seed, script=self._act, window_tokens=window_tokens)
        self.log = RequestLog()
        self._script: Script = script or RuleScript(())
        self._pending: deque[ScriptAction] = deque()

    def use_script(self, script: Script) -> None:
        """Follow another script from now on."""
        self._script = script

    def add_actions(self, *actions: ScriptAction) -> None:
        """Let the next requests get these actions before the script is asked."""
        self._pending.extend(actions)

    def forget(self) -> None:
        """Empty the cache, the log and the faults that wait; the script stays."""
        self.provider.cache.clear()
        self.log.clear()
        self._pending.clear()

    def handle(self, path: str, raw: bytes, headers: Mapping[str, str]) -> Handled:
        """Deal with the bytes of one request; header names are in lower case."""
        now, request_id = self.clock.now(), self.provider.new_id("req")
        body, result = self._result(path, raw, headers, now)
        status, error, message, explanations = _summary(result)
        self.log.add(
            Record(
                number=self.log.next_number(),
                request_id=request_id,
                when=now,
                path=path,
                headers=without_secrets(headers),
                body=body,
                status=status,
                error=error,
                message=message,
                explanations=explanations,
            )
        )
        return Handled(request_id, result)

    def _result(
        self, path: str, raw: bytes, headers: Mapping[str, str], now: datetime
    ) -> tuple[Json, MessageAnswer | PromptCount | ErrorAnswer]:
        allowed = read_headers(headers)
        if isinstance(allowed, ApiError):
            return None, ErrorAnswer(allowed)
        body = parse_body(raw)
        if isinstance(body, ApiError):
            return None, ErrorAnswer(body)
        if path == COUNT_TOKENS:
            return body, self.provider.count(body, headers)
        return body, self.provider.answer(body, headers, now)

    def _act(self, incoming: Incoming) -> ScriptAction | None:
        return self._pending.popleft() if self._pending else self._script(incoming)


def _summary(
    result: MessageAnswer | PromptCount | ErrorAnswer,
) -> tuple[int, str | None, JsonObject | None, tuple[Explanation, ...]]:
    match result:
        case ErrorAnswer(error=error):
            return error.status, error.message, None, ()
        case PromptCount():
            return 200, None, result.as_json(), ()
        case MessageAnswer():
            return 200, None, result.message, tuple(outcome.explanation for outcome in result.outcomes)
