"""Reads which MCP servers are configured and how each is reached. `tools.mcp` connects to them.

Of servers with one name the nearest source counts, as a whole: local, project, user, plugin. A server
that came with the project waits until the user has agreed to it; until then the name means whoever comes next.

`${NAME}` and `${NAME:-default}` are expanded from values that the caller gives.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from enum import StrEnum
from pathlib import Path

from reverie.errors import UserMistake
from reverie.extensions.json_file import STATE_FILE_BYTES, Unread, read_object
from reverie.files.places import Places
from reverie.files.trust import TrustKind, TrustPart
from reverie.messages.blocks import Json, JsonObject
from reverie.values import value

Pairs = tuple[tuple[str, str], ...]

_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
_MAX_NAME_CHARS = 128


class Transport(StrEnum):
    """How messages reach a server."""

    STDIO = "stdio"
    HTTP = "http"
    SSE = "sse"


_TYPES: Mapping[str, Transport] = {
    "stdio": Transport.STDIO,
    "http": Transport.HTTP,
    "streamable-http": Transport.HTTP,
    "streamableHttp": Transport.HTTP,
    "sse": Transport.SSE,
}


@value
class Server:
    """One server, ready to be connected to: every variable is filled in."""

    name: str
    """As the user wrote it; of a plugin `plugin:PLUGIN:NAME`."""
    source: str
    """`local`, `project`, `user`, `flag`, `agent` or `plugin`."""
    place: str
    """The file."""
    transport: Transport
    command: str = ""
    """The program, for `stdio`."""
    args: tuple[str, ...] = ()
    env: Pairs = field(default=(), repr=False)
    """On top of the environment that programs get; may hold secrets."""
    directory: Path | None = None
    """Where the program starts; the project when left out."""
    url: str = ""
    headers: Pairs = field(default=(), repr=False)
    """May hold secrets."""
    timeout_seconds: float | None = None
    """How long one call of a tool may take; None leaves it to the caller."""
    written: str = field(default="{}", repr=False)
    """The entry as it stands in the file, as JSON with sorted keys: what a user agrees to, without their secrets."""

    @property
    def committed(self) -> bool:
        """It came with the project, so somebody else may have written it."""
        return self.source == "project"

    @property
    def part(self) -> TrustPart:
        """What the user agrees to; its variables stand in it by name."""
        return TrustPart(TrustKind.SERVER, self.place, f"{self.name}: {self.written}")

    @property
    def tool_prefix(self) -> str:
        """What the names of its tools begin with, as users know it from their permission rules."""
        return f"mcp__{_FOREIGN.sub('_', self.name)}__"


@value
class Servers:
    """What was found."""

    ready: tuple[Server, ...] = ()
    """One for each name, by name."""
    waiting: tuple[Server, ...] = ()
    """Those of the project that the user has not agreed to yet."""
    problems: tuple[str, ...] = ()
    """Entries that were left out, and variables without a value; a sentence each."""


NO_SERVERS = Servers()


def _nobody(_: Server) -> bool:
    return False


def list_servers(
    *,
    places: Places,
    project: Path,
    environment: Mapping[str, str],
    accepted: Callable[[Server], bool] = _nobody,
    flags: Iterable[Path] = (),
    plugins: Servers = NO_SERVERS,
) -> Servers:
    """Read every place where servers are named.

    `accepted` says whether the user agreed to a server that came with the project (see `reverie.files.trust`).
    `flags` are files of the command line, which count for more than all others; `plugins` is `Plugins.servers`.
    """
    values = {**environment, "CLAUDE_PROJECT_DIR": str(project)}
    ready: list[Server] = []
    problems: list[str] = []

    def take(block: Json, source: str, place: str) -> None:
        servers = parse_servers(block, source=source, place=place, directory=project, values=values)
        ready.extend(servers.ready)
        problems.extend(servers.problems)

    for path in flags:
        take(_block(path, problems, is_needed=True), "flag", str(path))
    states = [read for path in _state_files(places) if (read := _read_state(path, problems)) is not None]
    for path, state in states:
        take(_of_project(state, project), "local", str(path))
    take(_block(project / ".mcp.json", problems), "project", str(project / ".mcp.json"))
    take(_block(places.home / "mcp.json", problems), "user", str(places.home / "mcp.json"))
    for path, state in states:
        take(state.get("mcpServers"), "user", str(path))
    return _chosen([*ready, *plugins.ready], accepted, (*problems, *plugins.problems))


def check_flag_file(path: Path) -> None:
    """Raise `UserMistake` when a file of `--mcp-config` is not there, cannot be read or names what is no server."""
    problems: list[str] = []
    block = _block(path, problems, is_needed=True)
    if not problems and not isinstance(block, dict):
        problems.append(f"{path}: `mcpServers` is missing; expected a table of servers by name")
    for name, entry in block.items() if isinstance(block, dict) else ():
        try:
            _server(name, entry, "flag", str(path), path.parent, {})
        except _Mistake as mistake:
            problems.append(f"{path}: server {name!r}: {mistake}")
    if problems:
        raise UserMistake(f"--mcp-config {problems[0]}")


def parse_servers(
    block: Json,
    *,
    source: str,
    place: str,
    directory: Path,
    values: Mapping[str, str],
    named: Callable[[str], str] = str,
    extra_env: Pairs = (),
) -> Servers:
    """The servers of one `mcpServers` block: of a file, a plugin or an agent.

    `directory` is where a relative `cwd` begins. `values` fill in the variables, `named` gives a server its full name,
    `extra_env` goes to every program.
    """
    if block is None:
        return Servers()
    if not isinstance(block, dict):
        return Servers(problems=(f"{place}: `mcpServers` must be a table of servers by name",))
    ready: list[Server] = []
    problems: list[str] = []
    for name, entry in block.items():
        where = f"{place}: server {name!r}"
        if not name.strip() or not name.isprintable() or len(name) > _MAX_NAME_CHARS:
            problems.append(f"{where}: a name must have 1 to {_MAX_NAME_CHARS} printable characters")
            continue
        try:
            server = _server(named(name), entry, source, place, directory, values)
        except _Mistake as mistake:
            problems.append(f"{where}: {mistake}")
            continue
        if server.transport is Transport.STDIO and extra_env:
            server = replace(server, env=tuple({**dict(extra_env), **dict(server.env)}.items()))
        ready.append(server)
        without = unset(server.written, values)
        problems.extend(f"{where}: ${{{variable}}} is not set and is kept unexpanded" for variable in without)
    return Servers(tuple(ready), problems=tuple(problems))


def join_servers(all_found: Iterable[Servers]) -> Servers:
    """What several places named, one after the other."""
    many = tuple(all_found)
    return Servers(
        tuple(server for one in many for server in one.ready),
        tuple(server for one in many for server in one.waiting),
        tuple(problem for one in many for problem in one.problems),
    )


class _Mistake(ValueError):
    """What is wrong with an entry."""


def _server(name: str, entry: Json, source: str, place: str, start: Path, values: Mapping[str, str]) -> Server:
    if not isinstance(entry, dict):
        raise _Mistake('an entry must be a table, `{"command": "…"}` or `{"type": "http", "url": "…"}`')
    fields = _Fields(entry, values)
    transport = _transport(entry)
    directory = fields.text("cwd")
    server = Server(
        name,
        source,
        place,
        transport,
        command=fields.text("command"),
        args=fields.texts("args"),
        env=fields.pairs("env"),
        directory=start / directory if directory else None,
        url=fields.text("url"),
        headers=fields.pairs("headers"),
        timeout_seconds=_timeout(entry.get("timeout")),
        written=json.dumps(entry, sort_keys=True, ensure_ascii=False),
    )
    if transport is Transport.STDIO and not server.command:
        raise _Mistake("`command` is empty")
    if transport is not Transport.STDIO and not server.url.startswith(("http://", "https://", "${")):
        raise _Mistake("`url` must start with http:// or https://")
    return server


def _transport(entry: JsonObject) -> Transport:
    kind = entry.get("type") or entry.get("transport")
    if kind is None:
        return Transport.HTTP if "url" in entry and "command" not in entry else Transport.STDIO
    transport = _TYPES.get(kind) if isinstance(kind, str) else None
    if transport is None:
        raise _Mistake(f"`type` is {kind!r}; expected one of {', '.join(Transport)}")
    return transport


def _timeout(value: Json) -> float | None:
    """The host writes milliseconds."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise _Mistake("`timeout` must be a positive number of milliseconds")
    return value / 1000


