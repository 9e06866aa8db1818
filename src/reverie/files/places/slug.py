"""A path as the name of a folder, by the same rule as existing agents.

The rule is lossy: `/a/b-c` and `/a/b/c` share a slug. Telling them apart is the matter of `identity` and `transcripts`.
"""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path

from reverie.errors import UserMistake

_LONGEST = 200
_NOT_ALPHANUMERIC = re.compile(r"[^a-zA-Z0-9]")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def canonical(path: Path | str) -> str:
    """The path with links resolved, in Unicode NFC: what a slug is made of."""
    return unicodedata.normalize("NFC", os.path.realpath(path))


def slug(path: Path | str) -> str:
    """The name of the folder that belongs to this path."""
    return slug_of(canonical(path))


def slug_of(canonical_path: str) -> str:
    """The name of the folder that belongs to this canonical path."""
    written = _NOT_ALPHANUMERIC.sub("-", canonical_path)
    if len(written) <= _LONGEST:
        return written
    return f"{written[:_LONGEST]}-{_hash(canonical_path)}"


def names_folder_of(name: str, canonical_path: str, *, or_below: bool = False) -> bool:
    """Whether a folder of this name may belong to the path, as any program writes it, or to one below it.

    Programs hash long paths differently, so of these only the beginning is compared; some count a character outside
    the basic plane as two.
    """
    for spelled in {canonical_path, _in_utf16_units(canonical_path)}:
        written = _NOT_ALPHANUMERIC.sub("-", spelled)
        if name == written or (len(written) > _LONGEST and name.startswith(f"{written[:_LONGEST]}-")):
            return True
        if or_below and name.startswith(_NOT_ALPHANUMERIC.sub("-", f"{spelled.rstrip('/')}/")):
            return True
    return False


def check_folder_name(name: str) -> str:
    """Return a name that a user set in place of the slug."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
        raise UserMistake(f"the project folder name {name!r} is not 1 to 64 letters, digits, '-' or '_'")
    return name


def _hash(text: str) -> str:
    """A 32-bit hash as JavaScript programs compute it, in base 36."""
    value = 0
    for character in text:
        value = (value * 31 + ord(character)) & 0xFFFFFFFF
    value = min(value, 0x100000000 - value)  # the absolute value of the signed number
    written = ""
    while value:
        value, digit = divmod(value, 36)
        written = _DIGITS[digit] + written
    return written or "0"


def _in_utf16_units(text: str) -> str:
    return "".join(character if ord(character) < 0x10000 else "--" for character in text)
