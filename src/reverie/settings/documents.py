"""Reads a settings file into a table whose keys know their line. Parsers are imported only when a file exists."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from reverie.settings.schema import KeyPath
from reverie.values import value

if TYPE_CHECKING:
    from reverie.settings.locate import Place

_LINE = r"\s*\(at line (\d+), column \d+\)"


@value
class SettingsDocument:
    """A parsed file."""

    name: str
    table: Mapping[str, object]
    lines: Mapping[Place, int]

    def place(self, path: KeyPath) -> str:
        """Where a key stands; a flag has no lines."""
        return self.name if self.name.startswith("--") else f"{self.name}:{self.lines[path]}"


@value
class UnreadableDocument:
    """Why a text is no document."""

    sentence: str


def decoded(data: bytes, name: str) -> str | UnreadableDocument:
    """The text of a file; a byte order mark is passed over."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return UnreadableDocument(f"{name}:{line}: not valid UTF-8; save the file as UTF-8")


def parse_toml(text: str, name: str) -> SettingsDocument | UnreadableDocument:
    """Read a TOML file."""
    import tomllib

    from reverie.settings.locate import toml_lines

    try:
        return SettingsDocument(name, tomllib.loads(text), toml_lines(text))
    except ValueError as error:
        found = re.search(_LINE, str(error))
        line = int(found.group(1)) if found else text.count("\n") + 1
        return UnreadableDocument(f"{name}:{line}: not valid TOML: {re.sub(_LINE, '', str(error))}")
    except RecursionError:
        return UnreadableDocument(f"{name}: nested too deeply")


def parse_json(text: str, name: str) -> SettingsDocument | UnreadableDocument:
    """Read a JSON file, or the JSON of a flag."""
    import json

    from reverie.settings.locate import json_lines

    try:
        table = json.loads(text)
        lines = json_lines(text)
    except json.JSONDecodeError as error:
        return UnreadableDocument(f"{name}:{error.lineno}: not valid JSON: {error.msg}")
    except ValueError as error:
        return UnreadableDocument(f"{name}: not valid JSON: {error}")
    except RecursionError:
        return UnreadableDocument(f"{name}: nested too deeply")
    if not isinstance(table, dict):
        return UnreadableDocument(f'{name}: expected a JSON object, such as `{{"key": value}}`')
    return SettingsDocument(name, table, lines)
