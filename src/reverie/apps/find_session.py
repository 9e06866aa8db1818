"""From what a person types to a transcript file: a path, an id, the beginning of one, or nothing for the newest."""

from __future__ import annotations

from collections.abc import Iterable
from glob import escape
from pathlib import Path

from reverie.errors import UserMistake
from reverie.files.places.transcripts import list_transcript_folders
from reverie.hosts.catalogue import READERS, is_session_path, list_host_glances, list_project_glances
from reverie.messages.listing import Glance, list_glances, read_working_directory
from reverie.settings import load
from reverie.settings.load import Configuration


def check_agent(name: str) -> None:
    """Raise `UserMistake` for the name of an agent whose sessions are not read."""
    agents = ("reverie", "claude-code", *READERS)
    if name not in agents:
        raise UserMistake(f"no agent {name!r}; choose one of {', '.join(agents)}")


def session_folders(configuration: Configuration, directory: Path) -> list[Path]:
    """All folders that hold sessions of this project, ours and the host agent's."""
    places = load.places(configuration)
    folders = list_transcript_folders(places, directory, read_cwd=lambda one: read_working_directory(one.directory))
    return [folder.directory for folder in folders]


def all_session_folders(configuration: Configuration) -> list[Path]:
    """All folders that hold sessions of any project, ours and the host agent's."""
    places = load.places(configuration)
    return [path for home in (places.projects, places.host_projects) for path in sorted(home.glob("*/"))]


def list_project_sessions(configuration: Configuration, directory: Path, *, agents: bool = True) -> list[Glance]:
    """The sessions of this project, newest first; with `agents` those that other agents held in it too."""
    glances = list_glances(session_folders(configuration, directory))
    if agents:
        others = list_project_glances(load.places(configuration), directory)
        glances += [glance for glance in others if not glance.is_subagent]
    return sorted(glances, key=lambda glance: (glance.updated, glance.id), reverse=True)


def find_session(configuration: Configuration, directory: Path, named: str | None, *, agents: bool = True) -> Path:
    """The session that is meant, of this project or else of any other; with `agents` of any agent.

    Raises `UserMistake` with the next step when there is none or more than one.
    """
    if named is not None and (named.endswith(".jsonl") or "/" in named or Path(named).exists()):
        path = Path(named).expanduser()
        if path.is_file() or (agents and is_session_path(path)):
            return path
        if path.is_dir():
            raise UserMistake(
                f"{named} is a directory; name a .jsonl file in it, or list them with `reverie sessions {named}`"
            )
        raise UserMistake(f"{named} does not exist; run `reverie sessions` for a list of sessions")
    glances = list_project_sessions(configuration, directory, agents=agents)
    if named is None:
        if not glances:
            raise UserMistake(f"no sessions recorded for {directory}; name a transcript file, or use --project DIR")
        return glances[0].path
    matching = [(glance.id, glance.path) for glance in glances if glance.id.startswith(named)]
    if not matching:
        files = _find_files_by_prefix(all_session_folders(configuration), named)
        others = list_host_glances(load.places(configuration)) if agents else []
        matching = [(path.stem, path) for path in files]
        matching += [(glance.id, glance.path) for glance in others if glance.id.startswith(named)]
    matching = [match for match in matching if match[0] == named] or matching
    if not matching:
        raise UserMistake(f"no session {named!r} in any project; run `reverie sessions --all` for a list")
    if len({session for session, _ in matching}) > 1:
        raise UserMistake(f"{named!r} is ambiguous: it matches {len(matching)} sessions; use a longer prefix")
    if len(matching) > 1:
        raise UserMistake(
            f"{len(matching)} sessions have the id {named!r}; "
            f"name the file: {' or '.join(str(path) for _, path in matching)}"
        )
    return matching[0][1]


def _find_files_by_prefix(folders: Iterable[Path], begun: str) -> list[Path]:
    pattern = f"{escape(begun)}*.jsonl"
    return [path for folder in folders for path in sorted(folder.glob(pattern)) if not path.stem.startswith("agent-")]
