"""One running simulation: a provider, its clock, the log of requests and replies, and faults asked for by hand.

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
from reverie_simulator.api_error import ApiError, invalid, usual_error
from reverie_simulator.clock import MovableClock
from reverie_simulator.explain import Explanation
from reverie_simulator.protocols.chat import CHAT_COMPLETIONS, ChatProtocol
from reverie_simulator.protocols.foreign import foreign_facts
from reverie_simulator.protocols.gemini import GEMINI_MODELS, GeminiProtocol
from reverie_simulator.protocols.responses import RESPONSES, ResponsesProtocol
from reverie_simulator.protocols.wire_protocol import MessagesProtocol, TranslatedProtocol, WireProtocol
from reverie_simulator.provider import SimulatedProvider
from reverie_simulator.rules.check import parse_body
from reverie_simulator.rules.headers import read_headers
from reverie_simulator.script import Incoming, RuleScript, Script, ScriptAction
from reverie_simulator.wire import text_at

MESSAGES = "/v1/messages"
COUNT_TOKENS = "/v1/messages/count_tokens"


@value
class Handled:
    """A request that was dealt with and is to be answered."""

    request_id: str
    result: MessageAnswer | PromptCount | ErrorAnswer
    protocol: WireProtocol
    """In which the answer is to be sent."""


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
        self._messages = MessagesProtocol()
        self._translated: dict[str, TranslatedProtocol] = {
            CHAT_COMPLETIONS: ChatProtocol(),
            RESPONSES: ResponsesProtocol(),
            GEMINI_MODELS: GeminiProtocol(),
        }

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
        protocol = self._translated.get(GEMINI_MODELS if path.startswith(GEMINI_MODELS) else path)
        if protocol is None:
            body, result = self._result(path, raw, headers, now)
        else:
            body, result = self._translated_result(protocol, path, raw, headers, now)
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
        return Handled(request_id, result, protocol or self._messages)

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

    def _translated_result(
        self, protocol: TranslatedProtocol, path: str, raw: bytes, headers: Mapping[str, str], now: datetime
    ) -> tuple[Json, MessageAnswer | ErrorAnswer]:
        body = parse_body(raw)
        if isinstance(body, ApiError) or not isinstance(body, dict):
            return None, ErrorAnswer(body if isinstance(body, ApiError) else invalid("The body is not a JSON object."))
        if not any(headers.get(name) for name in KEY_HEADERS):
            return body, ErrorAnswer(usual_error(401))
        request = protocol.translate(path, body)
        if isinstance(request, ApiError):
            return body, ErrorAnswer(request)
        answer = self.provider.answer_translated(request, foreign_facts(text_at(request, "model")), headers, now)
        if isinstance(answer, MessageAnswer):
            protocol.hold(body, request, answer.message)
        return body, answer

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


RECORDS_MAX = 500
KEY_HEADERS = ("authorization", "api-key", "x-api-key", "x-goog-api-key")
SECRET_HEADERS = (*KEY_HEADERS, "cookie")


@value
class Record:
    """One request and what became of it."""

    number: int
    request_id: str
    when: datetime
    path: str
    headers: Mapping[str, str]
    """Without keys."""
    body: Json
    """As it was sent, in whichever protocol."""
    status: int
    error: str | None = None
    message: JsonObject | None = None
    """The reply in the form of the Messages API; for a count the counted numbers."""
    explanations: tuple[Explanation, ...] = ()
    """What the cache did, in each pass over the model."""

    def as_json(self) -> dict[str, Json]:
        """Everything of the record."""
        return {
            **self.outline(),
            "headers": dict(self.headers),
            "body": self.body,
            "reply": None if self.message is None else dict(self.message),
        }

    def outline(self) -> dict[str, Json]:
        """What fits in a list, and the explanation of the cache."""
        usage = None if self.message is None else self.message.get("usage")
        return {
            "number": self.number,
            "request_id": self.request_id,
            "when": self.when.isoformat(),
            "path": self.path,
            "status": self.status,
            "error": self.error,
            "usage": usage,
            "cache": [explanation.as_json() for explanation in self.explanations],
        }


class RequestLog:
    """The last requests, oldest first."""

    def __init__(self) -> None:
        self._records: deque[Record] = deque(maxlen=RECORDS_MAX)
        self._count = 0

    def next_number(self) -> int:
        """The number of the request that comes now."""
        self._count += 1
        return self._count

    def add(self, record: Record) -> None:
        self._records.append(record)

    def clear(self) -> None:
        """Forget all records; numbers go on."""
        self._records.clear()

    def all(self) -> tuple[Record, ...]:
        return tuple(self._records)

    def find(self, name: str) -> Record | None:
        """A record by number or request id; `last` is the newest."""
        if name == "last":
            return self._records[-1] if self._records else None
        return next((record for record in self._records if name in (str(record.number), record.request_id)), None)


def without_secrets(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers that may be kept."""
    return {name: value for name, value in headers.items() if name not in SECRET_HEADERS}
