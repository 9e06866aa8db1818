"""What the protocols of other providers share: facts of models, words of errors, translated conversations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import msgspec

from reverie.messages.blocks import Json, JsonObject
from reverie.models.profiles import profile
from reverie_simulator.api_error import MESSAGES, ApiError, invalid
from reverie_simulator.events import CHUNK_CHARS
from reverie_simulator.facts import ModelFacts, facts_of
from reverie_simulator.wire import as_object, encode, number_at, object_at, objects_at, text_at

AUTOMATIC_CACHE: JsonObject = {"type": "ephemeral"}
"""Other providers cache by themselves, which is the same as one mark at the end of every request."""
CACHE_MINIMUM_TOKENS = 1_024
OVERLOADED = 529
"""A status that only the Messages API knows; others say 503."""


def foreign_facts(model: str) -> ModelFacts:
    """The facts of any model; one that nobody described gets a careful guess of its window."""
    known = facts_of(model)
    if known is not None:
        return known
    found = profile(model)
    abilities = replace(found.abilities, overflow_stops=True, prompt_caching=True)
    minimum = found.cache_minimum_tokens or CACHE_MINIMUM_TOKENS
    return ModelFacts(model, "", (0, 0), replace(found, abilities=abilities, cache_minimum_tokens=minimum))


def words_of(error: ApiError, words: Mapping[int, str]) -> str:
    """The message of an error, in the provider's own words where nobody gave others."""
    is_usual = error.message == MESSAGES.get(error.status)
    return words.get(error.status, error.message) if is_usual else error.message


def is_overflow(error: ApiError) -> bool:
    """Whether the prompt did not fit."""
    return error.message.startswith("prompt is too long")


class TranslatedMessages:
    """The messages of a translated request; neighbouring results and neighbouring replies are one message each."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Json]] = []
        self.system: list[JsonObject] = []
        self._kind = ""

    def tell(self, *blocks: JsonObject) -> None:
        """What the developer says: the system prompt, or a message of the system in mid-conversation."""
        if not self.messages:
            self.system.extend(blocks)
        elif blocks:
            self._add("system", "system", blocks, joins=False)

    def ask(self, *blocks: JsonObject) -> None:
        """What the user says."""
        if blocks:
            self._add("user", "user", blocks, joins=False)

    def answer(self, *blocks: JsonObject) -> None:
        """What the model said."""
        if blocks:
            self._add("assistant", "assistant", blocks, joins=True)

    def result(self, call_id: str, content: Json) -> None:
        """What a tool returned."""
        block: JsonObject = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        self._add("user", "result", (block,), joins=True)

    def _add(self, role: str, kind: str, blocks: tuple[JsonObject, ...], *, joins: bool) -> None:
        content: list[Json] = [dict(block) for block in blocks]
        if joins and kind == self._kind:
            before = self.messages[-1]["content"]
            assert isinstance(before, list)
            before.extend(content)
        else:
            self.messages.append({"role": role, "content": content})
        self._kind = kind

    def open_calls(self) -> Iterator[str]:
        """Calls without a result."""
        answered = {text_at(block, "tool_use_id") for block in self._blocks("tool_result")}
        return (call for block in self._blocks("tool_use") if (call := text_at(block, "id")) not in answered)

    def lost_results(self) -> Iterator[str]:
        """Results of calls that nobody made."""
        called = {text_at(block, "id") for block in self._blocks("tool_use")}
        return (call for block in self._blocks("tool_result") if (call := text_at(block, "tool_use_id")) not in called)

    def _blocks(self, kind: str) -> Iterator[JsonObject]:
        return (
            block for message in self.messages for block in objects_at(message, "content") if block.get("type") == kind
        )

    def request(self, model: str, *, streams: bool, max_tokens: int, **fields: Json) -> JsonObject | ApiError:
        """The request in the form of the Messages API; empty fields are left out."""
        if not model:
            return invalid("you must provide a model parameter")
        body: dict[str, Json] = {
            "model": model,
            "max_tokens": max_tokens or foreign_facts(model).max_output_tokens,
            "system": [dict(block) for block in self.system],
            "messages": [dict(message) for message in self.messages],
            "stream": streams,
            "cache_control": dict(AUTOMATIC_CACHE),
        }
        return {**body, **{name: given for name, given in fields.items() if given}}


def text_block(text: str) -> JsonObject:
    """A text as a block."""
    return {"type": "text", "text": text}


def image_block(url: str) -> JsonObject:
    """A picture as a block, whether its bytes stand in the URL or not."""
    head, _, data = url.partition(";base64,")
    if not data:
        return {"type": "image", "source": {"type": "url", "url": url}}
    return {"type": "image", "source": {"type": "base64", "media_type": head.removeprefix("data:"), "data": data}}


def call_block(call_id: str, name: str, arguments: str) -> JsonObject:
    """A tool call; arguments that are no JSON object stand under `input`."""
    try:
        decoded: Json = msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        decoded = None
    given: Json = decoded if isinstance(decoded, dict) else {"input": arguments}
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def content_of(message: JsonObject) -> Iterator[tuple[int, JsonObject]]:
    """The numbered blocks of a reply."""
    return enumerate(objects_at(message, "content"))


def arguments_of(block: JsonObject) -> str:
    """The arguments of a call as JSON text."""
    return encode(as_object(block.get("input"))).decode()


def chunks_of(text: str) -> Iterator[str]:
    """A text in pieces, as a stream brings them."""
    return (text[at : at + CHUNK_CHARS] for at in range(0, len(text), CHUNK_CHARS))


def data_event(data: JsonObject) -> bytes:
    """A server event without a name."""
    return b"data: %s\n\n" % encode(data)


class TokenCounts:
    """The bill of a reply in the words of other providers, whose input includes what was cached."""

    def __init__(self, message: JsonObject) -> None:
        usage = object_at(message, "usage")
        self.cached = number_at(usage, "cache_read_input_tokens")
        self.input = number_at(usage, "input_tokens") + number_at(usage, "cache_creation_input_tokens") + self.cached
        self.output = number_at(usage, "output_tokens")
        self.reasoning = number_at(object_at(usage, "output_tokens_details"), "thinking_tokens")
        self.total = self.input + self.output
