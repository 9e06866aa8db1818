"""The provider without the network: a request goes in, a reply or a refusal comes out.

`SimulatedProvider` joins the rules, the prompt, the edits, the cache, the script and the bill. It reads no clock and no
file; `app` is its HTTP skin, and other parts of the package use `serve` to price requests without a reply.

`Threads` are conversations that the provider holds: a request names the reply it goes on from and brings only what is
new; it is put together with what is held before anything else looks at it. The blocks of a reply are built from an
action of a script, then cut by the limits.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from reverie.messages.blocks import Json, JsonObject
from reverie.values import value
from reverie_simulator.answers import AnswerOrRefusal, Delivery, ErrorAnswer, MessageAnswer, PromptCount, Served
from reverie_simulator.api_error import ApiError, invalid, usual_error
from reverie_simulator.cache import CacheOutcome, PromptCache
from reverie_simulator.compaction import INSTRUCTION_TOKENS, after_summary, compaction_of, summary_request
from reverie_simulator.edits import AppliedEdit, edit_prompt
from reverie_simulator.explain import Trace, miss_reason
from reverie_simulator.facts import ModelFacts, facts_of
from reverie_simulator.prompt import PromptReader, SimulatedPrompt
from reverie_simulator.replies import (
    SEARCH_TOOL,
    USUAL_THOUGHT,
    IdMaker,
    ScriptedReply,
    call_block,
    default_blocks,
    default_summary,
    must_think,
    stop_reason_of,
    text_block,
    thinking_block,
)
from reverie_simulator.rules.check import validate
from reverie_simulator.rules.headers import Headers, check_window, read_headers, window_tokens
from reverie_simulator.script import FAULTS, Fault, Incoming, Script, ScriptAction, fill_placeholders
from reverie_simulator.usage import NO_INPUT, Iteration, ReplyBill
from reverie_simulator.weights import TokenCounter, block_tokens
from reverie_simulator.wire import flag_at, number_at, object_at, objects_at, text_at, texts_at

REPLY_TOKENS = 3
"""The frame of a reply; even an empty one has some tokens."""
REMEMBERED_MESSAGES = 256
DEFAULT_EVENTS_BEFORE_BREAK = 3
DEFAULT_RETRY_AFTER_SECONDS = 1.0
"""The provider always says how long to wait after a 429."""


class SimulatedProvider:
    """One run of the simulated provider."""

    def __init__(
        self,
        *,
        seed: int,
        script: Script | None = None,
        counter: TokenCounter | None = None,
        window_tokens: int | None = None,
    ) -> None:
        """`window_tokens` is the window of every model instead of its own, so that short sessions fill it."""
        self.counter = counter or TokenCounter(seed)
        self.reader = PromptReader(self.counter)
        self.cache = PromptCache()
        self.script: Script = script or _no_script
        self.new_id = IdMaker(seed)
        self._window = window_tokens
        self._requests = 0
        self._threads = Threads()
        self._traces: OrderedDict[str, Trace] = OrderedDict()

    def answer(self, body: Json, headers: Mapping[str, str], now: datetime) -> AnswerOrRefusal:
        """Answer a request for a message; `now` is when it began."""
        whole = self._threads.whole(body) if isinstance(body, dict) else body
        if isinstance(whole, ApiError):
            return ErrorAnswer(whole)
        read = _check_request(whole, headers, counts_only=False)
        if isinstance(read, ApiError):
            return ErrorAnswer(read)
        return self._answer(read, headers, now)

    def answer_translated(
        self, body: JsonObject, facts: ModelFacts, headers: Mapping[str, str], now: datetime
    ) -> AnswerOrRefusal:
        """Answer a request of another protocol, which was checked there and brought into the form of this one."""
        return self._answer(_Read(body, Headers(), facts), headers, now)

    def _answer(self, read: _Read, headers: Mapping[str, str], now: datetime) -> AnswerOrRefusal:
        self._requests += 1
        incoming = Incoming(self._requests, read.body, headers)
        action = self.script(incoming) or ScriptAction()
        delivery = _delivery(action)
        if action.fault is not None and (refusal := _fault_error(action.fault, self._window_of(read), incoming)):
            return ErrorAnswer(refusal, delivery)
        prompt, applied = edit_prompt(self.reader.read(read.body, read.facts), read.body)
        if problem := check_window(prompt, read.body, self._window_of(read)):
            return ErrorAnswer(invalid(problem), delivery)
        return self._reply(_Turn(read, incoming, action, delivery, now), prompt, applied)

    def _window_of(self, read: _Read) -> int:
        return self._window or window_tokens(read.facts, read.headers)

    def count(self, body: Json, headers: Mapping[str, str]) -> PromptCount | ErrorAnswer:
        """Count the tokens of a request; existing summaries and edits apply, no compaction runs."""
        read = _check_request(body, headers, counts_only=True)
        if isinstance(read, ApiError):
            return ErrorAnswer(read)
        original = self.reader.read(read.body, read.facts)
        prompt, _ = edit_prompt(original, read.body)
        has_edits = bool(object_at(read.body, "context_management"))
        return PromptCount(prompt.tokens, original.tokens if has_edits else None)

    def serve(self, body: JsonObject, now: datetime) -> Served | None:
        """Send a well-formed request through edits and cache without a reply; None for an unknown model."""
        facts = facts_of(text_at(body, "model"))
        if facts is None:
            return None
        prompt, applied = edit_prompt(self.reader.read(body, facts), body)
        return Served(prompt, applied, self.cache.serve(prompt, now))

    def _reply(self, turn: _Turn, prompt: SimulatedPrompt, applied: tuple[AppliedEdit, ...]) -> MessageAnswer:
        compaction = compaction_of(turn.read.body)
        outcomes: list[CacheOutcome] = []
        iterations: list[Iteration] = []
        opening: tuple[JsonObject, ...] = ()
        if compaction is not None and compaction.runs_on(prompt):
            opening, prompt = self._compact(turn, prompt, outcomes, iterations)
        if compaction is not None and opening and compaction.pauses:
            reply, usage, reply_tokens = ScriptedReply(opening, "compaction"), NO_INPUT, 0
        else:
            reply, reply_tokens = self._write_reply(turn, prompt)
            reply = ScriptedReply((*opening, *reply.blocks), reply.stop_reason, reply.stop_sequence)
            outcomes.append(self.cache.serve(prompt, turn.now))
            usage = outcomes[-1].usage
            iterations.append(Iteration("message", usage, reply_tokens))
        bill = ReplyBill(
            cache=usage,
            output_tokens=reply_tokens,
            thinking_tokens=self._thinking_tokens(reply, turn.read.facts),
            iterations=tuple(iterations) if compaction is not None else None,
            geography="global" if turn.read.facts.reports_stop_details else "not_available",
            edits_cache=turn.read.headers.features.cache_edits,
            web_searches=sum(block.get("name") == SEARCH_TOOL for block in reply.blocks if _is_served(block)),
        )
        message = self._message(turn, reply, bill, applied, outcomes[-1].trace)
        first = ReplyBill(outcomes[0].usage, 0, geography=bill.geography)
        return MessageAnswer(
            request=turn.read.body,
            when=turn.now,
            message=message,
            opening_usage=first.start(min(reply_tokens, 1)),
            final_usage=bill.final(),
            outcomes=tuple(outcomes),
            streams=flag_at(turn.read.body, "stream"),
            delivery=turn.delivery,
        )

    def _compact(
        self, turn: _Turn, prompt: SimulatedPrompt, outcomes: list[CacheOutcome], iterations: list[Iteration]
    ) -> tuple[tuple[JsonObject, ...], SimulatedPrompt]:
        """Write the summary; an empty one in the script stands for a summary that failed."""
        facts = turn.read.facts
        instruction_tokens = self.counter.stretch(INSTRUCTION_TOKENS, facts.tokens_factor)
        outcomes.append(self.cache.serve(summary_request(prompt, instruction_tokens), turn.now))
        scripted = turn.action.summary
        summary = default_summary(turn.read.body) if scripted is None else scripted
        tokens = REPLY_TOKENS + self.counter.text(summary, facts.tokens_factor)
        iterations.append(Iteration("compaction", outcomes[-1].usage, tokens))
        if summary:
            prompt = after_summary(prompt, self.reader.summary_piece(summary, facts))
        return ({"type": "compaction", "content": summary or None},), prompt

    def _write_reply(self, turn: _Turn, prompt: SimulatedPrompt) -> tuple[ScriptedReply, int]:
        """What the model says within the limits of the request, and how long it is."""
        facts = turn.read.facts

        def tokens(block: JsonObject) -> int:
            return block_tokens(block, facts, self.counter)

        reply = compose_reply(turn.action, turn.incoming, self.new_id)
        room = self._window_of(turn.read) - prompt.tokens
        reply = cut_to_limits(reply, turn.read.body, room, tokens)
        total = sum(tokens(block) for block in reply.blocks)
        return reply, total + REPLY_TOKENS if reply.blocks else 0

    def _thinking_tokens(self, reply: ScriptedReply, facts: ModelFacts) -> int | None:
        if not facts.reports_thinking_tokens:
            return None
        thinking = (block for block in reply.blocks if block.get("type") in {"thinking", "redacted_thinking"})
        return sum(block_tokens(block, facts, self.counter) for block in thinking)

    def _message(
        self, turn: _Turn, reply: ScriptedReply, bill: ReplyBill, applied: tuple[AppliedEdit, ...], trace: Trace
    ) -> JsonObject:
        message: dict[str, Json] = {
            "model": turn.read.facts.name,
            "id": self.new_id("msg"),
            "type": "message",
            "role": "assistant",
            "content": [dict(block) for block in reply.blocks],
            "stop_reason": reply.stop_reason,
            "stop_sequence": reply.stop_sequence,
        }
        if turn.read.facts.reports_stop_details:
            message["stop_details"] = None
        message["usage"] = bill.message()
        features = turn.read.headers.features
        if features.context_management or features.compaction:
            message["context_management"] = {"applied_edits": [edit.as_json() for edit in applied]}
        if "diagnostics" in turn.read.body:
            message["diagnostics"] = self._diagnosis(turn.read.body, trace)
        self._remember(text_at(message, "id"), trace)
        self._threads.hold(turn.read.body, message)
        return message

    def _diagnosis(self, body: JsonObject, trace: Trace) -> Json:
        previous = object_at(body, "diagnostics").get("previous_message_id")
        if not isinstance(previous, str):
            return None
        reason = miss_reason(trace, self._traces.get(previous))
        return None if reason is None else {"cache_miss_reason": reason}

    def _remember(self, message_id: str, trace: Trace) -> None:
        self._traces[message_id] = trace
        if len(self._traces) > REMEMBERED_MESSAGES:
            self._traces.popitem(last=False)


@value
class _Read:
    """A request that passed all checks that need no counting."""

    body: JsonObject
    headers: Headers
    facts: ModelFacts


@value
class _Turn:
    """A request under way."""

    read: _Read
    incoming: Incoming
    action: ScriptAction
    delivery: Delivery
    now: datetime


def _is_served(block: JsonObject) -> bool:
    return block.get("type") == "server_tool_use"


def _no_script(_: Incoming) -> ScriptAction | None:
    return None


def _check_request(body: Json, headers: Mapping[str, str], *, counts_only: bool) -> _Read | ApiError:
    read = read_headers(headers)
    if isinstance(read, ApiError):
        return read
    if error := validate(body, read, counts_only=counts_only):
        return error
    assert isinstance(body, dict)
    facts = facts_of(text_at(body, "model"))
    assert facts is not None
    return _Read(body, read, facts)


def _delivery(action: ScriptAction) -> Delivery:
    fault = action.fault
    breaks = fault is not None and fault.kind in {"error_event", "drop"}
    after = fault.after_events if fault is not None else None
    return Delivery(
        delay_seconds=action.delay_seconds,
        event_delay_seconds=action.event_delay_seconds,
        breaks_after=(DEFAULT_EVENTS_BEFORE_BREAK if after is None else after) if breaks else None,
        breaks_with=_error(fault) if fault is not None and fault.kind == "error_event" else None,
    )


def _error(fault: Fault) -> ApiError:
    usual = usual_error(fault.status or FAULTS[fault.kind])
    waits = DEFAULT_RETRY_AFTER_SECONDS if usual.status == 429 else None
    return ApiError(
        usual.status,
        fault.message or usual.message,
        retry_after_seconds=waits if fault.retry_after_seconds is None else fault.retry_after_seconds,
    )


def _fault_error(fault: Fault, window: int, incoming: Incoming) -> ApiError | None:
    """The refusal that a fault is, or None when it breaks a reply that has begun."""
    if fault.kind == "drop" or (fault.kind == "error_event" and incoming.streams):
        return None
    if fault.kind == "prompt_too_long" and fault.message is None:
        return invalid(f"prompt is too long: {window + window // 50} tokens > {window} maximum")
    return _error(fault)


HELD_THREADS = 256
FIXED_FIELDS = ("system", "tools")
"""Given when the thread is created; a request that continues it must leave them out."""


class Threads:
    """What is held, by the id of the reply that ends it."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, JsonObject] = OrderedDict()

    def whole(self, body: dict[str, Json]) -> dict[str, Json] | ApiError:
        """The request with the conversation that it continues; itself when it continues none."""
        thread = object_at(body, "thread")
        if thread.get("type") != "continue":
            return body
        previous = text_at(thread, "previous_message_id")
        stored = self._held.get(previous)
        if stored is None:
            details: JsonObject = {"error_code": "thread_not_found"}
            return ApiError(404, f"thread.previous_message_id: no thread holds {previous!r}", details=details)
        for name in FIXED_FIELDS:
            if name in body:
                return ApiError(400, f"{name}: cannot be changed on a thread")
        fixed = {name: stored[name] for name in FIXED_FIELDS if name in stored}
        return {**body, **fixed, "messages": _messages(stored, body)}

    def hold(self, body: JsonObject, message: JsonObject) -> None:
        """Keep a whole request and its reply, where the request asks for it."""
        if not object_at(body, "thread"):
            return
        reply: JsonObject = {"messages": [{"role": "assistant", "content": message["content"]}]}
        self._held[text_at(message, "id")] = {**body, "messages": _messages(body, reply)}
        if len(self._held) > HELD_THREADS:
            self._held.popitem(last=False)


