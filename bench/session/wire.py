"""A provider in a process of its own that notes when each request has arrived: `with provider() as at:`.

It answers at once and says the same thing always, so that nothing but the client is measured. The clock is the
machine's monotonic one, which all processes share.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.request import urlopen

MARK = re.compile(rb"mark-(\d+)")
_TAIL_BYTES = 4_000


@dataclass(frozen=True, slots=True)
class Provider:
    """Where the provider listens."""

    base_url: str

    def arrival(self, mark: int) -> float:
        """When the first request arrived whose newest words hold `mark-N`, on `time.monotonic`."""
        with urlopen(f"{self.base_url}/arrivals") as answer:
            arrivals: dict[str, float] = json.load(answer)
        return arrivals[str(mark)]


@contextmanager
def provider() -> Iterator[Provider]:
    """Run one for the length of a `with` block."""
    command = [sys.executable, "-m", "bench.session.wire"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Provider(f"http://127.0.0.1:{int(process.stdout.readline())}")
        finally:
            process.terminate()


async def serve() -> None:
    arrivals: dict[str, float] = {}

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        body = await reader.readexactly(int(length[1])) if length else b""
        now = time.monotonic()
        if head.startswith(b"GET"):
            writer.write(_whole(json.dumps(arrivals).encode()))
        else:
            marks = MARK.findall(body[-_TAIL_BYTES:])
            if marks:
                arrivals.setdefault(marks[-1].decode(), now)
            writer.write(_stream(len(body)))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def _whole(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body) + body


def _stream(size: int) -> bytes:
    usage = {"input_tokens": 10, "cache_read_input_tokens": size // 3, "output_tokens": 5}
    message = {"id": f"msg_{size}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "It is counted there."}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    head = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n"
    return head + b"".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events)


if __name__ == "__main__":
    asyncio.run(serve())
