"""How the agent of a session writes: which output styles there are, and which one holds.

Of several with one name the user's own goes before the project's, as with skills. What the settings name counts; where
they name nothing, a style that a plugin brings along for itself does.
"""

from __future__ import annotations

from collections.abc import Sequence

from reverie.extensions.plugins.plugin import Plugin
from reverie.session.options import SessionOptions
from reverie.session.output_style import DEFAULT, OutputStyle, built_in_styles, find_output_style, list_output_styles
from reverie.values import value

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
    known = {style.name: style for style in _list_all(options, plugins)}
    styles = tuple(known[name] for name in sorted(known))
    wanted = (options.settings.output_style or "").strip()
    if not wanted:
        return StyleChoice(styles, next((one for one in styles if one.is_forced), None))
    if wanted.casefold() == DEFAULT:
        return StyleChoice(styles)
    chosen = find_output_style(styles, wanted)
    if chosen is not None:
        return StyleChoice(styles, chosen)
    names = ", ".join([DEFAULT, *(one.name for one in styles)])
    return StyleChoice(styles, problem=f"there is no output style {wanted!r} (`output_style`); there are {names}")


def _list_all(options: SessionOptions, plugins: Sequence[Plugin]) -> tuple[OutputStyle, ...]:
    """The weakest source first."""
    places, project = options.places, options.project
    found = [*built_in_styles()]
    if options.settings.simple_mode:
        return tuple(found)
    for plugin in plugins:
        found += list_output_styles(plugin.output_styles, source="plugin", plugin=plugin.name, within=plugin.root)
    homes = (places.config_home, places.home)
    ours = [folder for folder in (project / ".claude", project / ".reverie") if folder not in homes]
    found += list_output_styles((folder / FOLDER for folder in ours), source="project", within=project)
    found += list_output_styles((folder / FOLDER for folder in homes), source="user")
    managed = (places.host_managed / ".claude", places.managed)
    found += list_output_styles((folder / FOLDER for folder in managed), source="managed")
    return tuple(found)
