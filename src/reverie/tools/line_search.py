"""The built-in search as a separate process, because a slow regular expression can only be stopped by killing it.

Run as `python -m reverie.tools.line_search QUERY` with the query as JSON. Prints what `rg --json` would, as far as
`ripgrep.py` reads it. Files that hold NUL bytes are no text and are passed over, links are not followed.

`FileQuery` and `FileHits`, the query and the result of a search, are shared by both search programs.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from reverie.files.globs import glob_pattern
from reverie.tools.lines import decode, is_binary, replace_invalid_bytes
from reverie.tools.walk import list_files
from reverie.values import value

BAD_PATTERN = 3
"""Exit code when the expression cannot be understood; standard error says why."""

_POSIX = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "space": r"\s",
    "punct": r"!-/:-@\[-`{-~", "xdigit": "0-9a-fA-F", "word": r"\w", "blank": r" \t", "cntrl": r"\x00-\x1f\x7f",
}  # fmt: skip


def encode_query(query: FileQuery) -> str:
    """A query as one argument."""
    return json.dumps({**asdict(query), "root": str(query.root)})


def decode_query(text: str) -> FileQuery:
    """The opposite of `encode_query`."""
    fields = json.loads(text)
    return FileQuery(**{**fields, "root": Path(fields["root"]), "names": tuple(fields["names"])})


def compile_query(query: FileQuery) -> re.Pattern[str]:
    """The expression, with the names of character classes that other search programs know."""
    pattern = re.sub(r"\[:(\w+):\]", lambda match: _POSIX.get(match[1], match[0]), query.pattern)
    flags = re.IGNORECASE if query.ignores_case else re.NOFLAG
    if query.is_multiline:
        flags |= re.MULTILINE | re.DOTALL
    return re.compile(pattern, flags)


def find_rows(text: str, expression: re.Pattern[str], query: FileQuery) -> Iterator[MatchedLine]:
    """The matching lines of a text with those around them, in order, each once."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if lines[-1] == "":
        lines.pop()
    matching = set(_matching(text, lines, expression, query))
    if query.first_only and matching:
        matching = {min(matching)}
    around = {
        near
        for place in matching
        for near in range(max(0, place - query.before), min(len(lines), place + query.after + 1))
    }
    for place in sorted(around):
        yield MatchedLine(place + 1, lines[place], place in matching)


def _matching(text: str, lines: list[str], expression: re.Pattern[str], query: FileQuery) -> Iterator[int]:
    if not query.is_multiline:
        yield from (place for place, line in enumerate(lines) if expression.search(line))
        return
    text = "\n".join(lines) + ("\n" if lines else "")
    last_line, last_place = 0, 0
    for match in expression.finditer(text):
        if match.start() == len(text) and lines:
            continue
        last_line += text.count("\n", last_place, match.start())
        last_place = match.start()
        spanned = text.count("\n", match.start(), max(match.start(), match.end() - 1))
        yield from range(last_line, last_line + spanned + 1)


def main(argument: str) -> int:
    """Search, printing one JSON object per line."""
    query = decode_query(argument)
    try:
        expression = compile_query(query)
    except (re.error, OverflowError, RecursionError) as problem:
        sys.stderr.write(str(problem))
        return BAD_PATTERN
    for path in _list_searched(query):
        try:
            data = path.read_bytes() if path.stat().st_size <= MAX_FILE_BYTES else b"\0"
        except OSError:
            continue
        if is_binary(data):
            continue
        for row in find_rows(decode(data), expression, query):
            kind = "match" if row.is_match else "context"
            match_event = {
                "path": {"text": replace_invalid_bytes(str(path))},
                "lines": {"text": replace_invalid_bytes(row.text)},
                "line_number": row.number,
            }
            sys.stdout.write(json.dumps({"type": kind, "data": match_event}) + "\n")
    return 0


def _list_searched(query: FileQuery) -> Iterator[Path]:
    if not query.root.is_dir():
        yield query.root
        return
    prefix = len(str(query.root).rstrip("/")) + 1
    for entry in list_files(query.root):
        if not entry.is_symlink() and query.takes(entry.path[prefix:]):
            yield Path(entry.path)


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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
