"""Which transcripts belong to a project, and where their index lies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reverie.memory.passages.indexing import Transcript
from reverie.memory.retention import list_session_files
from reverie.messages.listing import read_working_directory
from reverie.places import Places, find_checkout, list_transcript_folders


def index_place(places: Places, directory: Path) -> Path:
    """Where the index of the project around a directory lies; all work trees of a repository share it."""
    checkout = find_checkout(directory)
    return places.caches / "passages" / f"{places.slug(checkout.root if checkout else directory)}.db"


def list_transcripts(places: Places, directory: Path) -> Iterator[Transcript]:
    """The transcripts of the project around a directory, in both homes, with those of sub-agents."""
    folders = list_transcript_folders(places, directory, read_cwd=lambda one: read_working_directory(one.directory))
    for folder in folders:
        for file in list_session_files(folder.directory):
            if file.kind == "transcript":
                yield Transcript(file.path, file.session)
