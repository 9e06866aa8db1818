"""Conversations that the provider holds: a request names the reply it goes on from and brings only what is new.

A continued request is put together with what is held before anything else looks at it, so that rules, cache and bill
see a whole request.
"""

from __future__ import annotations

from collections import OrderedDict

from reverie.messages.blocks import Json, JsonObject
from reverie_simulator.api_error import ApiError
from reverie_simulator.wire import object_at, objects_at, text_at

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
        held = self._held.get(previous)
        if held is None:
            details: JsonObject = {"error_code": "thread_not_found"}
            return ApiError(404, f"thread.previous_message_id: no thread holds {previous!r}", details=details)
        for name in FIXED_FIELDS:
            if name in body:
                return ApiError(400, f"{name}: cannot be changed on a thread")
        fixed = {name: held[name] for name in FIXED_FIELDS if name in held}
        return {**body, **fixed, "messages": _messages(held, body)}

    def hold(self, body: JsonObject, message: JsonObject) -> None:
        """Keep a whole request and its reply, where the request asks for it."""
        if not object_at(body, "thread"):
            return
        said: JsonObject = {"messages": [{"role": "assistant", "content": message["content"]}]}
        self._held[text_at(message, "id")] = {**body, "messages": _messages(body, said)}
        if len(self._held) > HELD_THREADS:
            self._held.popitem(last=False)


def _messages(*bodies: JsonObject) -> list[Json]:
    return [dict(message) for body in bodies for message in objects_at(body, "messages")]
