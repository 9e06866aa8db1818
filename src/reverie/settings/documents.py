"""Reads a settings file into a table whose keys know their line. Parsers are imported only when a file exists.

Of `.claude/settings*.json` the keys that we read are mapped to our own names; all others belong to another program and
are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from reverie.settings.layers import Given
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


def decode_document(data: bytes, name: str) -> str | UnreadableDocument:
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
        match = re.search(_LINE, str(error))
        line = int(match.group(1)) if match else text.count("\n") + 1
        return UnreadableDocument(f"{name}:{line}: not valid TOML: {re.sub(_LINE, '', str(error))}")
    except RecursionError:
        return UnreadableDocument(f"{name}: nested too deeply")


def parse_json(text: str, name: str) -> SettingsDocument | UnreadableDocument:
    """Read a JSON file, or the JSON of a flag; comments and trailing commas are allowed, as other agents allow them."""
    import json

    from reverie.settings.locate import json_lines

    if "//" in text or "/*" in text or ",\n" in text:
        text = _blank_comments(text)
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


def _blank_comments(text: str) -> str:
    """The text with spaces in place of comments and trailing commas, so that line numbers stay."""
    import re

    def blank(match: re.Match[str]) -> str:
        return match[0] if match[0].startswith('"') else re.sub(r"[^\n]", " ", match[0])

    plain = re.sub(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', blank, text, flags=re.DOTALL)
    return re.sub(r'("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])', lambda match: match[1] or " ", plain)


_OURS: Mapping[KeyPath, KeyPath] = {
    ("hooks",): ("hooks",),
    ("agents",): ("agents",),
    ("permissions", "allow"): ("permissions", "allow"),
    ("permissions", "ask"): ("permissions", "ask"),
    ("permissions", "deny"): ("permissions", "deny"),
    ("permissions", "defaultMode"): ("permissions", "mode"),
    ("permissions", "additionalDirectories"): ("permissions", "additional_directories"),
    ("autoMemoryEnabled",): ("memory", "enabled"),
    ("autoMemoryDirectory",): ("memory", "directory"),
    ("autoCompactEnabled",): ("compaction", "auto"),
    ("autoCompactWindow",): ("compaction", "auto_window_tokens"),
    ("cleanupPeriodDays",): ("retention", "transcript_days"),
    ("claudeMd",): ("instructions", "managed_text"),
    ("claudeMdExcludes",): ("instructions", "excludes"),
    ("disableAllHooks",): ("hook", "enabled"),
    ("allowManagedHooksOnly",): ("hook", "managed_only"),
    ("allowedHttpHookUrls",): ("hook", "allowed_http_urls"),
    ("httpHookAllowedEnvVars",): ("hook", "http_env_vars"),
    ("language",): ("language",),
    ("outputStyle",): ("output_style",),
    ("statusLine", "command"): ("status_line", "command"),
}
_NEGATED = frozenset({("disableAllHooks",)})


def givens_of_vendor(table: Mapping[str, object], place: Callable[[KeyPath], str]) -> list[Given]:
    """What a file of the vendor's says about keys of ours."""
    givens: list[Given] = []
    for theirs, ours in _OURS.items():
        value: object = table
        for name in theirs:
            value = value.get(name) if isinstance(value, Mapping) else None
        if theirs in _NEGATED and isinstance(value, bool):
            value = not value
        if value is not None:
            givens.append(Given(ours, value, place(theirs)))
    return givens