class _Fields:
    """The texts of an entry with their variables filled in."""

    def __init__(self, entry: JsonObject, values: Mapping[str, str]) -> None:
        self._entry = entry
        self._values = values

    def text(self, key: str) -> str:
        value = self._entry.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise _Mistake(f"`{key}` must be a string")
        return expand_variables(value, self._values)

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._entry.get(key) or []
        if not isinstance(value, list) or any(isinstance(item, list | dict) or item is None for item in value):
            raise _Mistake(f"`{key}` must be a list of strings")
        return tuple(expand_variables(_as_text(item), self._values) for item in value)

    def pairs(self, key: str) -> Pairs:
        value = self._entry.get(key) or {}
        if not isinstance(value, dict) or any(isinstance(item, list | dict) or item is None for item in value.values()):
            raise _Mistake(f"`{key}` must be a table of strings")
        return tuple((name, expand_variables(_as_text(item), self._values)) for name, item in value.items())


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _block(path: Path, problems: list[str], *, is_needed: bool = False) -> Json:
    """The servers of a file: under `mcpServers`, or the file itself."""
    document = read_object(path)
    if isinstance(document, Unread):
        problems.append(document.sentence)
        return None
    if document is None:
        if is_needed:
            problems.append(f"{path}: no such file")
        return None
    return document.get("mcpServers", dict(document))


