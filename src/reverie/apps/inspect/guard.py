"""Who may ask: one browser, which came with the one-time token, and no other site.

A page of another site can make a browser send requests here, under another host name too; so the name, the cookie and
the origin are checked, and a page may load nothing from elsewhere.
"""

from __future__ import annotations

import hmac
import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "reverie_inspect"
_SAFE = frozenset({"GET", "HEAD"})
_LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


class PageGuard:
    """Lets through what the browser asks that opened the page; everything else gets a reason and nothing more."""

    def __init__(self, app: ASGIApp, *, port: int, token: str, can_edit: bool) -> None:
        self._app = app
        self._hosts = {f"{name}:{port}" for name in _LOCAL_NAMES}
        self._token: str | None = token
        self._session = secrets.token_urlsafe(32)
        self._can_edit = can_edit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
            await send(message)

        answer = self._refuse(scope)
        await (answer or self._app)(scope, receive, send_with_headers)

    def _refuse(self, scope: Scope) -> Response | None:
        """The answer to whoever may not pass; None for whoever may."""
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self._hosts:
            return PlainTextResponse("This page answers only under its own address.", 421)
        if not self._has_cookie(headers):
            return self._admit(scope)
        if scope["method"] in _SAFE:
            return None
        if not self._can_edit:
            return PlainTextResponse("This page is read-only; start `reverie inspect --edit` to change memories.", 403)
        origin = headers.get("origin", "").removeprefix("http://").lower()
        if origin not in self._hosts or origin != headers["host"].lower():
            return PlainTextResponse("This request came from another site.", 403)
        return None

    def _has_cookie(self, headers: Headers) -> bool:
        cookies = SimpleCookie()
        try:
            cookies.load(headers.get("cookie", ""))
        except CookieError:
            return False
        found = cookies.get(COOKIE)
        return found is not None and hmac.compare_digest(found.value.encode(), self._session.encode())

    def _admit(self, scope: Scope) -> Response:
        """Exchange the token for the cookie, once."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        is_right = self._token is not None and hmac.compare_digest(given.encode(), self._token.encode())
        if scope["method"] != "GET" or not is_right:
            return PlainTextResponse(
                "Open the address that `reverie inspect` printed; it works once. Start it again for a new one.", 403
            )
        self._token = None
        answer = RedirectResponse(scope["path"] or "/", 303)
        answer.set_cookie(COOKIE, self._session, httponly=True, samesite="strict")
        return answer
