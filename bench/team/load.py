"""A load of requests over connections that stay open, in a process of its own: prints requests per second."""

from __future__ import annotations

import asyncio
import sys
import time
from urllib.parse import urlsplit

CONNECTIONS = 32


async def ask(host: str, port: int, request: bytes, status: bytes, until: float) -> tuple[int, list[float]]:
    reader, writer = await asyncio.open_connection(host, port)
    count, waits = 0, []
    while (began := time.perf_counter()) < until:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 " + status), head
        waits.append(time.perf_counter() - began)
        count += 1
    writer.close()
    return count, waits


async def run(url: str, path: str, headers: list[str], status: str, seconds: float) -> None:
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    lines = [f"GET {path} HTTP/1.1", f"host: {parts.netloc}", *headers, "", ""]
    request = "\r\n".join(lines).encode()
    until = time.perf_counter() + seconds
    asked = (ask(parts.hostname, parts.port, request, status.encode(), until) for _ in range(CONNECTIONS))
    results = await asyncio.gather(*asked)
    waits = sorted(wait for _, each in results for wait in each)
    print(sum(count for count, _ in results) / seconds, waits[len(waits) // 2], waits[int(len(waits) * 0.99)])


if __name__ == "__main__":
    url, path, status, seconds, *headers = sys.argv[1:]
    asyncio.run(run(url, path, headers, status, float(seconds)))
