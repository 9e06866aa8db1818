"""The least that granian can run: an ASGI application that answers 304 to everything."""

from __future__ import annotations

import sys

from starlette.types import Receive, Scope, Send

from reverie.apps.server.run import find_port, serve


async def app(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001
    await send({"type": "http.response.start", "status": 304, "headers": [(b"etag", b'"1"')]})
    await send({"type": "http.response.body", "body": b""})


if __name__ == "__main__":
    serve(app, "127.0.0.1", find_port("127.0.0.1", 0), lambda url: print(url, flush=True))
    sys.exit(0)
