from __future__ import annotations

import gc
import socket

from reverie.testing.simulator import simulator


def test_a_connection_that_still_sends_its_request_is_closed_with_the_server() -> None:
    """A socket that outlives its loop is a warning, which is an error here, in whichever test collects it."""
    with simulator() as running:
        host, port = running.base_url.removeprefix("http://").split(":")
        client = socket.create_connection((host, int(port)))
        client.sendall(b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 100")

    with client:
        assert client.recv(1) == b""
    gc.collect()
