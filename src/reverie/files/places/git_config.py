"""Reads a repository's own configuration file without running git and without trusting it."""

from __future__ import annotations

import re
from pathlib import Path

from reverie.files import read_small

_BLANKS = " \t"
_SECTION = re.compile(r'[ \t]*\[([A-Za-z0-9.-]+)[ \t]*(?:"((?:[^"\\]|\\.)*)")?\]')
_SETTING = re.compile(r"[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*=(.*)", re.DOTALL)
_CONTINUED = re.compile(r"(?<!\\)((?:\\\\)*)\\\n")
"""A line that goes on: an escaped backslash at its end does not count."""
_ESCAPED = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}


def read_git_config(path: Path) -> dict[str, str]:
    """The settings of the file, as `remote.origin.url` → value, in the order of the file; the first value counts.

    What cannot be parsed is passed over; other files that it includes are not read.
    """
    content = read_small(path) or b""
    settings: dict[str, str] = {}
    section = ""
    text = content.decode("utf-8", "replace").replace("\r\n", "\n")
    for line in _CONTINUED.sub(r"\1", text).split("\n"):
        if heading := _SECTION.match(line):
            name, subsection = heading.groups()
            section = name.lower() if subsection is None else ".".join((name.lower(), _ESCAPED.sub(r"\1", subsection)))
            line = line[heading.end() :]
        if setting := _SETTING.match(line):
            settings.setdefault(f"{section}.{setting[1].lower()}", _value(setting[2]))
    return settings


def _value(written: str) -> str:
    value, kept, quoted = "", 0, False
    characters = iter(written.strip(_BLANKS))
    for character in characters:
        match character:
            case '"':
                quoted = not quoted
            case "\\":
                escaped = next(characters, "")
                value += _ESCAPES.get(escaped, escaped)
            case "#" | ";" if not quoted:
                break
            case _:
                value += character
        if quoted or character not in _BLANKS:
            kept = len(value)  # blanks before a comment are not part of the value
    return value[:kept]
