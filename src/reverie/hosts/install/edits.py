"""One change of one settings file: how it is made and how it is taken back, each from text to text."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any, Protocol

from reverie.errors import UserMistake
from reverie.hosts.install.json_text import append_item, read_json, remove_items, remove_key, set_key
from reverie.values import value

BEGIN, END = "<!-- reverie:install -->", "<!-- reverie:install end -->"
"""Bounds of our block in an instruction file."""


class SettingsEdit(Protocol):
    """What is ours in a file."""

    def put(self, text: str, place: str) -> str:
        """The text with it; the same text where it is there already."""

    def take(self, text: str, place: str) -> str:
        """The text without it."""

    def stands_in(self, text: str, place: str) -> bool:
        """Whether any form of it is there."""


@value
class JsonHooks:
    """Groups of hooks, one for each event, in the shape that Claude Code began with."""

    groups: Mapping[str, Mapping[str, Any]]
    mark: str
    """What only a command of ours contains."""

    def put(self, text: str, place: str) -> str:
        for event, group in self.groups.items():
            present = _at(text, ("hooks", event), place)
            if isinstance(present, list) and [each for each in present if self._is_ours(each)] == [group]:
                continue
            text = remove_items(text, ("hooks", event), self._is_ours, place)
            text = append_item(text, ("hooks", event), dict(group), place)
        return text

    def take(self, text: str, place: str) -> str:
        events = _at(text, ("hooks",), place)
        for event in events if isinstance(events, dict) else ():
            text = remove_items(text, ("hooks", event), self._is_ours, place)
        return text

    def stands_in(self, text: str, place: str) -> bool:
        return self.take(text, place) != text

    def _is_ours(self, group: Any) -> bool:
        return self.mark in str(group)


@value
class JsonKey:
    """One key with its value."""

    path: tuple[str, ...]
    value: Any

    def put(self, text: str, place: str) -> str:
        return set_key(text, self.path, self.value, place)

    def take(self, text: str, place: str) -> str:
        return remove_key(text, self.path, place)

    def stands_in(self, text: str, place: str) -> bool:
        return _at(text, self.path, place) is not None


@value
class TomlTable:
    """One table of a TOML file, which is appended as text, so that all else stays as it is."""

    path: tuple[str, ...]
    lines: tuple[str, ...]

    def put(self, text: str, place: str) -> str:
        if self.stands_in(text, place):
            return text
        block = "\n".join([f"[{'.'.join(self.path)}]", *self.lines])
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        new = f"{text}{gap}{block}\n"
        if not _has_table(_read_toml(new, place), self.path):
            raise UserMistake(f"{place}: {'.'.join(self.path)} cannot be added; add it by hand:\n{block}")
        return new

    def take(self, text: str, place: str) -> str:  # noqa: ARG002 - one signature
        name = ".".join(self.path)
        lines = text.splitlines(keepends=True)
        kept: list[str] = []
        while lines:
            if not re.match(rf"\[{re.escape(name)}(?:\.[^\]]+)?\]", lines[0]):
                kept.append(lines.pop(0))
                continue
            size = next((n for n, line in enumerate(lines[1:], 1) if line.lstrip().startswith("[")), len(lines))
            while not lines[size - 1].strip() or lines[size - 1].startswith("#"):
                size -= 1  # comments behind it are not ours
            del lines[:size]
            if kept and not kept[-1].strip():
                kept.pop()
        return "".join(kept)

    def stands_in(self, text: str, place: str) -> bool:
        return _has_table(_read_toml(text, place), self.path)


@value
class YamlExtension:
    """An entry below a top-level key of a YAML file, inserted as lines."""

    key: str
    name: str
    entry: Mapping[str, Any]

    def put(self, text: str, place: str) -> str:
        if self.stands_in(text, place):
            return text
        import yaml

        rendered = yaml.safe_dump({self.name: dict(self.entry)}, sort_keys=False, allow_unicode=True)
        lines = text.splitlines(keepends=True)
        at = next((number for number, line in enumerate(lines) if re.match(rf"{self.key}:\s*(#.*)?$", line)), None)
        if at is None:
            gap = "" if not text or text.endswith("\n") else "\n"
            new = f"{text}{gap}{self.key}:\n{_indent(rendered, '  ')}"
        else:
            child = next((line for line in lines[at + 1 :] if line.strip() and not line.lstrip().startswith("#")), "")
            indent = child[: len(child) - len(child.lstrip())] or "  "
            new = "".join([*lines[: at + 1], _indent(rendered, indent), *lines[at + 1 :]])
        if not self.stands_in(new, place):
            raise UserMistake(f"{place}: {self.key} has another form than expected; add this by hand:\n{rendered}")
        return new

    def take(self, text: str, place: str) -> str:  # noqa: ARG002 - one signature
        kept: list[str] = []
        depth: int | None = None
        inside = False
        for line in text.splitlines(keepends=True):
            indent = len(line) - len(line.lstrip())
            if depth is not None and (not line.strip() or indent > depth):
                continue
            depth = None
            if line.strip() and indent == 0:
                inside = line.startswith(f"{self.key}:")
            if inside and line.strip().rstrip(":") == self.name and line.strip().endswith(":"):
                depth = indent
                continue
            kept.append(line)
        return "".join(kept)

    def stands_in(self, text: str, place: str) -> bool:
        import yaml

        try:
            document = yaml.safe_load(text) or {}
        except yaml.YAMLError as problem:
            raise UserMistake(f"{place} is not valid YAML: {problem}; correct it, nothing was changed") from None
        table = document.get(self.key) if isinstance(document, dict) else None
        return isinstance(table, dict) and self.name in table


@value
class TextBlock:
    """A block between two marks in an instruction file; replaced whole."""

    text: str

    def put(self, text: str, place: str) -> str:
        block = f"{BEGIN}\n{self.text.strip()}\n{END}\n"
        before = self.take(text, place)
        return f"{before}{_gap(before)}{block}" if block not in text else text

    def take(self, text: str, place: str) -> str:  # noqa: ARG002 - one signature
        return re.sub(rf"\n?{re.escape(BEGIN)}.*?{re.escape(END)}\n?", "", text, flags=re.DOTALL)

    def stands_in(self, text: str, place: str) -> bool:  # noqa: ARG002 - one signature
        return BEGIN in text


@value
class OwnFile:
    """A file that is ours as a whole."""

    text: str

    def put(self, text: str, place: str) -> str:  # noqa: ARG002 - one signature
        return self.text

    def take(self, text: str, place: str) -> str:  # noqa: ARG002 - one signature
        return ""

    def stands_in(self, text: str, place: str) -> bool:  # noqa: ARG002 - one signature
        return bool(text)


def _at(text: str, path: tuple[str, ...], place: str) -> Any:
    found = read_json(text, place)
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _read_toml(text: str, place: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise UserMistake(f"{place} is not valid TOML: {problem}; correct it, nothing was changed") from None


def _has_table(document: dict[str, Any], path: tuple[str, ...]) -> bool:
    table: Any = document
    for key in path:
        table = table.get(key) if isinstance(table, dict) else None
    return isinstance(table, dict)


def _indent(text: str, indent: str) -> str:
    return "".join(f"{indent}{line}" for line in text.splitlines(keepends=True))


def _gap(text: str) -> str:
    return "" if not text else "\n" if text.endswith("\n") else "\n\n"
