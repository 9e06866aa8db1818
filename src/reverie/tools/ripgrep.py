"""Searches files through a program with the output of `rg --json`: ripgrep, or our own `line_search`."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from reverie.tools.line_search import BAD_PATTERN, MAX_FILE_BYTES, FileHits, FileQuery, MatchedLine, encode_query
from reverie.tools.process import end_group, start
from reverie.tools.tool import ToolMistake
from reverie.tools.walk import VERSION_CONTROL
from reverie.values import value

MAX_ROWS = 50_000
"""Where reading the answer ends; nobody looks at more lines."""
_LINE_BYTES = 2 * MAX_FILE_BYTES
_PACKAGE_ROOT = str(Path(__file__).resolve().parents[2])


@value
class SearchResult:
    """The answer of a search, files in the order of their paths."""

    files: tuple[FileHits, ...]
    is_cut: bool
    """Whether there was more than anybody looks at."""


async def search(
    query: FileQuery, *, ripgrep: str | None, environment: Mapping[str, str], timeout_seconds: float
) -> SearchResult:
    """Search with ripgrep where there is one and it understands the expression, else built in.

    Raises: `ToolMistake` for an expression that nobody understands, and when the time is over.
    """
    try:
        async with asyncio.timeout(timeout_seconds):
            if ripgrep is not None:
                result = await _run(ripgrep_command(ripgrep, query), query, environment)
                if isinstance(result, SearchResult):
                    return result
            result = await _run(built_in_command(query), query, {**environment, "PYTHONPATH": _PACKAGE_ROOT})
    except TimeoutError:
        raise ToolMistake(
            f"The search took more than {timeout_seconds:g} seconds and was ended. "
            "Narrow it with `path`, `glob` or `type`, or use a simpler pattern."
        ) from None
    if isinstance(result, str):
        raise ToolMistake(
            f"{query.pattern!r} is not a valid regular expression: {result}. "
            "Put a backslash before characters that stand for themselves, such as `(`, `[`, `{` or `.`."
        )
    return result


def built_in_command(query: FileQuery) -> tuple[str, ...]:
    """How our own search is started; the folder it runs in lends it no modules."""
    return (sys.executable, "-P", "-m", "reverie.tools.line_search", encode_query(query))


def ripgrep_command(program: str, query: FileQuery) -> tuple[str, ...]:
    """How ripgrep is told to search what `walk` would list, whatever its user has configured."""
    options = ["--json", "--no-config", "--hidden", "--no-require-git", "--no-ignore-global", "--no-ignore-exclude"]
    options += ["--no-ignore-dot", "--no-messages", "--crlf", f"--max-filesize={MAX_FILE_BYTES}"]
    options += [f"--glob=!{name}" for name in sorted(VERSION_CONTROL)]
    options += [f"--type-add=wanted:{name}" for name in query.names]
    options += ["--type=wanted"] if query.names else []
    options += ["--ignore-case"] if query.ignores_case else ["--case-sensitive"]
    options += ["--multiline", "--multiline-dotall"] if query.is_multiline else []
    options += ["--max-count=1"] if query.first_only else []
    options += [f"--before-context={query.before}", f"--after-context={query.after}"]
    return (program, *options, "--regexp", query.pattern, "--", str(query.root))


async def _run(command: tuple[str, ...], query: FileQuery, environment: Mapping[str, str]) -> SearchResult | str:
    """What a program found; or what it has against the expression."""
    receiving, sending = os.pipe()
    with tempfile.TemporaryFile() as errors, os.fdopen(receiving, "rb", buffering=0) as pipe:
        directory = query.root if query.root.is_dir() else query.root.parent
        try:
            process = await start(
                command, directory=directory, environment=environment, output=sending, errors=errors.fileno()
            )
        except OSError as error:
            return f"{command[0]} cannot be started: {error.strerror}"
        finally:
            os.close(sending)
        try:
            reader = asyncio.StreamReader(limit=_LINE_BYTES)
            protocol = asyncio.StreamReaderProtocol(reader)
            transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, pipe)
            try:
                result = await _collect(reader, query)
            finally:
                transport.close()
            if not result.is_cut and await process.wait() in {2, BAD_PATTERN} and not result.files:
                errors.seek(0)
                return errors.read(2_000).decode("utf-8", "replace").strip()
            return result
        finally:
            if process.returncode is None:
                await end_group(process)


async def _collect(reader: asyncio.StreamReader, query: FileQuery) -> SearchResult:
    rows: dict[str, list[MatchedLine]] = {}
    count = 0
    while count < MAX_ROWS and (line := await reader.readline()):
        event = json.loads(line)
        if event["type"] not in {"match", "context"}:
            continue
        path = _text(event["data"]["path"])
        lines = list(_rows(event))
        rows.setdefault(path, []).extend(lines)
        count += len(lines)
    files = (FileHits(Path(path), tuple(lines)) for path, lines in sorted(rows.items()))
    is_file = not query.root.is_dir()
    taken = (each for each in files if is_file or query.takes(each.path.relative_to(query.root).as_posix()))
    return SearchResult(tuple(each for each in taken if each.matches), count >= MAX_ROWS)


def _rows(event: dict[str, Any]) -> Iterable[MatchedLine]:
    """One event may span several lines."""
    text = _text(event["data"]["lines"]).removesuffix("\n")
    first = int(event["data"]["line_number"])
    for number, line in enumerate(text.split("\n"), first):
        yield MatchedLine(number, line.removesuffix("\r"), event["type"] == "match")


def _text(value: dict[str, str]) -> str:
    if "text" in value:
        return value["text"]
    return base64.b64decode(value["bytes"]).decode("utf-8", "replace")
