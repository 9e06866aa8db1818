"""Finds skills, and resolves which one a name means.

Of several with one name the strongest source counts: managed, the user's own, the project's nearest folder; within one
folder a skill goes before a command. Those of plugins carry the plugin's name. Skills of folders below the place where
the agent stands are found when a file there is touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from reverie.extensions.markdown_file import list_markdown
from reverie.extensions.plugins.plugin import Plugin
from reverie.extensions.skills.skill import Skill, read_skill
from reverie.files import is_inside
from reverie.files.places import Places
from reverie.values import value

_FILE = "SKILL.md"


@value
class Skills:
    """What was found."""

    skills: tuple[Skill, ...] = ()
    """By name."""
    problems: tuple[str, ...] = ()
    """Files that were left out or read in part, a sentence each."""

    def find(self, name: str) -> Skill | None:
        """The skill that a name means, with or without its slash; a plugin's also by a short name that only one has."""
        name = name.removeprefix("/")
        exact = next((skill for skill in self.skills if skill.name == name), None)
        if exact is not None:
            return exact
        short = [skill for skill in self.skills if skill.name.rpartition(":")[2] == name]
        return short[0] if len(short) == 1 else None

    def with_more(self, more: Skills) -> Skills:
        """With those of a folder that has come into play; names that are taken stay as they are."""
        return _first_of_each((*self.skills, *more.skills), (*self.problems, *more.problems))


def list_skills(
    *, places: Places, project: Path, directory: Path | None = None, plugins: Iterable[Plugin] = ()
) -> Skills:
    """Every skill and command that is in play where the agent stands: `directory`, or the project itself."""
    skills: list[tuple[Skill | None, str]] = []
    skills += _list_in(places.host_managed / ".claude", "managed")
    for folder in (places.home, places.config_home):
        skills += _list_in(folder, "user")
    for folder in _upward(directory or project, project):
        # In the home directory itself the folders of the user and of the project are the same.
        skills += _list_of_project(folder, places, project if folder.is_relative_to(project) else folder)
    for plugin in plugins:
        skills += _list_of_plugin(plugin)
    return _collect_skills(skills)


def list_nested(touched: Path, *, places: Places, directory: Path) -> Skills:
    """The skills of the folders between the place where the agent stands and a file that it touched."""
    folders = [folder for folder in _upward(touched.parent, directory) if folder != directory]
    below = [folder for folder in folders if folder.is_relative_to(directory)]
    return _collect_skills(one for folder in below for one in _list_of_project(folder, places, directory))


def _list_of_project(folder: Path, places: Places, within: Path) -> Iterator[tuple[Skill | None, str]]:
    for name in (".reverie", ".claude"):
        if folder / name not in (places.home, places.config_home):
            yield from _list_in(folder / name, "project", within=within)


def _list_in(folder: Path, source: str, *, within: Path | None = None) -> Iterator[tuple[Skill | None, str]]:
    """The skills of a folder; those of a project may not lead out of it by a link, `within` says of where."""
    for path in _skill_files(folder / "skills"):
        yield _outside(path, within) or read_skill(path, source=source)
    for path in list_markdown(folder / "commands"):
        yield _outside(path, within) or read_skill(path, source=source, is_command=True)


def _outside(path: Path, within: Path | None) -> tuple[None, str] | None:
    if within is None or is_inside(within, path):
        return None
    return None, f"{path}: ignored: it links to a file outside the project"


def _list_of_plugin(plugin: Plugin) -> Iterator[tuple[Skill | None, str]]:
    for folder in plugin.skills:
        for path in _skill_files(folder):
            yield read_skill(path, source="plugin", plugin=plugin.name, plugin_root=plugin.root)
    for place in plugin.commands:
        for path in [place] if place.suffix == ".md" else list_markdown(place):
            yield read_skill(path, source="plugin", is_command=True, plugin=plugin.name, plugin_root=plugin.root)


def _skill_files(folder: Path) -> list[Path]:
    """The files of a folder of skills, or of the folder of one."""
    if (folder / _FILE).is_file():
        return [folder / _FILE]
    return [path / _FILE for path in _entries(folder) if (path / _FILE).is_file()]


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError:
        return []


def _upward(directory: Path, project: Path) -> list[Path]:
    """The folders from here up to the project, the nearest first; outside of the project only the place itself."""
    if not directory.is_relative_to(project):
        return [directory]
    return [directory, *(folder for folder in directory.parents if folder.is_relative_to(project))]


def _collect_skills(read_skills: Iterable[tuple[Skill | None, str]]) -> Skills:
    pairs = list(read_skills)
    skills = (skill for skill, _ in pairs if skill is not None)
    return _first_of_each(skills, tuple(problem for _, problem in pairs if problem))


def _first_of_each(skills: Iterable[Skill], problems: tuple[str, ...]) -> Skills:
    first: dict[str, Skill] = {}
    for skill in skills:
        first.setdefault(skill.name, skill)
    return Skills(tuple(sorted(first.values(), key=lambda skill: skill.name)), problems)
