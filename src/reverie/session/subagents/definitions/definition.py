"""A role as a value: what its head says and the system prompt that is its body.

Files and JSON say the same things in two spellings, so both become one page of texts before anything is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from reverie.extensions.markdown_file import EFFORTS, Field, FrontMatterFile, hooks_block, servers_block
from reverie.files.places import AgentScope
from reverie.files.trust import TrustKind, TrustPart
from reverie.messages.blocks import Json
from reverie.settings import Declaration
from reverie.values import value

MAX_NAME_CHARS = 64
MEMORY_TOOLS = ("Read", "Edit", "Write")
"""What an agent needs to use its memory."""
_OLD_NAMES = {"Task": "Agent"}
_NAME = re.compile(r"[^\s.:/\\-][^:/\\\x00-\x1f]*")
_MODES = frozenset({"default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"})


@value
class Definition:
    """One role."""

    name: str
    """Its identity; of a plugin `PLUGIN:NAME`."""
    description: str
    """Tells the main model when to use it."""
    prompt: str = ""
    """Its system prompt."""
    source: str = "built-in"
    """`built-in`, `plugin`, `user`, `project`, `flag` or `managed`."""
    place: str = ""
    """The file, or the setting and its line."""
    tools: tuple[str, ...] | None = None
    """Names, some with a rule in brackets, such as `Bash(git log:*)`; None for all."""
    disallowed: tuple[str, ...] = ()
    model: str = ""
    """A name or an alias; empty for the parent's."""
    effort: str = ""
    max_rounds: int | None = None
    memory: AgentScope | None = None
    color: str = ""
    in_background: bool = False
    in_worktree: bool = False
    mode: str = ""
    """The permission mode."""
    skills: tuple[str, ...] = ()
    """Those that it knows from the beginning."""
    initial_prompt: str = ""
    """Follows the words of its first turn."""
    servers: str = ""
    """Its own MCP servers, as JSON."""
    hooks: Declaration | None = None
    """Hooks for this agent only."""
    part: TrustPart | None = None
    """What the user must agree to first; None where nobody needs to be asked."""
    problems: tuple[str, ...] = ()
    """Fields that say something we do not know; the role counts without them."""

    @property
    def tool_names(self) -> tuple[str, ...] | None:
        """The tools it may have, without rules; with those for its memory, where it has one."""
        if self.tools is None:
            return None
        named = [_tool_of(entry) for entry in self.tools]
        return tuple(dict.fromkeys([*named, *(MEMORY_TOOLS if self.memory is not None else ())]))

    @property
    def tools_for_memory_only(self) -> frozenset[str]:
        """Tools that it has for its memory alone."""
        if self.tools is None or self.memory is None:
            return frozenset()
        own_tools = {_tool_of(entry) for entry in self.tools}
        return frozenset(MEMORY_TOOLS) - own_tools

    def has_tool(self, name: str) -> bool:
        """Whether it may use a tool; a whole server is named by `mcp__SERVER`."""
        if _names_tool((_tool_of(entry) for entry in self.disallowed if "(" not in entry), name):
            return False
        return self.tool_names is None or _names_tool(self.tool_names, name)


def definition_of(page: FrontMatterFile, *, source: str, place: str, plugin: str = "") -> Definition | str:
    """The role that a page describes, or a sentence about why it is none."""
    if page.problem:
        return f"{place}: {page.problem}"
    name = page.text("name")
    if not name:
        return f"{place}: `name` is missing"
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME_CHARS:
        return f"{place}: {name!r} is no name for an agent: no colon, no slash, no dash at its beginning"
    if not page.text("description"):
        return f"{place}: agent {name!r} has no `description`, which says when to use it"
    definition = _read(page, name, source, place)
    if not plugin:
        return definition
    # What a plugin brings may not loosen rules or run programs under the name of an agent.
    return replace(definition, name=f"{plugin}:{name}", hooks=None, servers="", mode="")


def page_of_json(name: str, fields: Mapping[str, Json]) -> FrontMatterFile:
    """A role as settings and the flag write it, in the shape of a file."""
    texts = {key: _text_of(value) for key, value in fields.items() if value is not None}
    body = texts.pop("prompt", "")
    return FrontMatterFile({**texts, "name": name}, body if isinstance(body, str) else "")


def _read(page: FrontMatterFile, name: str, source: str, place: str) -> Definition:
    problems: list[str] = []

    def one_of(key: str, allowed: frozenset[str], value_text: str) -> str:
        if value_text and value_text not in allowed:
            problems.append(f"{place}: `{key}` is {value_text!r}; expected one of {', '.join(sorted(allowed))}")
            return ""
        return value_text

    scope = one_of("memory", frozenset(AgentScope), _scope(page))
    rounds = page.text("maxTurns", "max_turns")
    if rounds and not (rounds.isdecimal() and int(rounds) > 0):
        problems.append(f"{place}: `maxTurns` is {rounds!r}; expected a positive integer")
        rounds = ""
    isolation = one_of("isolation", frozenset({"worktree"}), page.text("isolation"))
    model = page.text("model")
    committed = source == "project"
    hooks = hooks_block(page)
    return Definition(
        name=name,
        description=" ".join(page.text("description").replace("\\n", " ").split()),
        prompt=page.body.strip(),
        source=source,
        place=place,
        tools=_tools(page),
        disallowed=page.texts("disallowedTools"),
        model="" if model == "inherit" else model,
        effort=one_of("effort", frozenset(EFFORTS), page.text("effort").lower()),
        max_rounds=int(rounds) if rounds else None,
        memory=AgentScope(scope) if scope else None,
        color=page.text("color"),
        in_background=page.flag("background", default=False),
        in_worktree=isolation == "worktree",
        mode=one_of("permissionMode", _MODES, page.text("permissionMode")),
        skills=page.texts("skills"),
        initial_prompt=page.text("initialPrompt"),
        servers=servers_block(page),
        hooks=Declaration(source="agent", place=place, committed=committed, text=hooks) if hooks else None,
        problems=tuple(problems),
    )


def _tools(page: FrontMatterFile) -> tuple[str, ...] | None:
    written = page.fields.get("tools")
    named = page.texts("tools")
    if "*" in named or (not named and not isinstance(written, list)):
        return None
    return named


def _scope(page: FrontMatterFile) -> str:
    """The scope of its memory, plain or under `scope:`."""
    memory = page.fields.get("memory")
    nested = memory.get("scope") if isinstance(memory, dict) else None
    return nested.strip() if isinstance(nested, str) else page.text("memory")


def _tool_of(entry: str) -> str:
    """The tool that an entry names, without the rule in brackets."""
    name = entry.partition("(")[0].strip()
    return _OLD_NAMES.get(name, name)


def _names_tool(entries: Iterable[str], name: str) -> bool:
    server = name.rpartition("__")[0] or name
    return any(entry in (name, server) for entry in entries)


def _text_of(value: Json) -> Field:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return [_text_of(item) for item in value if item is not None]
    if isinstance(value, dict):
        return {key: _text_of(item) for key, item in value.items() if item is not None}
    return str(value)


def part_of(place: str, text: str) -> TrustPart:
    """A file of the project as one thing to agree to."""
    return TrustPart(TrustKind.AGENTS, place, text)
