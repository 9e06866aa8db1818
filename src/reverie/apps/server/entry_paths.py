"""Which paths an entry may have: those that every client can write as a file below its `team/` folder.

A path that one operating system reads differently from another (case, Unicode form, reserved names) could overwrite
another file there or leave the folder, so the server refuses it for all.
"""

from __future__ import annotations

import re
import unicodedata

_PATH_BYTES_MAX = 512
_PART_BYTES_MAX = 200
_DEPTH_MAX = 8
_FORBIDDEN = re.compile(r'[\\:*?"<>|]')
_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(\..*)?")
_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def fold_path(path: str) -> str:
    """The path as a file system that ignores case and Unicode form compares it."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())


def find_path_problem(path: str) -> str | None:
    """Why an entry may not have this path; None when it may."""
    if not path.isascii():
        if any(unicodedata.category(character) in _INVISIBLE for character in path):
            return "has an invisible or unassigned character"
        if unicodedata.normalize("NFC", path) != path:
            return "is not in Unicode form NFC"
    if len(path.encode()) > _PATH_BYTES_MAX:
        return f"is longer than {_PATH_BYTES_MAX} bytes"
    parts = path.split("/")
    if len(parts) > _DEPTH_MAX:
        return f"is deeper than {_DEPTH_MAX} folders"
    problem = next(filter(None, map(_find_part_problem, parts)), None)
    if problem is None and not parts[-1].lower().endswith(".md"):
        return "does not end in .md"
    if problem is None and fold_path(parts[-1]) == "memory.md":
        return "is MEMORY.md, the index that each client generates"
    return problem


def _find_part_problem(part: str) -> str | None:
    problems = {
        "is absolute or has an empty part": not part,
        "has a part that starts with a dot": part.startswith("."),
        "has a control character": any(ord(character) < 32 or ord(character) == 127 for character in part),
        'has one of the characters \\ : * ? " < > |': _FORBIDDEN.search(part),
        "has a part that ends with a dot or a space, or begins with a space": part != part.strip(" ").rstrip("."),
        "has a name that Windows reserves for a device": _DEVICES.fullmatch(part),
        f"has a part longer than {_PART_BYTES_MAX} bytes": len(part.encode("utf-8", "replace")) > _PART_BYTES_MAX,
    }
    return next((problem for problem, applies in problems.items() if applies), None)
