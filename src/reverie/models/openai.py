"""`Model` over the vendor's SDK for any server that speaks chat completions: Ollama, vLLM, llama.cpp, hosted ones.

The body comes from `chat_body`; the chunks are read as plain JSON and put together by `chat_stream`. There is no
`count_tokens`: the protocol has none. A server that silently drops the beginning of a long prompt cannot be noticed.
"""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from reverie.errors import BadRequest, Overloaded
from reverie.models.chat_body import chat_body
from reverie.models.chat_stream import ChatAssembly
from reverie.models.connection import (
    Timeouts,
    import_sdk,
    open_http,
    place_of,
    read_unstreamed_answer,
    translate_sdk_errors,
    usable_key,
    within,
)
from reverie.models.faults import ProviderName
from reverie.models.ports import Event, Request
from reverie.models.request_body import encode_body
from reverie.models.retry import Random, Retries, Sleep, stream_with_retries
from reverie.values import value

if TYPE_CHECKING:
    import openai

OPENAI_URL = "https://api.openai.com/v1"
_NO_KEY = "none"
"""Local servers ask for no key, the SDK does."""
_DISPENSABLE = ("stream_options", "response_format", "parallel_tool_calls")
"""Fields that some servers refuse and without which the answer is still one."""


def _token() -> str:
    return secrets.token_hex(12)


@value
class OpenAIModel:
    """Answers over chat completions; one object serves any number of requests at once."""

    name: str
    key: str | None = field(default=None, repr=False)
    base_url: str = OPENAI_URL
    """With or without the usual `/v1`."""
    timeouts: Timeouts = field(default_factory=Timeouts)
    retries: Retries = field(default_factory=Retries)
    sleep: Sleep = asyncio.sleep
    random: Random = random.random
    new_id: Callable[[], str] = _token
    """Names tool calls that the server left without a name of their own."""

    def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Answer piece by piece; raises the `Unavailable` family."""

        def attempt_once() -> AsyncGenerator[Event, None]:
            return self._attempt(request)

        events = stream_with_retries(attempt_once, self.retries, sleep=self.sleep, random=self.random)
        return within(self.timeouts.total_seconds, events, self._provider)

    async def _attempt(self, request: Request) -> AsyncGenerator[Event, None]:
        taken = {use.id for message in request.messages for use in message.tool_uses}
        assembly = ChatAssembly(taken, self.new_id, request.model)
        body = chat_body(request, limit_field=self._limit_field)
        async with self._client() as (sdk, client):
            with translate_sdk_errors(sdk, self._provider, self.timeouts):
                stream = await self._open(sdk, client, body)
                request_id = stream.response.headers.get("x-request-id")
                async with stream, aclosing(_chunks(stream, self._provider)) as chunks:
                    async for chunk in chunks:
                        for event in assembly.take(chunk):
                            yield event
                if not assembly.has_begun:
                    # Some servers swallow an error once they stream; asked for one piece they tell it.
                    for event in assembly.take(await _whole_answer(client, body)):
                        yield event
                for event in assembly.finish(request_id):
                    yield event

    async def _open(self, sdk: Any, client: openai.AsyncOpenAI, body: dict[str, Any]) -> openai.AsyncStream[Any]:
        """Begin the answer; a field that the server names in its refusal and that we can do without is taken out."""
        while True:
            try:
                with translate_sdk_errors(sdk, self._provider, self.timeouts):
                    stream: openai.AsyncStream[Any] = await client.post(
                        "/chat/completions",
                        cast_to=object,
                        content=encode_body(body),
                        stream=True,
                        stream_cls=sdk.AsyncStream[object],
                    )
                    return stream
            except (BadRequest, Overloaded) as refusal:  # some servers refuse with a 500
                refused = next((name for name in _DISPENSABLE if name in body and name in str(refusal)), None)
                if refused is None:
                    raise
                del body[refused]

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[tuple[Any, openai.AsyncOpenAI]]:
        key, sdk = usable_key(self.key or _NO_KEY, self._provider), await import_sdk("openai")
        root = _api_root(self.base_url)
        async with open_http(root, self.timeouts) as http:
            yield sdk, sdk.AsyncOpenAI(api_key=key, base_url=root, max_retries=0, http_client=http)

    @property
    def _provider(self) -> ProviderName:
        return ProviderName(place_of(_api_root(self.base_url)), (self.key or "",))

    @property
    def _limit_field(self) -> str:
        """The vendor's own models refuse the old name, other servers do not know the new one."""
        is_the_vendor = urlsplit(self.base_url).hostname == urlsplit(OPENAI_URL).hostname
        return "max_completion_tokens" if is_the_vendor else "max_tokens"


async def _whole_answer(client: openai.AsyncOpenAI, body: dict[str, Any]) -> dict[str, Any]:
    unstreamed_body = {name: value for name, value in body.items() if name != "stream_options"}
    answer = await client.post(
        "/chat/completions", cast_to=object, content=encode_body({**unstreamed_body, "stream": False})
    )
    return answer if isinstance(answer, dict) else {}


async def _chunks(stream: openai.AsyncStream[Any], provider: ProviderName) -> AsyncGenerator[dict[str, Any], None]:
    """The chunks as JSON; a server that answers in one piece gives one chunk."""
    if (whole := await read_unstreamed_answer(stream.response, provider)) is not None:
        yield whole
        return
    async for chunk in stream:
        if isinstance(chunk, dict):
            yield chunk


def _api_root(base_url: str) -> str:
    """People give the address of their server; the protocol lives under `/v1` unless a path says otherwise."""
    return base_url if urlsplit(base_url).path.strip("/") else f"{base_url.rstrip('/')}/v1"
