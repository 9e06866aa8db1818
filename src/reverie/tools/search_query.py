"""Values of a file search, query and result, shared by both search programs."""

from __future__ import annotations

from pathlib import Path

from reverie.tools.glob_pattern import glob_pattern
from reverie.values import value

MAX_FILE_BYTES = 64 * 1024 * 1024


@value
class FileQuery:
    """One search."""

    root: Path
    """The folder to search, or the file."""
    pattern: str
    """A regular expression."""
    ignores_case: bool = False
    is_multiline: bool = False
    """Let matches span lines, and `.` match their ends."""
    before: int = 0
    after: int = 0
    first_only: bool = False
    """Stop in each file at its first matching line."""
    names: tuple[str, ...] = ()
    """Patterns of file names, of which one must fit; none lets all through."""
    glob: str = ""
    """A further pattern, on paths when it has a slash; with `!` in front it must not fit."""

    def takes(self, path: str) -> bool:
        """Whether a file, named by its path below the root, is to be searched."""
        name = path.rsplit("/", 1)[-1]
        if self.names and not any(glob_pattern(pattern).matches(name) for pattern in self.names):
            return False
        if not self.glob:
            return True
        wanted = self.glob.removeprefix("!")
        whole = wanted.removeprefix("/") if "/" in wanted.rstrip("/") else f"**/{wanted}"
        return glob_pattern(whole).matches(path) != self.glob.startswith("!")


@value
class MatchedLine:
    """A line of a file."""

    number: int
    text: str
    is_match: bool


@value
class FileHits:
    """The lines of one file that match, with those around them."""

    path: Path
    rows: tuple[MatchedLine, ...]

    @property
    def matches(self) -> int:
        """How many lines match."""
        return sum(row.is_match for row in self.rows)
