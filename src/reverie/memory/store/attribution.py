"""Finds who made an edit on disk: the session, ours or of a host agent, whose transcript records it.

A transcript is believed when it explains the file: the writes and edits it records, applied to what was there before,
give what is there now. Anything else stays unknown; nothing is ever taken for the user's own edit.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from reverie.errors import Error
from reverie.files.places.paths import MemoryFolder
from reverie.memory.store.change import Change
from reverie.memory.store.worktree import place_of
from reverie.memory.store.writer import FoundEdit
from reverie.memory.topics.value import Source
from reverie.values import value

MAX_TRANSCRIPT_BYTES = 64 * 2**20
"""Most that is read of all transcripts together, the latest first: an edit is looked for soon after it was made."""
MAX_STEPS = 50
"""The longest run of recorded writes that is tried on one file."""
_SLACK_SECONDS = 600
"""A transcript may end that long before the write: the last record is the call, which then waited for permission."""
_LISTED_SECONDS = 1.0
"""How long a look at the folders holds: many files may have been edited at once."""
_STAMP = re.compile(r"(?m)^modified:.*\n")
"""Some hosts stamp a file when they write it, which their record of the call does not show."""


@value
class RecordedWrite:
    """One write or edit that a transcript records."""

    file: str
    """As the caller wrote it."""
    session: str
    message: str
    timestamp: str
    whole: str | None
    """The new content of the whole file; None for an edit."""
    edits: tuple[tuple[str, str, bool], ...] = ()
    """Old text, new text, whether everywhere."""

    def apply(self, text: str) -> str | None:
        """The file after this step; None where it does not fit."""
        if self.whole is not None:
            return self.whole
        for old, new, everywhere in self.edits:
            if old not in text:
                return None
            text = text.replace(old, new, -1 if everywhere else 1)
        return text


class Attribution:
    """Answers for one directory, reading each transcript once as long as it does not change."""

    def __init__(self, folder: MemoryFolder, list_transcripts: Callable[[], Iterable[Path]]) -> None:
        self._folder = folder
        self._list_transcripts = list_transcripts
        self._listed: tuple[float, tuple[Path, ...]] = (float("-inf"), ())
        self._read: dict[Path, tuple[tuple[int, int], tuple[RecordedWrite, ...]]] = {}

    def __call__(self, edit: FoundEdit) -> Change | None:
        """The change that explains an edit; None when no transcript does."""
        if edit.content is None:
            return None
        place = place_of(self._folder, edit.path)
        try:
            text = edit.content.decode()
            earliest = place.lstat().st_mtime - _SLACK_SECONDS
            steps = [step for step in self._steps_since(earliest) if _is_about(step, place)]
        except (Error, OSError, UnicodeDecodeError):
            # Who it was is worth knowing, but never worth a change that is lost.
            return None
        if not steps:
            return None
        steps = sorted(steps, key=lambda step: step.timestamp)[-MAX_STEPS:]
        before = (edit.read_before() or b"").decode("utf-8", "replace")
        last = _explaining(steps, before, text)
        if last is None:
            return None
        source = Source(session=last.session, message=last.message)
        return Change("agent", f"edited by session {last.session[:8]}", last.session, (source,))

    def _steps_since(self, earliest: float) -> Iterator[RecordedWrite]:
        if time.monotonic() - self._listed[0] > _LISTED_SECONDS:
            self._listed = time.monotonic(), tuple(self._list_transcripts())
        looks = []
        for path in self._listed[1]:
            try:
                status = path.stat()
            except OSError:
                continue
            if status.st_mtime >= earliest:
                looks.append((status.st_mtime_ns, status.st_size, path))
        budget = MAX_TRANSCRIPT_BYTES
        for mtime_ns, size, path in sorted(looks, reverse=True):
            budget -= size
            if budget < 0:
                return
            if path not in self._read or self._read[path][0] != (mtime_ns, size):
                self._read[path] = (mtime_ns, size), tuple(read_steps(path, inside=self._folder.directory))
            yield from self._read[path][1]


def read_steps(transcript: Path, *, inside: Path) -> Iterator[RecordedWrite]:
    """The writes and edits of files of one directory that a transcript records, in its order."""
    from reverie.messages.blocks import ToolUse
    from reverie.messages.entries import AssistantEntry
    from reverie.messages.records import decode_line

    # Links on the way to the directory make the name of the last folder the only part that must agree.
    mark = inside.name.encode()
    try:
        lines = transcript.read_bytes().split(b"\n")
    except OSError:
        return
    for line in lines:
        if b'"file_path"' not in line or mark not in line:
            continue
        entry = decode_line(line)
        if not isinstance(entry, AssistantEntry):
            continue
        for block in entry.message.content:
            if isinstance(block, ToolUse) and (call := _parse_call(block.input)) is not None:
                envelope = entry.envelope
                yield RecordedWrite(call[0], envelope.session, envelope.uuid, envelope.timestamp, *call[1:])


def _parse_call(arguments: Mapping[str, Any]) -> tuple[str, str | None, tuple[tuple[str, str, bool], ...]] | None:
    """File, whole content and edits of a call; by the shape of its input, since tools have many names."""
    match arguments:
        case {"file_path": str(file), "content": str(content)}:
            return file, content, ()
        case {"file_path": str(file), "edits": list(edits)}:
            steps = tuple(step for each in edits if isinstance(each, dict) and (step := _edit(each)) is not None)
            return (file, None, steps) if steps else None
        case {"file_path": str(file)}:
            step = _edit(arguments)
            return (file, None, (step,)) if step is not None else None
        case _:
            return None


def _edit(edit: Mapping[str, Any]) -> tuple[str, str, bool] | None:
    match edit:
        case {"old_string": str(old), "new_string": str(new)}:
            return old, new, edit.get("replace_all") is True
        case _:
            return None


def _is_about(step: RecordedWrite, place: Path) -> bool:
    return step.file.endswith(place.name) and os.path.realpath(step.file) == os.path.realpath(place)


def _explaining(steps: list[RecordedWrite], before: str, after: str) -> RecordedWrite | None:
    """The last of the steps which, in a row, lead from one text to the other."""
    target = _plain(after)
    for first in reversed(range(len(steps))):
        text: str | None = before
        for step in steps[first:]:
            text = step.apply(text) if text is not None else None
            if text is not None and _plain(text) == target:
                return step
    return None


def _plain(text: str) -> str:
    return _STAMP.sub("", text.replace("\r\n", "\n"), count=1).rstrip()
