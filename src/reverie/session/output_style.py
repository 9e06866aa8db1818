"""Output styles: Markdown files that change how the agent writes, and the two that are built in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from reverie.errors import Damaged
from reverie.files import is_inside, read_small
from reverie.memory.topics.frontmatter import BOM, plain_text, split
from reverie.session.prompt_text import prompt_text
from reverie.values import value

DEFAULT = "default"
"""The name that asks for no style at all."""
_YES = frozenset({"true", "yes", "on", "1"})


@value
class OutputStyle:
    """One style."""

    name: str
    """Of a plugin `PLUGIN:NAME`."""
    text: str
    """What is added to the system prompt."""
    description: str = ""
    keeps_coding: bool = False
    """Whether the guidance on code still holds."""
    is_forced: bool = False
    """Whether it holds as soon as its plugin is on."""
    source: str = ""
    """`built-in`, `plugin`, `project`, `user` or `managed`."""


def built_in_styles() -> tuple[OutputStyle, ...]:
    """The styles that everybody has."""
    explains = "Says why the code is as it is while working on it"
    teaches = "Leaves small pieces of the work to you, and says what they teach"
    return (
        OutputStyle("Explanatory", prompt_text("style_explanatory"), explains, keeps_coding=True, source="built-in"),
        OutputStyle("Learning", prompt_text("style_learning"), teaches, keeps_coding=True, source="built-in"),
    )


def list_output_styles(
    places: Iterable[Path], *, source: str = "", plugin: str = "", within: Path | None = None
) -> tuple[OutputStyle, ...]:
    """The styles of files and folders by name; of two with one name the later stands. Broken files are left out.

    `within` is the folder out of which no link may lead.
    """
    found: dict[str, OutputStyle] = {}
    for place in places:
        for path in [place] if place.is_file() else sorted(place.glob("*.md")):
            style = read_output_style(path) if within is None or is_inside(within, path) else None
            if style is not None:
                name = f"{plugin}:{style.name}" if plugin else style.name
                found[name] = replace(style, name=name, source=source, is_forced=style.is_forced and bool(plugin))
    return tuple(found[name] for name in sorted(found))


def find_output_style(styles: Iterable[OutputStyle], name: str) -> OutputStyle | None:
    """The style that a name means, in any case of letters; a plugin's also by a short name that only one has."""
    wanted = name.strip().casefold()
    known = tuple(styles)
    exact = [one for one in known if one.name.casefold() == wanted]
    short = [one for one in known if one.name.casefold().rpartition(":")[2] == wanted]
    return exact[-1] if exact else short[0] if len(short) == 1 else None


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
