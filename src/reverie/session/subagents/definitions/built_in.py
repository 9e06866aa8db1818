"""The roles that we bring: files like everybody else's, in `prompts/`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from reverie.extensions.plugins.front_matter import read_page
from reverie.session.subagents.definitions.definition import Definition, definition_of

_NAMES = ("general-purpose", "explore", "plan", "reverie-guide", "statusline-setup")


@cache
def built_in() -> tuple[Definition, ...]:
    """All of them, in a fixed order."""
    folder = files("reverie.session.subagents.definitions") / "prompts"
    found = []
    for name in _NAMES:
        page = read_page((folder / f"{name}.md").read_text(encoding="utf-8"))
        definition = definition_of(page, source="built-in", place="built in")
        assert isinstance(definition, Definition), definition
        found.append(definition)
    return tuple(found)
