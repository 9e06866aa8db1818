"""Globs over project paths, as the lines of a `.gitignore` mean them.

Without a slash a pattern matches names at any depth, with one it starts at the root; `**` spans directories; what
matches a directory holds for everything below; `{a,b}` are alternatives. A pattern that is no glob matches nothing.
"""

from __future__ import annotations

import re
from functools import cache


def glob_matches(pattern: str, path: str) -> bool:
    """Whether a file lies under a pattern; an absolute path may match at any of its directories."""
    compiled = _compiled(pattern)
    return compiled is not None and compiled.match(path.replace("\\", "/").removeprefix("./")) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str] | None:
    body = pattern.strip().removeprefix("./").rstrip("/")
    is_anchored = "/" in body
    body = body.removeprefix("/")
    if not body:
        return None
    start = r"(?:/(?:.*/)?)?" if is_anchored else r"(?:.*/)?"
    try:
        return re.compile(f"{start}{_translated(body)}(?:/.*)?\\Z", re.DOTALL)
    except re.error:
        return None


_PIECE = re.compile(r"\*\*/|/\*\*|\*\*|\*|\?|\[!?\]?[^\]/]*\]|\{[^{}]*\}|\\.|.", re.DOTALL)


def _translated(body: str) -> str:
    return "".join(_piece(match[0]) for match in _PIECE.finditer(body))


def _piece(piece: str) -> str:
    simple = {"**/": r"(?:.*/)?", "/**": r"(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if piece in simple:
        return simple[piece]
    if len(piece) > 1 and piece[0] == "[":
        inside = piece[1:-1].replace("\\", "\\\\")
        return f"[^/{inside[1:]}]" if inside.startswith("!") else f"[{inside}]"
    if len(piece) > 1 and piece[0] == "{":
        return "(?:" + "|".join(_translated(choice) for choice in piece[1:-1].split(",")) + ")"
    return re.escape(piece[1:] if len(piece) == 2 and piece[0] == "\\" else piece)
