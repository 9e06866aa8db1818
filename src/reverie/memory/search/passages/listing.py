"""Which transcripts belong to a project, and where their index lies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reverie.files.places import Places, ProjectFolder, find_checkout, find_project
from reverie.files.places.transcripts import list_transcript_folders
from reverie.hosts.catalogue import list_project_glances
from reverie.memory.retention import list_session_files
from reverie.memory.search.passages.update import SearchedTranscript
from reverie.messages.listing import read_working_directory


def index_place(places: Places, directory: Path) -> Path:
    """Where the index of the project around a directory lies; all work trees of a repository share it."""
    checkout = find_checkout(directory)
    return places.caches / "passages" / f"{places.slug(checkout.root if checkout else directory)}.db"


def list_session_folders(places: Places, directory: Path) -> tuple[ProjectFolder, ...]:
    """The folders of the project around a directory, in both homes; also those of where it was before it moved."""
    project = find_project(places, directory)
    return list_transcript_folders(
        places,
        directory,
        identity=project.identity if project is not None else None,
        read_cwd=lambda one: read_working_directory(one.directory),
    )


def list_all_folders(places: Places) -> tuple[ProjectFolder, ...]:
    """The folders of every project, in both homes."""
    homes = (home for home in (places.projects, places.host_projects) if home.is_dir())
    return tuple(ProjectFolder(entry) for home in homes for entry in sorted(home.iterdir()) if entry.is_dir())


def list_transcripts(places: Places, directory: Path) -> Iterator[SearchedTranscript]:
    """The transcripts of the project around a directory, in both homes and of other agents, with sub-agents'."""
    for folder in list_session_folders(places, directory):
        for file in list_session_files(folder.directory):
            if file.kind == "transcript":
                yield SearchedTranscript(file.path, file.session)
    for glance in list_project_glances(places, directory):
        yield SearchedTranscript(glance.path, glance.parent or glance.id, agent=glance.agent)
