"""One plugin: a folder whose parts are named by a manifest or lie in their default places.

Its parts must lie below its root; a part outside of it, or one that cannot be read, is left out and listed in
`problems`. Variables in its servers are filled in here, those in its hooks when they run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from reverie.errors import Refused
from reverie.extensions.json_file import Unread, read_object
from reverie.extensions.mcp.servers import NO_SERVERS, Servers, join_servers, parse_servers
from reverie.files import is_inside, safe_join
from reverie.messages.blocks import Json, JsonObject
from reverie.settings import Declaration
from reverie.values import value

MANIFEST = Path(".claude-plugin") / "plugin.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


@value
class Plugin:
    """A plugin that was read."""

    name: str
    """The prefix of its skills, commands and agents: `NAME:skill`."""
    root: Path
    data: Path
    """Where it may keep files of its own; made when one of its programs first runs."""
    version: str = ""
    description: str = ""
    hooks: tuple[Declaration, ...] = ()
    skills: tuple[Path, ...] = ()
    """Folders of skills, or the folder of one."""
    commands: tuple[Path, ...] = ()
    """Folders or files."""
    agents: tuple[Path, ...] = ()
    """Folders or files."""
    output_styles: tuple[Path, ...] = ()
    servers: Servers = NO_SERVERS
    problems: tuple[str, ...] = ()
    """Parts that were left out, a sentence each."""


def read_plugin(
    root: Path, *, data: Path, project: Path, environment: Mapping[str, str], name: str = ""
) -> Plugin | Unread:
    """Read a plugin's folder; `name` is what it was installed as, for one without a manifest."""
    manifest = read_object(root / MANIFEST)
    if isinstance(manifest, Unread):
        return manifest
    if not root.is_dir():
        return Unread(f"{root}: no such directory")
    fields: JsonObject = manifest or {}
    plugin_name = fields.get("name", name or root.name)
    if not isinstance(plugin_name, str) or not _NAME.fullmatch(plugin_name):
        return Unread(f"{root / MANIFEST}: `name` is {plugin_name!r}; use letters, digits, '-', '_' and '.'")
    reader = _PartsReader(root, fields)
    hooks = tuple(reader.read_hooks())
    return Plugin(
        plugin_name,
        root,
        data,
        version=_text(fields, "version"),
        description=_text(fields, "description"),
        hooks=hooks,
        skills=reader.find_paths("skills"),
        commands=reader.find_paths("commands"),
        agents=reader.find_paths("agents"),
        output_styles=reader.find_paths("outputStyles", "output-styles"),
        servers=reader.read_servers(plugin_name, data, project, environment),
        problems=tuple(reader.problems),
    )


def _text(manifest: JsonObject, key: str) -> str:
    value = manifest.get(key)
    return value if isinstance(value, str) else ""


class _PartsReader:
    """Reads the parts of one plugin and collects the problems."""

    def __init__(self, root: Path, manifest: JsonObject) -> None:
        self.root = root
        self.manifest = manifest
        self.problems: list[str] = []

    def find_paths(self, key: str, folder: str = "") -> tuple[Path, ...]:
        """The default folder of a kind of part, and the paths that the manifest names."""
        default = self.root / (folder or key)
        paths = [default] if default.is_dir() and self._is_below_root(default) else []
        for text in _texts(self.manifest.get(key)):
            path = self._resolve(text, key)
            if path is not None and path not in paths:
                paths.append(path)
        return tuple(paths)

    def read_hooks(self) -> Iterator[Declaration]:
        """The hooks of `hooks/hooks.json`, of files that the manifest names, and of the manifest itself."""
        default = self.root / "hooks" / "hooks.json"
        for path in self._files("hooks", default):
            content = read_object(path)
            if isinstance(content, Unread):
                self.problems.append(content.sentence)
            elif content is not None:
                yield _declaration(content.get("hooks", dict(content)), path)
        for block in _tables(self.manifest.get("hooks")):
            yield _declaration(block.get("hooks", dict(block)), self.root / MANIFEST)

    def read_servers(self, plugin: str, data: Path, project: Path, environment: Mapping[str, str]) -> Servers:
        """The servers of the manifest, of files that it names, and of `.mcp.json`; the first of a name counts."""
        blocks: list[tuple[JsonObject, Path]] = [
            (block, self.root / MANIFEST) for block in _tables(self.manifest.get("mcpServers"))
        ]
        default = self.root / ".mcp.json"
        named = [path for path in self._files("mcpServers", default) if path != default]
        for path in [*named, default]:
            content = read_object(path) if self._is_below_root(path) else None
            if isinstance(content, Unread):
                self.problems.append(content.sentence)
            elif content is not None:
                blocks.append((content, path))
        variables = (
            ("CLAUDE_PLUGIN_ROOT", str(self.root)),
            ("CLAUDE_PLUGIN_DATA", str(data)),
            ("CLAUDE_PROJECT_DIR", str(project)),
        )
        servers: list[Servers] = []
        taken: set[str] = set()
        for block, place in blocks:
            inner = block.get("mcpServers", dict(block))
            if isinstance(inner, dict):
                inner = {name: entry for name, entry in inner.items() if name not in taken}
                taken |= inner.keys()
            servers.append(
                parse_servers(
                    inner,
                    source="plugin",
                    place=str(place),
                    directory=self.root,
                    values={**environment, **dict(variables)},
                    named=lambda name: f"plugin:{plugin}:{name}",
                    extra_env=variables,
                )
            )
        return join_servers(servers)

    def _files(self, key: str, default: Path) -> Iterable[Path]:
        named = [self._resolve(text, key) for text in _texts(self.manifest.get(key))]
        existing = [default] if default.exists() and self._is_below_root(default) else []
        return dict.fromkeys([*existing, *(path for path in named if path is not None)])

    def _resolve(self, text: str, key: str) -> Path | None:
        try:
            path = safe_join(self.root, text)
        except Refused as refusal:
            self.problems.append(f"{self.root / MANIFEST}: `{key}`: {refusal}")
            return None
        if not path.exists():
            self.problems.append(f"{self.root / MANIFEST}: `{key}` names {text!r}, which does not exist")
            return None
        # `safe_join` resolved all links; spell the path below the root as it was given, like the default folders.
        return self.root / path.relative_to(self.root.resolve())

    def _is_below_root(self, path: Path) -> bool:
        if is_inside(self.root, path):
            return True
        self.problems.append(f"{path}: is outside the plugin and is not loaded")
        return False


def _declaration(block: Json, path: Path) -> Declaration:
    return Declaration(source="plugin", place=str(path), committed=False, text=json.dumps(block))


def _texts(value: Json) -> tuple[str, ...]:
    """The paths that a field of the manifest names, one or several."""
    items = value if isinstance(value, list) else [value]
    return tuple(item for item in items if isinstance(item, str))


def _tables(value: Json) -> tuple[JsonObject, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(item for item in items if isinstance(item, dict))