def _messages(*bodies: JsonObject) -> list[Json]:
    return [dict(message) for body in bodies for message in objects_at(body, "messages")]


def compose_reply(action: ScriptAction, incoming: Incoming, new_id: IdMaker) -> ScriptedReply:
    """The reply that an action describes; what it leaves open is as in the default reply."""
    blocks = action.blocks or tuple(_blocks(action, incoming, new_id))
    return ScriptedReply(blocks, action.stop_reason or stop_reason_of(blocks))


def _blocks(action: ScriptAction, incoming: Incoming, new_id: IdMaker) -> Iterator[JsonObject]:
    if action.thinking is not None:
        yield thinking_block(fill_placeholders(action.thinking, incoming))
    elif must_think(incoming.body) and (action.text is not None or action.tool_calls):
        # A model that was told to think always does, whatever the script has it say.
        yield thinking_block(USUAL_THOUGHT)
    if action.text is None and not action.tool_calls:
        defaults = default_blocks(incoming.body, new_id)
        yield from (block for block in defaults if action.thinking is None or block.get("type") != "thinking")
        return
    if action.text:
        yield text_block(fill_placeholders(action.text, incoming))
    for call in action.tool_calls:
        yield call_block(call.id or new_id("toolu"), call.name, call.input)


def cut_to_limits(
    reply: ScriptedReply, body: JsonObject, room_tokens: int, tokens_of: Callable[[JsonObject], int]
) -> ScriptedReply:
    """Stop at a stop sequence, at `max_tokens`, or where the window ends."""
    reply = _cut_at_sequence(reply, texts_at(body, "stop_sequences"))
    max_tokens = number_at(body, "max_tokens")
    limit = min(max_tokens, room_tokens)
    blocks: list[JsonObject] = []
    used = 0
    for block in reply.blocks:
        size = tokens_of(block)
        if used + size > limit:
            blocks.extend(_beginning(block, (limit - used) / size))
            reason = "max_tokens" if max_tokens <= room_tokens else "model_context_window_exceeded"
            return ScriptedReply(tuple(blocks), reason)
        blocks.append(block)
        used += size
    return reply


def _cut_at_sequence(reply: ScriptedReply, sequences: tuple[str, ...]) -> ScriptedReply:
    for at, block in enumerate(reply.blocks):
        text = text_at(block, "text") if block.get("type") == "text" else ""
        hits = [(text.index(sequence), sequence) for sequence in sequences if sequence in text]
        if hits:
            place, sequence = min(hits)
            blocks = (*reply.blocks[:at], *([{**block, "text": text[:place]}] if place else []))
            return ScriptedReply(blocks, "stop_sequence", sequence)
    return reply


def _beginning(block: JsonObject, share: float) -> Iterator[JsonObject]:
    """The part of a text that fits; a call or reasoning that does not fit is left out."""
    text = text_at(block, "text")
    if block.get("type") == "text" and (short := text[: int(len(text) * share)]):
        yield {**block, "text": short}
