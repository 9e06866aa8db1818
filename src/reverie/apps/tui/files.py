"""Lists the files of a project for path completion: from git, else by a bounded directory walk."""

from __future__ import annotations

import os
from pathlib import Path

from reverie.files.git import ask_git

MOST_FILES = 20_000
_GIT_SECONDS = 3.0
_SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv", "target", "dist", ".mypy_cache"})


def list_project_files(directory: Path) -> list[str]:
    """Paths below a directory, relative to it, with folders ending in a slash."""
    found = _list_by_git(directory)
    files = _list_by_walk(directory) if found is None else found
    folders = {f"{parent}/" for file in files for parent in map(str, Path(file).parents) if parent != "."}
    return sorted(folders) + sorted(files)


def _list_by_git(directory: Path) -> list[str] | None:
    said = ask_git(directory, "ls-files", "-z", "--cached", "--others", "--exclude-standard", seconds=_GIT_SECONDS)
    if said is None:
        return None
    names = said.split("\0")
    return [name for name in names if name][:MOST_FILES]


def _list_by_walk(directory: Path) -> list[str]:
    found: list[str] = []
    for folder, folders, files in os.walk(directory):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        found += [str((Path(folder) / name).relative_to(directory)) for name in sorted(files)]
        if len(found) >= MOST_FILES:
            break
    return found[:MOST_FILES]
