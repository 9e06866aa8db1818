"""HTTP hooks: whether the URL is allowed, its headers, and the request.

Only addresses that the settings allow are called, redirections are not followed, and headers hold only those variables
that both the hook and the settings name.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

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
class Answered:
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

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return environment.get(name, "") if name in variables else ""

    return {name: _CONTROL.sub("", _VARIABLE.sub(value, text)) for name, text in headers}


async def post(letter: HookRequest) -> Answered:
    """Send it. Raises `OSError` when nobody answers. Being cancelled leaves the call to its own end, unheard."""
    loop = asyncio.get_running_loop()
    heard: asyncio.Future[Answered] = loop.create_future()

    def tell(answer: Answered | Exception) -> None:
        if not heard.done():
            heard.set_exception(answer) if isinstance(answer, Exception) else heard.set_result(answer)

    def work() -> None:
        from http.client import HTTPException

        answer: Answered | Exception
        try:
            answer = _post(letter)
        except (OSError, ValueError, HTTPException) as problem:
            answer = problem
        with contextlib.suppress(RuntimeError):  # the loop is gone, and with it everybody who waited
            loop.call_soon_threadsafe(tell, answer)

    # A thread of its own: the loop's executor would keep the process from ending before a slow address has answered.
    threading.Thread(target=work, daemon=True).start()
    return await heard


def _post(letter: HookRequest) -> Answered:
    from urllib.error import HTTPError
    from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

    class Stay(HTTPRedirectHandler):
        def redirect_request(self, *_: object) -> None:
            return None

    headers = {"Content-Type": "application/json", **letter.headers}
    request = Request(letter.url, data=letter.body, headers=headers, method="POST")  # noqa: S310 - checked by `is_allowed`
    try:
        with build_opener(ProxyHandler({}), Stay()).open(request, timeout=letter.timeout_seconds) as answer:
            return Answered(answer.status, answer.read(MAX_ANSWER_BYTES).decode("utf-8", "replace"))
    except HTTPError as error:
        with error:
            return Answered(error.code, error.read(MAX_ANSWER_BYTES).decode("utf-8", "replace"))
