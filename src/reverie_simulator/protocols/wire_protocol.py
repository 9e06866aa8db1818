"""What a protocol has to offer, and the Messages API as the first of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from reverie.messages.blocks import JsonObject
from reverie_simulator.answers import MessageAnswer
from reverie_simulator.api_error import ApiError
from reverie_simulator.events import error_event, events_of


class WireProtocol(Protocol):
    """How replies and errors look on the wire."""

    def reply(self, answer: MessageAnswer) -> JsonObject:
        """The whole reply."""
        ...

    def events(self, answer: MessageAnswer) -> Iterator[bytes]:
        """The reply as the events of a stream."""
        ...

    def error(self, error: ApiError, request_id: str) -> tuple[int, JsonObject]:
        """Status and body of a refusal."""
        ...

    def error_event(self, error: ApiError, request_id: str) -> bytes:
        """An error that comes after the reply has begun."""
        ...


class TranslatedProtocol(WireProtocol, Protocol):
    """A protocol of another provider."""

    def translate(self, path: str, body: JsonObject) -> JsonObject | ApiError:
        """The request in the form of the Messages API, or why it is refused."""
        ...

    def hold(self, body: JsonObject, request: JsonObject, message: JsonObject) -> None:
        """Keep an exchange to which a later request may refer: as it was sent, translated, and its reply."""
        ...


class MessagesProtocol:
    """The Messages API: nothing to translate."""

    def reply(self, answer: MessageAnswer) -> JsonObject:
        return answer.message

    def events(self, answer: MessageAnswer) -> Iterator[bytes]:
        return (event.encode() for event in events_of(answer.message, answer.opening_usage, answer.final_usage))

    def error(self, error: ApiError, request_id: str) -> tuple[int, JsonObject]:
        return error.status, error.as_json(request_id)

    def error_event(self, error: ApiError, request_id: str) -> bytes:
        return error_event(error.as_json(request_id)).encode()
