"""HTTP hooks: whether the URL is allowed, its headers, and the request.

Only addresses that the settings allow are called, redirections are not followed, and headers hold only those variables
that both the hook and the settings name.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from reverie.models.connection import import_sdk, load_certificates, read_at_most
from reverie.values import value

MAX_ANSWER_BYTES = 4 * 1024 * 1024
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@value
class HookRequest:
    """What is sent."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes
    timeout_seconds: float


@value
class HookResponse:
    """What came back."""

    status: int
    text: str


def is_allowed(url: str, patterns: Sequence[str]) -> bool:
    """Whether an address may be called; without patterns every web address may."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        return False
    return not patterns or any(_fits(parts.scheme, parts.netloc, parts.path, pattern) for pattern in patterns)


def _fits(scheme: str, host: str, path: str, pattern: str) -> bool:
    if pattern == "*":
        return True
    wanted, _, rest = pattern.partition("://")
    # Host and path are matched apart, so that a star in the host cannot reach into the path.
    host_pattern, slash, path_pattern = rest.partition("/")
    return (
        fnmatchcase(scheme, wanted)
        and fnmatchcase(host.lower(), host_pattern.lower())
        and (not slash or fnmatchcase(path or "/", f"/{path_pattern}"))
    )


def fill_headers(
    headers: Sequence[tuple[str, str]], variables: Collection[str], environment: Mapping[str, str]
) -> dict[str, str]:
    """Headers with the variables that they may name; any other variable becomes nothing."""

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        return environment.get(name, "") if name in variables else ""

    return {name: _CONTROL.sub("", _VARIABLE.sub(value, text)) for name, text in headers}


async def post(request: HookRequest) -> HookResponse:
    """Send it without proxy and redirection. Raises `OSError` when nobody answers."""
    httpx2 = await import_sdk("httpx2")
    certificates = await asyncio.to_thread(load_certificates)
    headers = {"Content-Type": "application/json", **request.headers}
    try:
        async with (
            httpx2.AsyncClient(verify=certificates, trust_env=False, timeout=request.timeout_seconds) as client,
            client.stream("POST", request.url, content=request.body, headers=headers) as response,
        ):
            body = await read_at_most(response, MAX_ANSWER_BYTES)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise OSError(f"its URL did not answer: {error or type(error).__name__}") from error
    return HookResponse(response.status_code, body[:MAX_ANSWER_BYTES].decode("utf-8", "replace"))
