"""Normalises model names: dates, `latest`, `[1m]`, cloud prefixes, dots for dashes, aliases."""

from __future__ import annotations

import re

COMMAND = "command:"
"""How the name of a model begins that a program of another vendor answers for."""
_EXTENDED = re.compile(r"\[1m\]$", re.IGNORECASE)
_SUFFIX = re.compile(
    r"""(?: [-@]\d{8}        # the date of a snapshot, with Vertex's @
          | [-@](?:latest|default)
          | -v\d+(?::\d+)?   # Bedrock's revision
          | :[a-z]\w*        # a router's variant, such as :thinking
        )$""",
    re.VERBOSE,
)
_VERSION_FIRST = re.compile(r"^claude-(\d)(?:-(\d))?-(opus|sonnet|haiku)$")
_ONE_NUMBER = re.compile(r"^(claude-[a-z]+)-([34])$")

_ALIASES = {
    "opus": "claude-opus-5-5",
    "sonnet": "claude-sonnet-5-5",
    "haiku": "claude-haiku-5-5",
    "fable": "claude-fable-5-2",
    "mythos": "claude-mythos-5-2",
}
"""Short names mean the newest of their line."""


def wants_extended_window(model: str) -> bool:
    """True when the name carries the suffix that asks for a window of a million tokens."""
    return bool(_EXTENDED.search(model.strip()))


def canonical_name(model: str) -> str:
    """The family name of a Claude model; any other name comes back as it is, without the window suffix."""
    plain = _EXTENDED.sub("", model.strip())
    if plain.startswith(COMMAND):
        return plain
    name = plain.lower()
    name = _ALIASES.get(name, name)
    start = name.find("claude-")
    if start < 0:
        return plain
    name = name[start:]
    while (shorter := _SUFFIX.sub("", name)) != name:
        name = shorter
    name = name.replace(".", "-")
    if match := _VERSION_FIRST.match(name):
        major, minor, line = match.groups()
        return f"claude-{line}-{major}-{minor or 0}"
    if match := _ONE_NUMBER.match(name):
        return f"{match[1]}-{match[2]}-0"
    return name