def _state_files(places: Places) -> Iterator[Path]:
    """Where the host agent keeps servers of its own: inside a folder that the user chose, else beside it."""
    yield places.config_home / ".claude.json"
    if places.config_home.name == ".claude":
        yield places.config_home.with_name(".claude.json")


def _read_state(path: Path, problems: list[str]) -> tuple[Path, JsonObject] | None:
    document = read_object(path, limit_bytes=STATE_FILE_BYTES)
    if isinstance(document, Unread):
        problems.append(document.sentence)
        return None
    return None if document is None else (path, document)


def _of_project(state: JsonObject, project: Path) -> Json:
    projects = state.get("projects")
    own = projects.get(str(project)) if isinstance(projects, dict) else None
    return own.get("mcpServers") if isinstance(own, dict) else None


def _chosen(servers: Iterable[Server], accepted: Callable[[Server], bool], problems: tuple[str, ...]) -> Servers:
    """The first of each name, in the order of precedence; the rest waits or is hidden."""
    ready: dict[str, Server] = {}
    waiting: list[Server] = []
    clashes: list[str] = []
    for server in servers:
        if Path(server.command).name == "reverie" and server.args[:1] == ("mcp",):
            continue  # ourselves, installed for another agent: a session of ours has these tools
        if server.committed and not accepted(server):
            waiting.append(server)
            continue
        first = ready.setdefault(server.tool_prefix, server)
        if first.name != server.name:
            clashes.append(
                f"{server.place}: server {server.name!r} would share the tool names of {first.name!r}; rename one"
            )
    return Servers(tuple(sorted(ready.values(), key=lambda server: server.name)), tuple(waiting), (*problems, *clashes))


_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}")


def expand_variables(text: str, values: Mapping[str, str]) -> str:
    """The text with its variables filled in; one that is unset and has no default stays as it was written."""

    def value(match: re.Match[str]) -> str:
        variable = values.get(match[1])
        # As in a shell, the default also stands in for an empty value.
        if match[2] is not None:
            return variable or match[2]
        return match[0] if variable is None else variable

    return _VARIABLE.sub(value, text)


def unset(text: str, values: Mapping[str, str]) -> tuple[str, ...]:
    """The variables that `expand_variables` leaves as they are."""
    named = ((match[1], match[2]) for match in _VARIABLE.finditer(text))
    return tuple(dict.fromkeys(name for name, default in named if default is None and name not in values))
