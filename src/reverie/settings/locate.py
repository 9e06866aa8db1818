"""Finds the line of a file on which a key stands.

The parsers of the standard library check a file and give its values, but forget where they were. These scanners run
after them, on text that is known to be valid, and only follow the keys.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping
from typing import TypeAlias

from reverie.patterns import lazy_regex

Place: TypeAlias = tuple[str | int, ...]
"""The names, and the numbers in lists, that lead to a value."""

_BLANK = lazy_regex(r"(?:[ \t\n]|#[^\n]*)*")
_SPACE = lazy_regex(r"[ \t\n\r]*")
_QUOTED = lazy_regex(r'"(?:[^"\\]|\\.)*"')
_NAME = lazy_regex(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_DOT = lazy_regex(r"[ \t]*\.[ \t]*")
_TEXT = lazy_regex(
    r'"""(?:\\[\s\S]|[^\\])*?"{3,5}'
    r"|'''[\s\S]*?'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
)
_TOML_SCALAR = lazy_regex(r"[^,\]}#\n]+")
_JSON_SCALAR = lazy_regex(r"[^,\]}\s]+")


def toml_lines(text: str) -> Mapping[Place, int]:
    """The line of every key and list item of a valid TOML document."""
    return _TomlScanner(text.replace("\r\n", "\n")).scan()


def json_lines(text: str) -> Mapping[Place, int]:
    """The line of every key and list item of a valid JSON document."""
    return _JsonScanner(text).scan()


def split_key(text: str) -> tuple[str, ...] | None:
    """The parts of a dotted key such as `models."gpt-4.1".base_url`; None when it is not one."""
    scanner = _TomlScanner(text)
    try:
        parts = scanner.key()
    except ValueError:
        return None
    return parts if scanner.position == len(text) else None


class _Scanner:
    """A position in a text, and the lines noted so far."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.lines: dict[Place, int] = {}
        self._ends = [match.start() for match in re.finditer("\n", text)]

    def skip(self, pattern: re.Pattern[str]) -> str:
        """Step over what a pattern matches here and return it."""
        match = pattern.match(self.text, self.position)
        if match is None:
            raise ValueError(f"nothing known at {self.position}")
        self.position = match.end()
        return match.group()

    def at(self, token: str) -> bool:
        return self.text.startswith(token, self.position)

    def note(self, place: Place, position: int) -> None:
        self.lines.setdefault(place, bisect_left(self._ends, position) + 1)

    def items(self, close: str, blank: re.Pattern[str], item: Callable[[int], None]) -> None:
        """Step over an opening bracket, the items and the closing one."""
        self.position += 1
        number = 0
        self.skip(blank)
        while not self.at(close):
            item(number)
            number += 1
            self.skip(blank)
            if self.at(","):
                self.position += 1
                self.skip(blank)
        self.position += 1


class _TomlScanner(_Scanner):
    def scan(self) -> Mapping[Place, int]:
        table: Place = ()
        counts: dict[Place, int] = {}
        self.skip(_BLANK)
        while self.position < len(self.text):
            if self.at("["):
                table = self._header(counts)
            else:
                self._pair(table)
            self.skip(_BLANK)
        return self.lines

    def key(self) -> tuple[str, ...]:
        parts = [_strip_quotes(self.skip(_NAME))]
        while _DOT.match(self.text, self.position):
            self.skip(_DOT)
            parts.append(_strip_quotes(self.skip(_NAME)))
        return tuple(parts)

    def _header(self, counts: dict[Place, int]) -> Place:
        """A `[table]` or one more of a `[[list of tables]]`; a name on the way that is a list means its newest item."""
        is_list = self.at("[[")
        self.position += 2 if is_list else 1
        self.skip(_BLANK)
        start = self.position
        parts = self.key()
        place: Place = ()
        for number, part in enumerate(parts, start=1):
            place = (*place, part)
            self.note(place, start)
            if is_list and number == len(parts):
                counts[place] = counts.get(place, -1) + 1
            if place in counts:
                place = (*place, counts[place])
                self.note(place, start)
        self.skip(_BLANK)
        self.position += 2 if is_list else 1
        return place

    def _pair(self, table: Place) -> None:
        start = self.position
        parts = self.key()
        for length in range(1, len(parts) + 1):
            self.note((*table, *parts[:length]), start)
        self.skip(_BLANK)
        self.position += 1
        self.skip(_BLANK)
        self._value((*table, *parts))

    def _value(self, place: Place) -> None:
        if self.at("["):
            self.items("]", _BLANK, lambda number: self._item((*place, number)))
        elif self.at("{"):
            self.items("}", _BLANK, lambda _: self._pair(place))
        elif self.at('"') or self.at("'"):
            self.skip(_TEXT)
        else:
            self.skip(_TOML_SCALAR)

    def _item(self, place: Place) -> None:
        self.note(place, self.position)
        self._value(place)


class _JsonScanner(_Scanner):
    def scan(self) -> Mapping[Place, int]:
        self.skip(_SPACE)
        self._value(())
        return self.lines

    def _value(self, place: Place) -> None:
        if self.at("["):
            self.items("]", _SPACE, lambda number: self._item((*place, number)))
        elif self.at("{"):
            self.items("}", _SPACE, lambda _: self._member(place))
        elif self.at('"'):
            self.skip(_QUOTED)
        else:
            self.skip(_JSON_SCALAR)

    def _item(self, place: Place) -> None:
        self.note(place, self.position)
        self._value(place)

    def _member(self, place: Place) -> None:
        import json

        start = self.position
        name = json.loads(self.skip(_QUOTED))
        self.note((*place, name), start)
        self.skip(_SPACE)
        self.position += 1
        self.skip(_SPACE)
        self._value((*place, name))


def _strip_quotes(name: str) -> str:
    if name[0] not in "\"'":
        return name
    import tomllib

    value = tomllib.loads(f"name = {name}")["name"]
    assert isinstance(value, str)
    return value
