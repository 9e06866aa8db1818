"""A small local HTTP server that answers by a function, and can drop or stall connections on purpose.

It knows nothing of any protocol above HTTP; `openai_server` speaks one through it. Every connection serves one request.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

_LONGEST_SILENCE_SECONDS = 20.0


class ResponseEnding(Enum):
    """What happens after the last piece."""

    WHOLE = auto()
    DROPPED = auto()
    """The connection is cut in the middle of the body."""
    SILENT = auto()
    """Nothing more comes, and the connection stays open."""


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Canned:
    """An answer as it goes out."""

    pieces: tuple[bytes, ...] = ()
    """Sent one after the other."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    ending: ResponseEnding = ResponseEnding.WHOLE


class LoopbackServer:
    """`with LoopbackServer(answer) as server: … server.url … server.heard`."""

    def __init__(self, answer: Callable[[ReceivedRequest], Canned]) -> None:
        self.heard: list[ReceivedRequest] = []
        self._answer = answer
        self._closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._requests())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """The address, without a path."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def _requests(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Requests(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                heard = ReceivedRequest(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body)
                server.heard.append(heard)
                # A client may leave early, as some tests do.
                with suppress(BrokenPipeError, ConnectionResetError):
                    self._send(server._answer(heard))

            do_GET = do_POST  # noqa: N815 - the name is the library's

            def _send(self, canned: Canned) -> None:
                self.close_connection = True
                self.send_response(canned.status)
                for name, value in {"transfer-encoding": "chunked", "connection": "close", **canned.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                for piece in canned.pieces:
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                    self.wfile.flush()
                if canned.ending is ResponseEnding.WHOLE:
                    self.wfile.write(b"0\r\n\r\n")
                elif canned.ending is ResponseEnding.SILENT:
                    server._closing.wait(_LONGEST_SILENCE_SECONDS)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 — the name is the library's
                """Tests print nothing."""

        return Requests
