"""Servers for tests: how the example server is reached."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from reverie.extensions.mcp.connection import ConnectionContext
from reverie.extensions.mcp.servers import Server, Transport

EXAMPLE = Path(__file__).with_name("quick_server.py")
"""The example server over stdio, quickly started."""
WITH_SDK = Path(__file__).with_name("example_server.py")
"""The example server made with the SDK; its start takes a second."""


def over_stdio(
    *arguments: str, name: str = "example", timeout_seconds: float | None = None, program: Path = EXAMPLE
) -> Server:
    """The example server as a program."""
    return Server(
        name,
        "user",
        "mcp.json",
        Transport.STDIO,
        command=sys.executable,
        args=(str(program), "stdio", *arguments),
        timeout_seconds=timeout_seconds,
    )


def around(folder: Path, *, connect_seconds: float = 30.0) -> ConnectionContext:
    """A session that begins in this folder."""
    return ConnectionContext(dict(os.environ), folder, folder / "logs", connect_seconds)


def is_alive(process: int) -> bool:
    """Whether a process of that number runs."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
