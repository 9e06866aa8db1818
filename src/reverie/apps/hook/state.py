"""Files of the hooks below `<home>/hooks/`: the log, which agents called, and what each session was shown.

Losing any of them costs a repeated memory at most, so writes are plain and a file that cannot be read counts as empty.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from reverie.memory.search.render import Shown

_LOG_BYTES = 256_000
"""A longer log is moved aside; one older part is kept."""
_REPEAT_SECONDS = 10.0
"""A prompt without an id that comes again within this time is the same one, from a second installation."""
_MOST_PROMPTS = 200
_MOST_STATE_BYTES = 1_000_000
_KEEP_DAYS = 30


@dataclass(slots=True)
class SessionState:
    """What the hooks of one session did so far."""

    prompts: dict[str, float] = field(default_factory=dict)
    """Answered prompts, by id or checksum, with the time in seconds."""
    shown: list[dict[str, Any]] = field(default_factory=list)
    """Memories that stand in the conversation: path, bytes, tokens, line."""
    survivors: str = ""
    """What must survive the compaction that is under way; given back once."""
    survived: str = ""
    """What the last compaction was given back, for an agent that forgets it when a session is resumed."""

    def take_prompt(self, prompt_id: str, prompt: str, now: datetime) -> bool:
        """Whether a prompt is new in this session; it is remembered as answered."""
        data = prompt.encode(errors="replace")
        # An id alone is not enough: Qwen counts prompts, and counts again from where a session was rewound to.
        key = f"{prompt_id}:{zlib.crc32(data):08x}-{len(data)}"
        seconds = now.timestamp()
        before = self.prompts.get(key)
        if before is not None and (prompt_id or seconds - before < _REPEAT_SECONDS):
            return False
        self.prompts[key] = seconds
        while len(self.prompts) > _MOST_PROMPTS:
            del self.prompts[next(iter(self.prompts))]
        return True

    def list_shown(self) -> list[Shown]:
        return [Shown(row["path"], row["bytes"], row["tokens"], row["line"]) for row in self.shown]


class HookFolder:
    """The folder of the hooks in our home."""

    def __init__(self, home: Path) -> None:
        self.directory = home / "hooks"

    @property
    def log_file(self) -> Path:
        return self.directory / "log"

    @property
    def pending(self) -> Path:
        """Sessions that wait to be learnt from, a file each."""
        return self.directory / "pending"

    @property
    def learn_lock(self) -> Path:
        return self.directory / "learn.lock"

    @property
    def calls(self) -> Path:
        """A file for each agent that called, whose time is that of the last call."""
        return self.directory / "calls"

    def append_log(self, now: datetime, line: str) -> None:
        """Add a line to the log; where that is not possible nothing happens."""
        with suppress(OSError):
            self._make(self.directory)
            with suppress(FileNotFoundError):
                if self.log_file.stat().st_size > _LOG_BYTES:
                    self.log_file.replace(self.log_file.with_suffix(".1"))
            text = " ".join(line.split())[:2_000]
            descriptor = os.open(self.log_file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.write(descriptor, f"{now.isoformat(timespec='seconds')} {text}\n".encode("utf-8", "replace"))
            finally:
                os.close(descriptor)

    def note_call(self, agent: str, named_agent: str) -> None:
        """Record that an agent called now, and whose hook it ran."""
        with suppress(OSError):
            self._make(self.calls)
            (self.calls / agent).touch(mode=0o600)
            if named_agent != agent:
                (self.calls / f"{agent}.runs-{named_agent}").touch(mode=0o600)

    @contextmanager
    def session(self, agent: str, session: str) -> Iterator[SessionState]:
        """The state of a session, which nobody else changes meanwhile, written at the end.

        Where the folder cannot be written the state is empty and lost.
        """
        import fcntl

        path = self._session_file(agent, session)
        try:
            self._make(path.parent)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            yield SessionState()
            return
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            state = _parse_state(os.pread(descriptor, _MOST_STATE_BYTES, 0).decode("utf-8", "replace"))
            yield state
            content = json.dumps({name: getattr(state, name) for name in SessionState.__slots__}).encode()
            with suppress(OSError):  # on a full disk a state that is cut short counts as empty
                os.pwrite(descriptor, content, 0)
                os.ftruncate(descriptor, len(content))
        finally:
            os.close(descriptor)

    def remove_old(self, now: datetime) -> None:
        """Remove the states of sessions that nobody continued for weeks."""
        with suppress(OSError):
            for entry in os.scandir(self.directory / "sessions"):
                if now.timestamp() - entry.stat().st_mtime > _KEEP_DAYS * 86_400:
                    Path(entry.path).unlink(missing_ok=True)

    def _make(self, folder: Path) -> None:
        """A folder for the user only, with those above it."""
        for each in (self.directory.parent, self.directory, folder):
            if not each.is_dir():
                each.mkdir(exist_ok=True, mode=0o700)

    def _session_file(self, agent: str, session: str) -> Path:
        name = re.sub(r"[^\w.-]", "-", session)[:120] or "none"
        return self.directory / "sessions" / f"{agent}-{name}.json"


def _parse_state(text: str) -> SessionState:
    try:
        document = json.loads(text) if text else {}
        return SessionState(**{name: document[name] for name in SessionState.__slots__ if name in document})
    except (ValueError, TypeError):
        return SessionState()
