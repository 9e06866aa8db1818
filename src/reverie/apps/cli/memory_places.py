"""Where the memory files of another agent lie, as `reverie import` and `reverie export` take it from a user."""

from __future__ import annotations

from pathlib import Path

from reverie.memory.memory import Memory


def find_place(memory: Memory, agent: str | None, path: str | None) -> Path:
    """The named path, or the usual place of an agent's memory files for this project.

    Raises: `UserMistake` where a path is needed.
    """
    from reverie.errors import UserMistake
    from reverie.settings.load import agent_memory_places

    if path is not None:
        return Path(path).expanduser().absolute()
    places = agent_memory_places(memory.root or Path.cwd())
    if agent not in places:
        raise UserMistake(f"name the path: the memory files of {agent} have no usual place on this machine")
    return places[agent]
