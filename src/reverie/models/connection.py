"""What both vendor SDKs need: an HTTP client, time-outs, and their exceptions mapped to ours.

A client lives for one request. It costs half a millisecond because the certificates are read once per process, and it
leaves nothing behind that belongs to an event loop.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import ssl
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from json import JSONDecodeError
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from reverie.errors import Interrupted, Unauthenticated, Unavailable, UserMistake
from reverie.models.faults import ProviderName, fault, read_failure
from reverie.models.ports import Event
from reverie.values import value

if TYPE_CHECKING:
    import httpx2

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@value
class Timeouts:
    """How long to wait for what."""

    connect_seconds: float = 10.0
    idle_seconds: float = 300.0
    """Between two pieces of the answer; a local model may read a long prompt for minutes before the first."""
    total_seconds: float = 3600.0
    """For the whole answer, all attempts together."""


def open_http(base_url: str, timeouts: Timeouts) -> httpx2.AsyncClient:
    """An HTTP client for one request; the caller closes it. A proxy is not asked for servers on this machine."""
    import httpx2

    return httpx2.AsyncClient(
        verify=load_certificates(),
        timeout=httpx2.Timeout(timeouts.idle_seconds, connect=timeouts.connect_seconds, pool=timeouts.connect_seconds),
        # A connection is not used twice: a server that has just failed may be about to close it.
        limits=httpx2.Limits(max_keepalive_connections=0),
        trust_env=not is_loopback(base_url),
        follow_redirects=True,
    )


@functools.cache
def load_certificates() -> ssl.SSLContext:
    """The certificates that servers are checked against, loaded once."""
    import httpx2

    return httpx2.create_ssl_context()


async def read_at_most(response: httpx2.Response, limit_bytes: int) -> bytes:
    """The answer as far as a limit; of a longer one at least one byte more, so that the caller sees it."""
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > limit_bytes:
            break
    return bytes(body)


async def import_sdk(name: str) -> ModuleType:
    """Import a library of the extra `llm` in a thread, for it may take seconds; `UserMistake` where it is missing."""
    try:
        return await asyncio.to_thread(importlib.import_module, name)
    except ModuleNotFoundError as missing:
        raise UserMistake(f"{missing.name} is not installed; run `pip install 'reverie[llm]'`") from None


def load_sdk(name: str) -> None:
    """Load a vendor SDK and the certificates ahead of the first request; raises `ImportError` where it is missing."""
    importlib.import_module(name)
    load_certificates()


def place_of(base_url: str) -> str:
    """The address as it may be shown: no user name, password or query."""
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}{parts.path.rstrip('/')}"


def usable_key(key: str, provider: ProviderName) -> str:
    """The key as it goes into a header; one that cannot is refused here, where no message quotes it."""
    key = key.strip()
    if not (key and key.isascii() and key.isprintable()):
        raise Unauthenticated(f"the key for {provider.place} contains invalid characters; copy it again")
    return key


def is_loopback(base_url: str) -> bool:
    """True when the address is on this machine."""
    return urlsplit(base_url).hostname in _LOOPBACK


@contextmanager
def translate_sdk_errors(sdk: ModuleType, provider: ProviderName, timeouts: Timeouts) -> Iterator[None]:
    """Turn what the SDK or its HTTP client raises into the `Unavailable` family.

    The SDK's exception is not chained: its text may quote what must not be shown.
    """
    import httpx2

    try:
        yield
    except sdk.APIStatusError as failure:
        provider_error = read_failure(failure.status_code, failure.body, failure.response.headers)
        raise fault(provider_error, provider) from None
    except (sdk.APIConnectionError, httpx2.TransportError) as failure:
        raise _connection_fault(failure, provider, timeouts) from None
    except sdk.APIError as failure:
        raise fault(read_failure(None, failure.body or failure.message, {}), provider) from None
    except (JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise Interrupted(f"{provider.place} sent an invalid event") from None


def _connection_fault(failure: Exception, provider: ProviderName, timeouts: Timeouts) -> Unavailable:
    import httpx2

    cause = failure if isinstance(failure, httpx2.TransportError) else failure.__cause__
    match cause:
        case httpx2.ConnectTimeout() | httpx2.PoolTimeout():
            waited = f"no connection to {provider.place} within {timeouts.connect_seconds:g} s"
            return Unavailable(f"{waited}; check the address and the network")
        case httpx2.ConnectError():
            reason = provider.quote(str(cause))
            return Unavailable(
                f"no connection to {provider.place} ({reason}); check the address and that the server is running"
            )
        case httpx2.TimeoutException():
            return Interrupted(f"{provider.place} was silent for {timeouts.idle_seconds:g} s")
        case _:
            return Interrupted(f"the connection to {provider.place} broke before the answer was complete")


async def read_unstreamed_answer(response: httpx2.Response, provider: ProviderName) -> dict[str, Any] | None:
    """The answer of a server that does not stream; None from one that does. A failure under status 200 is raised."""
    if "event-stream" in response.headers.get("content-type", "event-stream"):
        return None
    await response.aread()
    whole = response.json()
    if not isinstance(whole, dict) or whole.get("error"):
        raise fault(read_failure(None, whole, response.headers), provider)
    return whole


async def within(
    seconds: float, events: AsyncGenerator[Event, None], provider: ProviderName
) -> AsyncGenerator[Event, None]:
    """Pass events on until the time is over; the time a reader spends between two events counts too."""
    end = asyncio.get_running_loop().time() + seconds
    async with aclosing(events):
        while True:
            try:
                async with asyncio.timeout_at(end):
                    event = await anext(events)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise Unavailable(f"no complete answer from {provider.place} within {seconds:g} s") from None
            yield event
