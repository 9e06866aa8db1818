"""`Model` over the vendor's SDK for the Messages API.

The body comes from `request_body` and is sent byte for byte; the stream is read as plain JSON and put together by
`messages_stream`. Which model takes over after a failure is decided by the loop, not here.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from reverie.errors import Interrupted, Unauthenticated
from reverie.messages.codec import as_count
from reverie.models.connection import (
    Timeouts,
    import_sdk,
    is_loopback,
    open_http,
    place_of,
    read_unstreamed_answer,
    translate_sdk_errors,
    usable_key,
    within,
)
from reverie.models.faults import ProviderName
from reverie.models.messages_stream import MessageAssembly
from reverie.models.names import wants_extended_window
from reverie.models.ports import Event, Request
from reverie.models.profiles import profile
from reverie.models.request_body import EXTENDED_WINDOW_BETA, count_body, encode_body, request_betas, request_body
from reverie.models.retry import Random, Retries, Sleep, call_with_retries, stream_with_retries
from reverie.values import value

if TYPE_CHECKING:
    import anthropic

ANTHROPIC_URL = "https://api.anthropic.com"
_NO_KEY = "none"
"""Servers on this machine ask for no key, the SDK does."""


@value
class AnthropicModel:
    """Answers over the Messages API; one object serves any number of requests at once."""

    name: str
    key: str | None = field(default=None, repr=False)
    auth_token: str | None = field(default=None, repr=False)
    """Sent instead of a key where a gateway wants one."""
    base_url: str = ANTHROPIC_URL
    timeouts: Timeouts = field(default_factory=Timeouts)
    retries: Retries = field(default_factory=Retries)
    sleep: Sleep = asyncio.sleep
    random: Random = random.random

    def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Answer piece by piece; raises the `Unavailable` family."""
        request = _spelt_for_the_wire(request)

        def attempt_once() -> AsyncGenerator[Event, None]:
            return self._attempt(request)

        events = stream_with_retries(attempt_once, self.retries, sleep=self.sleep, random=self.random)
        return within(self.timeouts.total_seconds, events, self._provider)

    async def count_tokens(self, request: Request) -> int:
        """How many input tokens the request would have, by the provider's own count."""
        request = _spelt_for_the_wire(request)

        async def call_once() -> int:
            async with self._client() as (sdk, client):
                with translate_sdk_errors(sdk, self._provider, self.timeouts):
                    answer = await client.post(
                        _path("/v1/messages/count_tokens", request),
                        cast_to=object,
                        content=encode_body(count_body(request)),
                        options={"headers": _headers(request)},
                    )
            if not isinstance(answer, dict) or "input_tokens" not in answer:
                raise Interrupted(f"{self._provider.place} returned no token count")
            return as_count(answer["input_tokens"])

        return await call_with_retries(call_once, self.retries, sleep=self.sleep, random=self.random)

    async def _attempt(self, request: Request) -> AsyncGenerator[Event, None]:
        body = encode_body({**request_body(request), "stream": True})
        taken = {use.id for message in request.messages for use in message.tool_uses}
        assembly = MessageAssembly(request.model, taken)
        async with self._client() as (sdk, client):
            with translate_sdk_errors(sdk, self._provider, self.timeouts):
                stream = await client.post(
                    _path("/v1/messages", request),
                    cast_to=object,
                    content=body,
                    options={"headers": _headers(request)},
                    stream=True,
                    stream_cls=sdk.AsyncStream[object],
                )
                request_id = stream.response.headers.get("request-id")
                async with stream, aclosing(_wire_events(stream, self._provider)) as wire_events:
                    async for wire in wire_events:
                        for event in assembly.take(wire):
                            yield event
                for event in assembly.finish(request_id):
                    yield event

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[tuple[Any, anthropic.AsyncAnthropic]]:
        credential, sdk = self._credential(), await import_sdk("anthropic")
        async with open_http(self.base_url, self.timeouts) as http:
            yield sdk, sdk.AsyncAnthropic(**credential, base_url=self.base_url, max_retries=0, http_client=http)

    def _credential(self) -> dict[str, str]:
        """The SDK would look for a key in the environment if it got none."""
        if self.key is not None:
            return {"api_key": usable_key(self.key, self._provider)}
        if self.auth_token is not None:
            return {"auth_token": usable_key(self.auth_token, self._provider)}
        if is_loopback(self.base_url):
            return {"api_key": _NO_KEY}
        raise Unauthenticated(
            f"no API key for {self._provider.place}: set ANTHROPIC_API_KEY, or use the model 'offline'"
        )

    @property
    def _provider(self) -> ProviderName:
        return ProviderName(place_of(self.base_url), (self.key or "", self.auth_token or ""))


async def _wire_events(
    stream: anthropic.AsyncStream[Any], provider: ProviderName
) -> AsyncGenerator[dict[str, Any], None]:
    """The events as JSON; a server that answers in one piece gives one event."""
    if (whole := await read_unstreamed_answer(stream.response, provider)) is not None:
        yield {"type": "message_start", "message": whole}
        return
    async for wire in stream:
        if isinstance(wire, dict):
            yield wire


def _spelt_for_the_wire(request: Request) -> Request:
    """Names with `[1m]` are ours; the provider is told by a header, unless the model has that window anyway."""
    if not wants_extended_window(request.model):
        return request
    plain = request.model.strip()[: -len("[1m]")]
    betas = request.betas if profile(plain).window_is_stated else (*request.betas, EXTENDED_WINDOW_BETA)
    return replace(request, model=plain, betas=betas)


def _path(path: str, request: Request) -> str:
    return f"{path}?beta=true" if request_betas(request) else path


def _headers(request: Request) -> dict[str, str]:
    betas = request_betas(request)
    return {"anthropic-beta": ",".join(betas)} if betas else {}
