"""The warm process: holds the model of vectors between hooks and answers recalls over a Unix socket.

Started at the start of a session where vectors are installed, one for each home; ends by itself when nobody asked for
`IDLE_SECONDS`. A hook waits `TIMEOUT_SECONDS` for it and searches by words otherwise.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import sys
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from reverie import __version__
from reverie.apps.hook.state import HookFolder
from reverie.memory.memory import Memory
from reverie.memory.search.document import Query
from reverie.memory.search.render import Hit
from reverie.memory.topics.value import Topic

TIMEOUT_SECONDS = 0.3
IDLE_SECONDS = 1_200.0
_LONGEST_SOCKET_PATH = 100
_MOST_BYTES = 4_000_000
_MOST_PROJECTS = 8


def socket_path(home: Path) -> Path:
    """Where the socket of a home is; in the folder for temporary files where the path would be too long."""
    path = HookFolder(home).directory / "warm.sock"
    if len(os.fsencode(path)) <= _LONGEST_SOCKET_PATH:
        return path
    name = f"{zlib.crc32(os.fsencode(path)):08x}"
    return Path(tempfile.gettempdir()) / f"reverie-{os.getuid()}" / f"{name}.sock"


def ask_warm(home: Path, project: Path, query: Query, timeout_seconds: float = TIMEOUT_SECONDS) -> Sequence[Hit] | None:
    """The hits with vectors; None when no process answers in time, or one of another version or user."""
    path = socket_path(home)
    try:
        if path.stat().st_uid != os.getuid():
            return None
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(timeout_seconds)
            connection.connect(str(path))
            connection.sendall(json.dumps(_encode_query(query, project)).encode() + b"\n")
            with connection.makefile("rb") as answer:
                document = json.loads(answer.readline(_MOST_BYTES))
        return [_decode_hit(row) for row in document["hits"]] if document.get("version") == __version__ else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def is_running(home: Path) -> bool:
    """Whether a warm process holds the socket of this home."""
    lock = HookFolder(home).directory / "warm.lock"
    try:
        with lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


class WarmServer:
    """Answers recalls of the projects of one home."""

    def __init__(self, home: Path, *, idle_seconds: float = IDLE_SECONDS) -> None:
        self._home = home
        self._idle_seconds = idle_seconds
        self._memories: dict[str, Memory] = {}

    def serve(self) -> None:
        """Answer until nobody asks any more; returns at once where another process does."""
        path = socket_path(self._home)
        folder = HookFolder(self._home).directory
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (folder / "warm.lock").open("wb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            path.unlink(missing_ok=True)
            try:
                with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
                    listener.bind(str(path))
                    path.chmod(0o600)
                    listener.listen(8)
                    listener.settimeout(self._idle_seconds)
                    self._answer_all(listener)
            finally:
                path.unlink(missing_ok=True)

    def _answer_all(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                return
            with connection, suppress(OSError, ValueError, KeyError, TypeError):
                connection.settimeout(5.0)
                with connection.makefile("rb") as question:
                    request = json.loads(question.readline(_MOST_BYTES))
                if request.get("version") != __version__:
                    return  # an upgrade: the next session starts its own
                connection.sendall(json.dumps(self.answer(request)).encode() + b"\n")

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The hits for a query as a hook reads them."""
        project = str(request["project"])
        if project not in self._memories:
            while len(self._memories) >= _MOST_PROJECTS:
                self._memories.pop(next(iter(self._memories))).close()
            self._memories[project] = Memory.open(project)
        query = _decode_query(request)
        return {
            "version": __version__,
            "hits": list(map(_encode_hit, self._memories[project].recall_report(query).hits)),
        }


def _encode_query(query: Query, project: Path) -> dict[str, Any]:
    lists = {name: list(getattr(query, name)) for name in ("files", "tools", "exclude", "named")}
    plain = {name: getattr(query, name) for name in ("text", "context", "caution", "limit")}
    return {"version": __version__, "project": str(project), "now": query.now.isoformat(), **plain, **lists}


def _decode_query(request: Mapping[str, Any]) -> Query:
    return Query(
        text=request["text"],
        now=datetime.fromisoformat(request["now"]),
        context=request["context"],
        files=tuple(request["files"]),
        tools=tuple(request["tools"]),
        exclude=frozenset(request["exclude"]),
        named=frozenset(request["named"]),
        caution=request["caution"],
        limit=request["limit"],
    )


def _encode_hit(hit: Hit) -> dict[str, Any]:
    topic = hit.topic
    head = {"topic_path": topic.path, "name": topic.name, "description": topic.description}
    return head | {name: getattr(hit, name) for name in ("score", "why", "text", "header", "path", "scope", "shown")}


def _decode_hit(row: Mapping[str, Any]) -> Hit:
    topic = Topic(path=row["topic_path"], name=row["name"], description=row["description"], type=None, body="")
    hit = Hit(topic, row["score"], row["why"], row["text"], header=row["header"])
    return replace(hit, path=row["path"], scope=row["scope"], shown="line" if row["shown"] == "line" else "whole")


def main(home: str) -> None:
    """Serve the recalls of a home."""
    with suppress(OSError):
        os.nice(5)
    WarmServer(Path(home)).serve()


if __name__ == "__main__":
    main(sys.argv[1])
