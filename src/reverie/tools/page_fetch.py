"""Fetches one page from a public server without following redirects: the default of `WebFetch`.

The name is looked up once, every address it has must be public, and the connection goes to the address that was
checked, so that a name cannot lead inside by changing between the two.
"""

from __future__ import annotations

import asyncio
import http.client
import ipaddress
import socket
import ssl
import time
from collections.abc import Awaitable, Callable
from urllib.parse import SplitResult, urlsplit

from reverie.errors import Refused, Unavailable
from reverie.values import value

MAX_BYTES = 5 * 1024 * 1024
TIMEOUT_SECONDS = 30.0
"""For the connection and for each piece of the answer."""
WHOLE_SECONDS = 60.0
"""For the whole answer: a server that sends a byte now and then is not waited for."""
_AGENT = "reverie"
_PIECE_BYTES = 65_536


@value
class Fetched:
    """What a server answered."""

    status: int
    kind: str
    """Its media type with parameters, as it said it."""
    body: bytes
    location: str = ""
    """Where it sends the caller instead."""
    is_cut: bool = False


Fetch = Callable[[str], Awaitable[Fetched]]


async def fetch_page(url: str) -> Fetched:
    """Ask for one page.

    Raises:
        Refused: the address is not public.
        Unavailable: no answer.
    """
    return await asyncio.to_thread(_fetch, urlsplit(url))


def check_public(address: str) -> None:
    """Raise `Refused` for an address inside this machine or network."""
    found = ipaddress.ip_address(address.split("%", maxsplit=1)[0])
    inner = getattr(found, "ipv4_mapped", None) or getattr(found, "sixtofour", None) or found
    if not (found.is_global and inner.is_global) or found.is_multicast:
        raise Refused(
            f"{address} is not a public address; pages inside this machine or network are not fetched", by="WebFetch"
        )


def _fetch(parts: SplitResult) -> Fetched:
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        addresses = [str(row[4][0]) for row in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except OSError as error:
        raise Unavailable(f"there is no host {host}: {error}") from error
    for address in addresses:
        check_public(address)
    try:
        with socket.create_connection((addresses[0], port), TIMEOUT_SECONDS) as connected:
            return ask(parts, connected)
    except (OSError, http.client.HTTPException) as error:
        raise Unavailable(f"{host} did not answer: {error}") from error


def ask(parts: SplitResult, connected: socket.socket) -> Fetched:
    """Ask for a page over a connection that is there already."""
    host = parts.hostname or ""
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        connection = http.client.HTTPSConnection(host, parts.port)
        connection.sock = ssl.create_default_context().wrap_socket(connected, server_hostname=host)
    else:
        connection = http.client.HTTPConnection(host, parts.port)
        connection.sock = connected
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection.request("GET", target, headers={"User-Agent": _AGENT, "Accept": "text/html, text/*;q=0.9, */*;q=0.5"})
    answer = connection.getresponse()
    body = _read_body(answer)
    kind = answer.getheader("Content-Type") or ""
    location = answer.getheader("Location") or ""
    connection.close()
    return Fetched(answer.status, kind, body[:MAX_BYTES], location, len(body) > MAX_BYTES)


def _read_body(answer: http.client.HTTPResponse) -> bytes:
    deadline = time.monotonic() + WHOLE_SECONDS
    body = bytearray()
    while len(body) <= MAX_BYTES and (piece := answer.read1(_PIECE_BYTES)):
        body += piece
        if time.monotonic() > deadline:
            raise TimeoutError(f"the page was not complete after {WHOLE_SECONDS:g} seconds")
    return bytes(body)
