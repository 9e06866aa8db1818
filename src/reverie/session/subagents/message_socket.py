"""Letters to another session on this machine through its Unix socket: one line of JSON there, one word back."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from reverie.errors import Unavailable
from reverie.files import write_folder
from reverie.session.subagents.mailbox import MAX_LETTER_CHARS, AgentMessage, letter_line, parsed_letter

MAX_PATH_BYTES = 100
"""What every system takes for the path of a socket."""
_TIMEOUT_SECONDS = 5.0
_TAKEN, _REFUSED = b"taken\n", b"refused\n"


async def send_letter(path: Path, letter: AgentMessage) -> None:
    """Hand a letter to the session that listens at a socket. Raises `Unavailable` when none takes it."""
    try:
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            reader, writer = await asyncio.open_unix_connection(path)
            try:
                writer.write(letter_line(letter).encode() + b"\n")
                await writer.drain()
                answer = await reader.readline()
            finally:
                writer.close()
                with contextlib.suppress(OSError):
                    await writer.wait_closed()
    except (OSError, TimeoutError) as problem:
        raise Unavailable(f"no session listens at {path}: {problem}") from problem
    if answer != _TAKEN:
        raise Unavailable(f"the session at {path} did not take the message")


@asynccontextmanager
async def listening(path: Path, heard: Callable[[AgentMessage], None]) -> AsyncIterator[None]:
    """Take letters at a socket that only this user can reach, for the length of the block."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                letter = parsed_letter(await reader.readline())
            if letter is not None:
                heard(letter)
            writer.write(_TAKEN if letter is not None else _REFUSED)
            await writer.drain()
        except (OSError, TimeoutError, ValueError):
            pass
        finally:
            writer.close()

    write_folder(path.parent)
    path.unlink(missing_ok=True)
    server = await asyncio.start_unix_server(serve, path, limit=8 * MAX_LETTER_CHARS)
    path.chmod(0o600)
    try:
        yield
    finally:
        server.close()
        path.unlink(missing_ok=True)
