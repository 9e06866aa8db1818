"""Output styles: Markdown files that change how the agent writes, the two built-in ones, and which one holds.

Of several with one name the user's own goes before the project's, as with skills. What the settings name counts; where
they name nothing, a style that a plugin brings along for itself does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from reverie.extensions.markdown_file import read_page
from reverie.extensions.plugins.plugin import Plugin
from reverie.files import is_inside, read_small
from reverie.files.front_matter import BOM
from reverie.session.options import SessionOptions
from reverie.session.prompt_text import prompt_text
from reverie.values import value

DEFAULT = "default"
"""The name that asks for no style at all."""


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
    styles: dict[str, OutputStyle] = {}
    for place in places:
        for path in [place] if place.is_file() else sorted(place.glob("*.md")):
            style = read_output_style(path) if within is None or is_inside(within, path) else None
            if style is not None:
                name = f"{plugin}:{style.name}" if plugin else style.name
                styles[name] = replace(style, name=name, source=source, is_forced=style.is_forced and bool(plugin))
    return tuple(styles[name] for name in sorted(styles))


def find_output_style(styles: Iterable[OutputStyle], name: str) -> OutputStyle | None:
    """The style that a name means, in any case of letters; a plugin's also by a short name that only one has."""
    folded_name = name.strip().casefold()
    candidates = tuple(styles)
    exact = [one for one in candidates if one.name.casefold() == folded_name]
    short = [one for one in candidates if one.name.casefold().rpartition(":")[2] == folded_name]
    return exact[-1] if exact else short[0] if len(short) == 1 else None


def read_output_style(path: Path) -> OutputStyle | None:
    """One style; None when the file cannot be read as one, or says nothing."""
    content = read_small(path)
    if content is None:
        return None
    page = read_page(content.decode("utf-8", errors="replace"))
    body = page.body.removeprefix(BOM).strip()
    if page.problem or not body:
        return None
    return OutputStyle(
        name=page.text("name") or path.stem,
        text=body,
        description=page.text("description"),
        keeps_coding=page.flag("keep-coding-instructions", default=False),
        is_forced=page.flag("force-for-plugin", default=False),
    )


FOLDER = "output-styles"


@value
class StyleChoice:
    """What was found and chosen."""

    known: tuple[OutputStyle, ...]
    """By name."""
    chosen: OutputStyle | None = None
    """None leaves the agent as it is."""
    problem: str = ""
    """A sentence, when the settings name a style that is not there."""

    @property
    def name(self) -> str:
        """The name of the style that holds."""
        return self.chosen.name if self.chosen is not None else DEFAULT

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """All styles with what they are for and where each comes from, for people."""
        rows = [(DEFAULT, "No style: as the agent writes by itself", "built-in")]
        rows += [(one.name, one.description or one.text.partition("\n")[0][:80], one.source) for one in self.known]
        return tuple(
            (name, f"{about} [{source}{', in use' if name == self.name else ''}]") for name, about, source in rows
        )


def read_styling(options: SessionOptions, plugins: Sequence[Plugin]) -> StyleChoice:
    """Find the styles of a session and the one that holds."""
    by_name = {style.name: style for style in _list_all(options, plugins)}
    styles = tuple(by_name[name] for name in sorted(by_name))
    style_name = (options.settings.output_style or "").strip()
    if not style_name:
        return StyleChoice(styles, next((one for one in styles if one.is_forced), None))
    if style_name.casefold() == DEFAULT:
        return StyleChoice(styles)
    chosen = find_output_style(styles, style_name)
    if chosen is not None:
        return StyleChoice(styles, chosen)
    names = ", ".join([DEFAULT, *(one.name for one in styles)])
    return StyleChoice(styles, problem=f"there is no output style {style_name!r} (`output_style`); there are {names}")


def _list_all(options: SessionOptions, plugins: Sequence[Plugin]) -> tuple[OutputStyle, ...]:
    """The weakest source first."""
    places, project = options.places, options.project
    styles = [*built_in_styles()]
    if options.settings.simple_mode:
        return tuple(styles)
    for plugin in plugins:
        styles += list_output_styles(plugin.output_styles, source="plugin", plugin=plugin.name, within=plugin.root)
    homes = (places.config_home, places.home)
    ours = [folder for folder in (project / ".claude", project / ".reverie") if folder not in homes]
    styles += list_output_styles((folder / FOLDER for folder in ours), source="project", within=project)
    styles += list_output_styles((folder / FOLDER for folder in homes), source="user")
    managed = (places.host_managed / ".claude", places.managed)
    styles += list_output_styles((folder / FOLDER for folder in managed), source="managed")
    return tuple(styles)
