"""One plugin: a folder whose parts are named by a manifest or lie in their default places.

Everything it brings stays below its root; a part that leads out of it is named and left out, and so is a broken one.
Variables in its servers are filled in here, those in its hooks when they run.
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
    """What a folder brings."""

    name: str
    """Goes before the names of its skills, commands and agents: `NAME:skill`."""
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
    said: JsonObject = manifest or {}
    called = said.get("name", name or root.name)
    if not isinstance(called, str) or not _NAME.fullmatch(called):
        return Unread(f"{root / MANIFEST}: `name` is {called!r}; use letters, digits, '-', '_' and '.'")
    parts = _Parts(root, said)
    hooks = tuple(parts.hooks())
    return Plugin(
        called,
        root,
        data,
        version=_text(said, "version"),
        description=_text(said, "description"),
        hooks=hooks,
        skills=parts.paths("skills"),
        commands=parts.paths("commands"),
        agents=parts.paths("agents"),
        output_styles=parts.paths("outputStyles", "output-styles"),
        servers=parts.servers(called, data, project, environment),
        problems=tuple(parts.problems),
    )


def _text(manifest: JsonObject, key: str) -> str:
    value = manifest.get(key)
    return value if isinstance(value, str) else ""


class _Parts:
    """The parts of one plugin, with the mistakes found on the way."""

    def __init__(self, root: Path, manifest: JsonObject) -> None:
        self.root = root
        self.manifest = manifest
        self.problems: list[str] = []

    def paths(self, key: str, folder: str = "") -> tuple[Path, ...]:
        """The folder that goes by its name, and what the manifest names besides."""
        default = self.root / (folder or key)
        found = [default] if default.is_dir() and self._is_ours(default) else []
        for text in _texts(self.manifest.get(key)):
            path = self._inside(text, key)
            if path is not None and path not in found:
                found.append(path)
        return tuple(found)

    def hooks(self) -> Iterator[Declaration]:
        """Those of `hooks/hooks.json`, of files that the manifest names, and of the manifest itself."""
        default = self.root / "hooks" / "hooks.json"
        for path in self._files("hooks", default):
            found = read_object(path)
            if isinstance(found, Unread):
                self.problems.append(found.sentence)
            elif found is not None:
                yield _declaration(found.get("hooks", dict(found)), path)
        for block in _tables(self.manifest.get("hooks")):
            yield _declaration(block.get("hooks", dict(block)), self.root / MANIFEST)

    def servers(self, plugin: str, data: Path, project: Path, environment: Mapping[str, str]) -> Servers:
        """Those of the manifest, of files that it names, and of `.mcp.json`; of one name the first counts."""
        blocks: list[tuple[JsonObject, Path]] = [
            (block, self.root / MANIFEST) for block in _tables(self.manifest.get("mcpServers"))
        ]
        default = self.root / ".mcp.json"
        named = [path for path in self._files("mcpServers", default) if path != default]
        for path in [*named, default]:
            found = read_object(path) if self._is_ours(path) else None
            if isinstance(found, Unread):
                self.problems.append(found.sentence)
            elif found is not None:
                blocks.append((found, path))
        own = (
            ("CLAUDE_PLUGIN_ROOT", str(self.root)),
            ("CLAUDE_PLUGIN_DATA", str(data)),
            ("CLAUDE_PROJECT_DIR", str(project)),
        )
        read: list[Servers] = []
        taken: set[str] = set()
        for block, place in blocks:
            inner = block.get("mcpServers", dict(block))
            if isinstance(inner, dict):
                inner = {name: entry for name, entry in inner.items() if name not in taken}
                taken |= inner.keys()
            found_here = parse_servers(
                inner,
                source="plugin",
                place=str(place),
                directory=self.root,
                values={**environment, **dict(own)},
                named=lambda name: f"plugin:{plugin}:{name}",
                extra_env=own,
            )
            read.append(found_here)
        return join_servers(read)

    def _files(self, key: str, default: Path) -> Iterable[Path]:
        named = [self._inside(text, key) for text in _texts(self.manifest.get(key))]
        ours = [default] if default.exists() and self._is_ours(default) else []
        return dict.fromkeys([*ours, *(path for path in named if path is not None)])

    def _inside(self, text: str, key: str) -> Path | None:
        try:
            path = safe_join(self.root, text)
        except Refused as refusal:
            self.problems.append(f"{self.root / MANIFEST}: `{key}`: {refusal}")
            return None
        if not path.exists():
            self.problems.append(f"{self.root / MANIFEST}: `{key}` names {text!r}, which does not exist")
            return None
        # The same spelling as the default folders have, although the check resolved all links.
        return self.root / path.relative_to(self.root.resolve())

    def _is_ours(self, path: Path) -> bool:
        if is_inside(self.root, path):
            return True
        self.problems.append(f"{path}: is outside the plugin and is not loaded")
        return False


def _declaration(block: Json, path: Path) -> Declaration:
    return Declaration(source="plugin", place=str(path), committed=False, text=json.dumps(block))


def _texts(value: Json) -> tuple[str, ...]:
    """The paths that a field of the manifest names, one or several."""
    many = value if isinstance(value, list) else [value]
    return tuple(item for item in many if isinstance(item, str))


def _tables(value: Json) -> tuple[JsonObject, ...]:
    many = value if isinstance(value, list) else [value]
    return tuple(item for item in many if isinstance(item, dict))
