"""Anchors: files, symbols, commits and URLs that a memory refers to, so that it can be checked.

Values, finding them in a text, and checking them. Paths are resolved inside the project root and never outside; commits
and words of the whole tree are asked of the caller, who knows git; URLs are never fetched. How anchors stand in front
matter is `fields.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from reverie.errors import Refused
from reverie.files import safe_join
from reverie.values import value

MAX_DERIVED = 8
"""A memory that names more than this is a list of files, and each check costs a read."""

MAX_FILE_BYTES = 4_000_000
"""Larger files are generated or data; they are tied to by existence only."""


@value
class FileAnchor:
    """A file or directory of the project."""

    path: str
    """Relative to the project root, with forward slashes."""
    sha256: str | None = None
    """Of its bytes when the memory was written or last verified; None ties the memory to its existence only."""


@value
class SymbolAnchor:
    """A function, class, flag or other name in the code."""

    name: str
    path: str | None = None
    """The file it stands in; None when the memory does not say."""


@value
class CommitAnchor:
    """A commit of the project's repository."""

    id: str


@value
class UrlAnchor:
    """A page elsewhere."""

    url: str


Anchor: TypeAlias = FileAnchor | SymbolAnchor | CommitAnchor | UrlAnchor


class AnchorState(StrEnum):
    """What a check found."""

    fresh = "fresh"
    changed = "changed"
    broken = "broken"
    unchecked = "unchecked"


@value
class AnchorCheck:
    """An anchor and its state."""

    anchor: Anchor
    state: AnchorState


Ask: TypeAlias = Callable[[str], bool]
"""A question to the repository: is there such a commit, is there such a word?"""


def describe_anchor(anchor: Anchor) -> str:
    """An anchor in a sentence."""
    match anchor:
        case FileAnchor(path):
            return path
        case SymbolAnchor(name, path):
            return f"{name} in {path}" if path else name
        case CommitAnchor(commit):
            return f"commit {commit}"
        case UrlAnchor(url):
            return url


def read_anchor_state(
    anchor: Anchor, root: Path, *, has_commit: Ask | None = None, has_word: Ask | None = None
) -> AnchorState:
    """Check one anchor against the project; what nobody can answer is `unchecked`."""
    match anchor:
        case FileAnchor(path, sha256):
            return _read_file_state(root, path, sha256)
        case SymbolAnchor(name, path):
            if path is None:
                return _answer(has_word, name)
            content = _read_content(root, path)
            return _to_state(content is not None and _has_word(content, name))
        case CommitAnchor(commit):
            return _answer(has_commit, commit)
        case UrlAnchor():
            return AnchorState.unchecked


def read_anchors(text: str, root: Path, *, has_commit: Ask | None = None) -> tuple[Anchor, ...]:
    """The anchors that a text names and the project has: files with their hashes, symbols in them, commits, URLs."""
    files = list(dict.fromkeys(_find_paths(text)))
    contents = {path: content for path in files if (content := _read_content(root, path)) is not None}
    anchors: list[Anchor] = [
        FileAnchor(path, _sha256(contents[path]) if path in contents else None)
        for path in files
        if path in contents or _read_kind(root, path) is not None
    ]
    for symbol in dict.fromkeys(match[1] for match in re.finditer(_SYMBOL, text)):
        home = next((path for path, content in contents.items() if _has_word(content, symbol)), None)
        anchors += [SymbolAnchor(symbol, home)] if home else []
    if has_commit is not None:
        commits = dict.fromkeys(match[1] for match in re.finditer(_COMMIT, text))
        anchors += [CommitAnchor(commit) for commit in commits if has_commit(commit)]
    anchors += [
        UrlAnchor(url) for url in dict.fromkeys(match[0].rstrip(".,;:!?)") for match in re.finditer(_URL, text))
    ]
    return tuple(anchors[:MAX_DERIVED])


def find_missing_files(text: str, root: Path) -> tuple[str, ...]:
    """Files that a text names in a folder that the project has, and that are not there."""
    named = dict.fromkeys(path for path in _find_paths(text) if "/" in path and "." in path.rpartition("/")[2])
    return tuple(
        path for path in named if _read_kind(root, path.partition("/")[0]) == "directory" and not _read_kind(root, path)
    )


# Compiled when a text is searched for anchors: most processes only read those that were found.
_URL = r"https?://[^\s<>\"'`\])]+"
_PATH = r"(?<![\w/.:@-])((?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{0,7}|(?:[\w.@+-]+/)+)(?![\w/])"
_SYMBOL = r"`(?:[A-Za-z_]\w*(?:\.|::))*([A-Za-z_]\w{2,})(?:\(\))?`"
_COMMIT = r"(?<![\w-])(?=[0-9a-f]*\d)([0-9a-f]{7,40})(?![\w-])"


def _find_paths(text: str) -> Iterator[str]:
    for match in re.finditer(_PATH, re.sub(_URL, " ", text)):
        yield match[1].removeprefix("./").rstrip("/")


def _read_kind(root: Path, path: str) -> str | None:
    try:
        place = safe_join(root, path)
        return "file" if place.is_file() else "directory" if place.is_dir() and place != root else None
    except (Refused, OSError):
        return None


def _read_content(root: Path, path: str) -> bytes | None:
    try:
        place = safe_join(root, path)
        if not place.is_file() or place.stat().st_size > MAX_FILE_BYTES:
            return None
        return place.read_bytes()
    except (Refused, OSError):
        return None


def _read_file_state(root: Path, path: str, sha256: str | None) -> AnchorState:
    if _read_kind(root, path) is None:
        return AnchorState.broken
    content = _read_content(root, path)
    if sha256 is None or content is None:
        return AnchorState.fresh
    return AnchorState.fresh if _sha256(content) == sha256 else AnchorState.changed


def _sha256(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()


def _has_word(content: bytes, word: str) -> bool:
    return re.search(rb"(?<![\w])" + re.escape(word.encode()) + rb"(?![\w])", content) is not None


def _answer(ask: Ask | None, subject: str) -> AnchorState:
    return AnchorState.unchecked if ask is None else _to_state(ask(subject))


def _to_state(is_there: bool) -> AnchorState:
    return AnchorState.fresh if is_there else AnchorState.broken
