"""Files of roles for tests."""

from __future__ import annotations

from pathlib import Path

from reverie.extensions.markdown_file import read_page
from reverie.files.places import Places
from reverie.session.subagents.definitions.definition import Definition, definition_of


def places_at(root: Path) -> Places:
    return Places.at(root / "home" / ".reverie", root / "home" / ".claude")


def write_role(folder: Path, name: str, head: str = "", body: str = "You help.\n") -> Path:
    path = folder / "agents" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    description = "" if "description:" in head else f"description: What {name} is for\n"
    path.write_text(f"---\nname: {name}\n{description}{head}\n---\n{body}", encoding="utf-8")
    return path


def role(head: str, body: str = "You help.\n", **more: str) -> Definition:
    found = definition_of(read_page(f"---\n{head}\n---\n{body}"), source="user", place="here.md", **more)
    assert isinstance(found, Definition), found
    return found
