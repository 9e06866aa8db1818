"""Glob: files by name, the most recently changed first."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from reverie.files.globs import GlobPattern, glob_pattern, split_fixed_start
from reverie.messages.blocks import JsonObject
from reverie.permissions.need import Act, Need
from reverie.tools.describe import field, make_tool_spec
from reverie.tools.desk import Desk
from reverie.tools.lines import replace_invalid_bytes
from reverie.tools.reach import paths_to_judge, resolve_judged, shorten_path
from reverie.tools.schema import text
from reverie.tools.tool import ToolAnswer, ToolMistake
from reverie.tools.walk import list_files

MAX_FILES = 100


class Glob:
    """Finds files by their names."""

    def __init__(self) -> None:
        self.spec = make_tool_spec(
            "Glob",
            "glob",
            {
                "pattern": field("string", "For example `src/**/*.py` or `**/*.{ts,tsx}`.", minLength=1),
                "path": field("string", "The folder to search; the working directory when left out."),
            },
            required=("pattern",),
        )

    def need(self, arguments: JsonObject, desk: Desk) -> Need:
        start, _ = _start(arguments)
        paths = paths_to_judge(start, desk)
        pattern = text(arguments, "pattern")
        return Need("Glob", Act.READ, paths, summary=f"Glob {pattern} in {shorten_path(paths[0], desk)}")

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:  # noqa: ARG002 - the shape of every tool
        return True

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:
        start, rest = _start(arguments)
        root = resolve_judged(start, desk)
        if not root.is_dir():
            raise ToolMistake(f"There is no folder {root} to search in.")
        paths = await asyncio.to_thread(list_matching, root, glob_pattern(rest))
        names = [replace_invalid_bytes(str(path)) for path in paths[:MAX_FILES]]
        details: JsonObject = {"filenames": [*names], "numFiles": len(names), "truncated": len(paths) > MAX_FILES}
        if not paths:
            return ToolAnswer(f"No file in {root} matches {text(arguments, 'pattern')!r}.", details=details)
        if len(paths) > MAX_FILES:
            names.append(f"({len(paths) - MAX_FILES:,} more files match; narrow the pattern or the path)")
        return ToolAnswer("\n".join(names), details=details)


def list_matching(root: Path, pattern: GlobPattern) -> list[Path]:
    """The files under a pattern, the most recently changed first, equal ones by name."""
    prefix = len(str(root).rstrip("/")) + 1
    entries = [entry for entry in list_files(root) if pattern.matches(entry.path[prefix:])]
    return [Path(entry.path) for entry in sorted(entries, key=lambda entry: (-_modified_ns(entry), entry.path))]


def _start(arguments: JsonObject) -> tuple[str, str]:
    """The folder where the search starts and what is left of the pattern there."""
    pattern = text(arguments, "pattern")
    if ".." in pattern.split("/"):
        raise ToolMistake("A pattern cannot go up with `..`; name the folder in `path`.")
    fixed, rest = split_fixed_start(pattern)
    return str(Path(text(arguments, "path") or ".", fixed).expanduser()), rest


def _modified_ns(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat().st_mtime_ns
    except OSError:
        return 0
