"""Where roles lie, which one a name means, the built-in ones, and what the model is told of them.

Of several with one name the strongest source counts: built in, plugins, the user's own, the project's (the nearest
folder wins), flags, what an administrator set. Ours goes before the host agent's folder beside it. What came with the
project counts only once the user has agreed to it; what cannot be read is named and left out.

Built-in roles are files in `prompts/`. The model is told of roles by a line each, in an attachment, so that the tool
description never changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path

from reverie.errors import UserMistake
from reverie.extensions.json_file import Unread, parse_object
from reverie.extensions.markdown_file import list_markdown, read_page
from reverie.extensions.plugins.plugin import Plugin
from reverie.files import is_inside, read_small
from reverie.files.places import Places
from reverie.files.trust import TrustAnswers, TrustPart
from reverie.session.subagents.definitions.definition import Definition, definition_of, page_of_json, part_of
from reverie.settings import Declaration
from reverie.values import value

MAX_FILE_BYTES = 1024 * 1024
_ORDER = ("built-in", "plugin", "user", "project", "local", "environment", "flag", "managed")
"""The weakest first."""


@value
class Agents:
    """What was found."""

    definitions: tuple[Definition, ...] = ()
    """By name."""
    problems: tuple[str, ...] = ()
    """What was left out or read in part, a sentence each."""
    waiting: tuple[TrustPart, ...] = ()
    """What came with the project and needs the user's yes first."""

    def find(self, name: str) -> Definition | None:
        """The role that a name means; a plugin's also by a short name that only one has."""
        exact = next((one for one in self.definitions if one.name == name), None)
        if exact is not None:
            return exact
        short = [one for one in self.definitions if name in (one.name.rpartition(":")[2], one.name.casefold())]
        return short[0] if len(short) == 1 else None


def list_agents(
    *,
    places: Places,
    project: Path,
    directory: Path | None = None,
    plugins: Iterable[Plugin] = (),
    declared: Sequence[Declaration] = (),
    flag: str | None = None,
    trust: TrustAnswers = TrustAnswers(),  # noqa: B008 - a frozen value
    project_is_trusted: bool = False,
) -> Agents:
    """Every role that may be played where the agent stands: `directory`, or the project itself.

    `declared` are the `agents` of settings, `flag` the JSON of `--agents`.
    """
    definitions: list[Definition | str] = [*built_in()]
    definitions += [one for plugin in plugins for one in _list_of_plugin(plugin)]
    definitions += [one for folder in _user_folders(places) for one in _list_in(folder, "user")]
    definitions += _list_of_project(places, directory or project, project)
    definitions += [one for folder in _managed_folders(places) for one in _list_in(folder, "managed")]
    definitions += [one for declaration in declared for one in _of_declaration(declaration)]
    if flag is not None:
        definitions += _of_declaration(Declaration(source="flag", place="--agents", committed=False, text=flag))
    problems = [one for one in definitions if isinstance(one, str)]
    chosen: dict[str, Definition] = {}
    waiting: list[TrustPart] = []
    roles = [one for one in definitions if isinstance(one, Definition)]
    for role in sorted(roles, key=lambda one: _ORDER.index(one.source)):
        problems += role.problems
        if role.part is not None and not project_is_trusted and not trust.accepts(role.part):
            waiting += trust.waiting([role.part])
            continue
        chosen[role.name] = role
    return Agents(tuple(sorted(chosen.values(), key=lambda one: one.name)), tuple(problems), tuple(waiting))


def check_flag(text: str) -> None:
    """Raise `UserMistake` when the JSON of `--agents` is none, or a role in it cannot be read."""
    for definition in _of_declaration(Declaration(source="flag", place="--agents", committed=False, text=text)):
        problem = definition if isinstance(definition, str) else "; ".join(definition.problems)
        if problem:
            raise UserMistake(f'{problem}; write --agents \'{{"NAME": {{"description": "…", "prompt": "…"}}}}\'')


def _user_folders(places: Places) -> tuple[Path, ...]:
    return places.config_home / "agents", places.home / "agents"


def _managed_folders(places: Places) -> tuple[Path, ...]:
    return places.host_managed / "agents", places.managed / "agents"


