"""Finds all folders with transcripts of one repository.

Transcripts lie under the slug of the working directory, memory under that of the root, so a repository
has many such folders: one for each folder that somebody worked in, in each of its work trees, in each home. Reading
the transcripts themselves is the matter of `reverie.messages`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from reverie.files import is_encodable
from reverie.files.places.checkout import find_checkout, list_worktrees
from reverie.files.places.identity import Identity
from reverie.files.places.paths import Places, ProjectFolder, canonical, names_folder_of


def list_transcript_folders(
    places: Places,
    path: Path,
    *,
    identity: Identity | None = None,
    read_cwd: Callable[[ProjectFolder], str | None] | None = None,
) -> tuple[ProjectFolder, ...]:
    """List the folders that may hold transcripts of the repository around this path, in both homes.

    `identity` adds the places where the repository was before. Slugs are lossy, so without `read_cwd`, which says where
    the sessions in a folder were held, the list may hold folders of neighbours whose names begin alike.
    """
    roots = list_project_roots(path, identity)
    return tuple(
        folder
        for projects in (places.projects, places.host_projects)
        for folder in _list_folders(projects)
        if folder.directory.name == places.project_dir_name
        or (
            any(names_folder_of(folder.directory.name, root, or_below=True) for root in roots)
            and (read_cwd is None or _belongs(folder, read_cwd(folder), roots))
        )
    )


def list_subagent_transcripts(folder: ProjectFolder, session_id: str) -> tuple[Path, ...]:
    """List the sub-agents' transcripts of a session, and after them those beside it, which may be of any session."""
    transcripts = (
        *sorted(folder.session(session_id).subagents.rglob("agent-*.jsonl")),
        *sorted(folder.directory.glob("agent-*.jsonl")),
    )
    return tuple(path for path in transcripts if path.is_file())


def list_project_roots(path: Path, identity: Identity | None = None) -> tuple[str, ...]:
    """The roots of the repository around a path: its work trees, and with `identity` where it was before."""
    checkout = find_checkout(path)
    seen: Iterable[Path] = (checkout.root, *list_worktrees(checkout)) if checkout else (path,)
    remembered = (identity.path, *identity.other_paths) if identity else ()
    return tuple(dict.fromkeys((*map(canonical, seen), *remembered)))


def _list_folders(projects: Path) -> list[ProjectFolder]:
    try:
        return [ProjectFolder(entry) for entry in sorted(projects.iterdir()) if entry.is_dir()]
    except OSError:
        return []


def is_held_below(cwd: str, roots: tuple[str, ...]) -> bool:
    """Whether a session held in this directory belongs to the project with these roots."""
    if not cwd or not is_encodable(cwd) or not Path(cwd).is_absolute():
        return False
    checkout = find_checkout(Path(cwd))
    if checkout is not None and canonical(checkout.root) not in roots and _is_below(canonical(checkout.top), roots):
        return False  # a repository inside this one is a project of its own
    return _is_below(canonical(cwd), roots)


def _belongs(folder: ProjectFolder, cwd: str | None, roots: tuple[str, ...]) -> bool:
    is_named_so = any(names_folder_of(folder.directory.name, root) for root in roots)
    if cwd is None:
        return is_named_so
    if is_named_so and is_encodable(cwd) and Path(cwd).is_absolute() and not Path(cwd).exists():
        return True  # brought from another machine, or from a place that is gone
    return is_held_below(cwd, roots)


def _is_below(path: str, roots: tuple[str, ...]) -> bool:
    return any(Path(path).is_relative_to(root) for root in roots)
