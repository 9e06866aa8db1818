"""The files of a project, for completing paths: what git tracks or would, else a walk that stops in time."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from reverie.places import ASKING_GIT

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
    command = (*ASKING_GIT, "-C", str(directory), "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=_GIT_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode != 0:
        return None
    names = done.stdout.decode("utf-8", errors="replace").split("\0")
    return [name for name in names if name][:MOST_FILES]


def _list_by_walk(directory: Path) -> list[str]:
    found: list[str] = []
    for folder, folders, files in os.walk(directory):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        found += [str((Path(folder) / name).relative_to(directory)) for name in sorted(files)]
        if len(found) >= MOST_FILES:
            break
    return found[:MOST_FILES]
