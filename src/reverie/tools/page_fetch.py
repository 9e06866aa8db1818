"""Fetches one page from a public server without following redirects: the default of `WebFetch`.

The name is looked up once, every address it has must be public, and the connection goes to the address that was
checked, so that a name cannot lead inside by changing between the two.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from reverie.errors import Refused, Unavailable
from reverie.models.connection import import_sdk, load_certificates, read_at_most
from reverie.values import value

MAX_BYTES = 5 * 1024 * 1024
TIMEOUT_SECONDS = 30.0
"""For the connection and for each piece of the answer."""
WHOLE_SECONDS = 60.0
"""For the whole answer: a server that sends a byte now and then is not waited for."""
_HEADERS = {
    "User-Agent": "reverie",
    "Accept": "text/html, text/*;q=0.9, */*;q=0.5",
    "Accept-Encoding": "identity",  # a small answer must not unfold into a large one
}


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
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    try:
        rows = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unavailable(f"there is no host {host}: {error}") from error
    addresses = [str(row[4][0]) for row in rows]
    for address in addresses:
        check_public(address)
    return await fetch_from(addresses[0], url)


async def fetch_from(address: str, url: str) -> Fetched:
    """Ask the server at this address for a page; name and certificate are those of the URL's host."""
    httpx2 = await import_sdk("httpx2")
    certificates = await asyncio.to_thread(load_certificates)
    host = urlsplit(url).hostname
    try:
        parsed_url = httpx2.URL(url)
        headers = {"Host": parsed_url.netloc.decode("ascii"), **_HEADERS}
        extensions = {"sni_hostname": parsed_url.raw_host.decode("ascii")}
        async with (
            asyncio.timeout(WHOLE_SECONDS),
            httpx2.AsyncClient(verify=certificates, trust_env=False, timeout=TIMEOUT_SECONDS) as client,
            client.stream(
                "GET", parsed_url.copy_with(host=address), headers=headers, extensions=extensions
            ) as response,
        ):
            body = await read_at_most(response, MAX_BYTES)
    except TimeoutError as error:
        raise Unavailable(f"the page of {host} was not complete after {WHOLE_SECONDS:g} seconds") from error
    except (OSError, httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise Unavailable(f"{host} did not answer: {error or type(error).__name__}") from error
    kind, location = (response.headers.get(name, "") for name in ("Content-Type", "Location"))
    return Fetched(response.status_code, kind, body[:MAX_BYTES], location, len(body) > MAX_BYTES)


def check_public(address: str) -> None:
    """Raise `Refused` for an address inside this machine or network."""
    ip = ipaddress.ip_address(address.split("%", maxsplit=1)[0])
    inner = getattr(ip, "ipv4_mapped", None) or getattr(ip, "sixtofour", None) or ip
    if not (ip.is_global and inner.is_global) or ip.is_multicast:
        raise Refused(
            f"{address} is not a public address; pages inside this machine or network are not fetched", by="WebFetch"
        )