def _list_of_project(places: Places, directory: Path, project: Path) -> Iterator[Definition | str]:
    """The project's own, from its root down to where the agent stands; the nearest come last and win."""
    folders = [directory]
    within = project if directory.is_relative_to(project) else directory
    if directory.is_relative_to(project):
        folders += [folder for folder in directory.parents if folder.is_relative_to(project)]
    for folder in reversed(folders):
        for name in (".claude", ".reverie"):
            if folder / name not in (places.home, places.config_home):
                yield from _list_in(folder / name / "agents", "project", within=within)


def _list_of_plugin(plugin: Plugin) -> Iterator[Definition | str]:
    for place in plugin.agents:
        for path in [place] if place.suffix == ".md" else list_markdown(place):
            yield _read_file(path, "plugin", plugin.name)


def _list_in(folder: Path, source: str, *, within: Path | None = None) -> Iterator[Definition | str]:
    """The roles of a folder; those of a project may not lead out of it by a link, `within` says of where."""
    for path in list_markdown(folder):
        if within is None or is_inside(within, path):
            yield _read_file(path, source)
        else:
            yield f"{path}: ignored: it links to a file outside the project"


def _read_file(path: Path, source: str, plugin: str = "") -> Definition | str:
    content = read_small(path, limit_bytes=MAX_FILE_BYTES)
    if content is None:
        return f"{path}: cannot be read; it must be a regular file of at most {MAX_FILE_BYTES:,} bytes"
    text = content.decode("utf-8", "replace")
    definition = definition_of(read_page(text), source=source, place=str(path), plugin=plugin)
    if isinstance(definition, str) or source != "project":
        return definition
    return replace(definition, part=part_of(str(path), text))


def _of_declaration(declaration: Declaration) -> Iterator[Definition | str]:
    table = parse_object(declaration.text, declaration.place)
    if isinstance(table, Unread):
        yield table.sentence
        return
    for name, fields in table.items():
        place = f"{declaration.place}: agents.{name}"
        if not isinstance(fields, dict):
            yield f'{place}: expected a table, `{{"description": "…", "prompt": "…"}}`'
            continue
        # A declaration of the project is here only because the user trusts it already (`settings`).
        yield definition_of(page_of_json(name, fields), source=declaration.source, place=place)


_NAMES = ("general-purpose", "explore", "plan", "reverie-guide", "statusline-setup")


@cache
def built_in() -> tuple[Definition, ...]:
    """All of them, in a fixed order."""
    folder = files("reverie.session.subagents.definitions") / "prompts"
    definitions = []
    for name in _NAMES:
        page = read_page((folder / f"{name}.md").read_text(encoding="utf-8"))
        definition = definition_of(page, source="built-in", place="built in")
        assert isinstance(definition, Definition), definition
        definitions.append(definition)
    return tuple(definitions)


MAX_DESCRIPTION_CHARS = 1_536


def agent_line(definition: Definition) -> str:
    """One role in the list."""
    description = definition.description
    if len(description) > MAX_DESCRIPTION_CHARS:
        description = f"{description[: MAX_DESCRIPTION_CHARS - 1]}…"
    return f"- {definition.name}: {description} (Tools: {_tools(definition)})"


def listing_delta(definitions: Iterable[Definition], announced: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """What to say of the roles that changed, and all lines by name as they stand then; no text when none did.

    `announced` are the lines by name that the conversation holds already.
    """
    lines = {one.name: agent_line(one) for one in definitions}
    new = [line for name, line in lines.items() if announced.get(name) != line]
    gone = [name for name in announced if name not in lines]
    parts = []
    if new:
        opening = "These further agent types can be named" if announced else "These agent types can be named"
        parts.append("\n".join([f"{opening} as `subagent_type` of the Agent tool:", *new]))
    if gone:
        parts.append(f"These agent types are gone: {', '.join(gone)}.")
    return "\n".join(parts), lines


def _tools(definition: Definition) -> str:
    if definition.tools is not None:
        return ", ".join(definition.tools) or "none"
    return f"all but {', '.join(definition.disallowed)}" if definition.disallowed else "*"
