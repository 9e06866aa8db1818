"""Which files the agent has read and their content then, for "read before you edit" and for recall.

A bounded list, the least recently used file goes first. Whether a file changed since is told by its content.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from reverie.values import value

DEFAULT_FILES = 100


@value
class SeenFile:
    """A file as it was when it was read or written by us."""

    digest: str
    """SHA-256 of its bytes."""
    is_whole: bool
    """False when only a part was shown."""
    parts: tuple[tuple[int, int], ...] = ()
    """The first and last lines of the pages that were shown, apart and in order, as long as it is not whole."""


class SeenFiles:
    """Files by the real path that callers name them by, the most recent last."""

    def __init__(self, limit: int = DEFAULT_FILES) -> None:
        self._limit = limit
        self._files: OrderedDict[Path, SeenFile] = OrderedDict()

    def note(self, path: Path, content: bytes, *, is_whole: bool = True) -> None:
        """Remember what a file holds now; a part that is read after the whole does not undo the whole."""
        seen = self._get_same(path, content)
        self._put(path, content, is_whole or seen.is_whole, seen.parts)

    def note_page(self, path: Path, content: bytes, first: int, last: int, total: int) -> None:
        """Remember that some lines of a file were shown; the pages of one content together make the whole."""
        seen = self._get_same(path, content)
        parts = _join_ranges(((first, last), *seen.parts))
        self._put(path, content, seen.is_whole or parts == ((1, total),), parts)

    def mark_partial(self, path: Path) -> None:
        """Of this file only a part was shown, as after an edit of a part."""
        if path in self._files:
            self._files[path] = replace(self._files[path], is_whole=False)

    def _get_same(self, path: Path, content: bytes) -> SeenFile:
        """What was shown of this content before; nothing, when the file held something else then."""
        seen = self.get(path)
        digest = sha256(content).hexdigest()
        return seen if seen is not None and seen.digest == digest else SeenFile(digest, is_whole=False)

    def _put(self, path: Path, content: bytes, is_whole: bool, parts: tuple[tuple[int, int], ...]) -> None:
        self._files[path] = SeenFile(sha256(content).hexdigest(), is_whole, () if is_whole else parts)
        self._files.move_to_end(path)
        while len(self._files) > self._limit:
            self._files.popitem(last=False)

    def get(self, path: Path) -> SeenFile | None:
        """What is known of a file."""
        return self._files.get(path)

    def is_current(self, path: Path, content: bytes) -> bool:
        """Whether the file was read and still holds what was read."""
        seen = self.get(path)
        return seen is not None and seen.digest == sha256(content).hexdigest()

    @property
    def paths(self) -> tuple[Path, ...]:
        """All files, the most recent last."""
        return tuple(self._files)

    def forget(self) -> None:
        """Nothing was read any more; after a compaction the model no longer sees what it read."""
        self._files.clear()

    def copy(self) -> SeenFiles:
        """A copy of its own."""
        copy = SeenFiles(self._limit)
        copy._files = OrderedDict(self._files)
        return copy


def _join_ranges(parts: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """The same lines, neighbouring parts put together."""
    ranges: list[tuple[int, int]] = []
    for first, last in sorted(parts):
        if ranges and first <= ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], max(ranges[-1][1], last))
        else:
            ranges.append((first, last))
    return tuple(ranges)
