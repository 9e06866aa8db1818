"""Output styles: Markdown files that change how the agent writes (spec 8 §1.9)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from reverie.errors import Damaged
from reverie.files import read_small
from reverie.memory.frontmatter import BOM, plain_text, split
from reverie.values import value

_YES = frozenset({"true", "yes", "on", "1"})


@value
class OutputStyle:
    """One style."""

    name: str
    text: str
    """What is added to the system prompt."""
    description: str = ""
    keeps_coding: bool = False
    """Whether the guidance on code still holds."""
    is_forced: bool = False
    """Whether it holds as soon as its plugin is on."""


def list_output_styles(folders: Iterable[Path]) -> tuple[OutputStyle, ...]:
    """The styles of some folders by name; of two with one name the later folder's stands. Broken files are left out."""
    found: dict[str, OutputStyle] = {}
    for folder in folders:
        for path in sorted(folder.glob("*.md")):
            style = read_output_style(path)
            if style is not None:
                found[style.name] = style
    return tuple(found[name] for name in sorted(found))


def read_output_style(path: Path) -> OutputStyle | None:
    """One style; None when the file cannot be read as one, or says nothing."""
    content = read_small(path)
    if content is None:
        return None
    text = content.decode("utf-8", errors="replace").removeprefix(BOM)
    try:
        head = split(str(path), text)
    except Damaged:
        return None
    keys = {} if head is None else {entry.key: plain_text(entry.value) or "" for entry in head.entries}
    body = (text if head is None else head.body).strip()
    if not body:
        return None
    return OutputStyle(
        name=keys.get("name") or path.stem,
        text=body,
        description=keys.get("description", ""),
        keeps_coding=keys.get("keep-coding-instructions", "").lower() in _YES,
        is_forced=keys.get("force-for-plugin", "").lower() in _YES,
    )
