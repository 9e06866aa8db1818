"""Finds `@path` includes in an instruction file and resolves them.

An include stands anywhere in prose, never in code. `@scope/pkg`, `@name` and addresses look alike, so a word is an
include when its file exists; only what cannot be anything else (`@./…`, `@~/…`, a text file's ending) is missed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from reverie.extensions.instructions.markdown import prose
from reverie.extensions.instructions.read import TEXT_EXTENSIONS
from reverie.files import is_encodable
from reverie.values import value

_MENTION = re.compile(r"(?<![A-Za-z0-9._%+\-@/\\=$&])@(?P<path>(?:\\ |[^\s@`\0]){1,1024})")
_AROUND = ".,;:!?)]}>\"'*_|…。，、；：！？）」』】》”’"
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_FRAGMENT = re.compile(r"#[^/]*\Z")
_LINK_CHARS = 1_024


@value
class Target:
    """What an include leads to."""

    path: Path | None
    """The file; None when there is none."""
    written: str
    """As it stands in the text."""
    is_certain: bool
    """Whether it can mean nothing but a file, so that its absence is worth a note."""


def mentions(text: str) -> tuple[str, ...]:
    """Every word that may be an include, as written after its `@`, each once, in order."""
    if "@" not in text:
        return ()
    return tuple(dict.fromkeys(match["path"] for match in _MENTION.finditer(prose(text))))


def find_target(written: str, folder: Path, home: Path) -> Target:
    """The file that an include means, from the folder of the file it stands in."""
    spellings = tuple(dict.fromkeys(_spellings(written)))
    for spelling in spellings:
        path = _path(spelling, folder, home)
        if path is not None and _is_plain(path):
            return Target(path, spelling, is_certain=True)
    if not spellings:
        return Target(None, written, is_certain=False)
    return Target(None, spellings[-1], is_certain=_is_certain(spellings[-1]))


def is_only_includes(text: str) -> bool:
    """Whether nothing is left of a text once its includes are taken out, but the marks of a list."""
    return not re.sub(r"(?m)^\s*[-*+]\s*$", "", _MENTION.sub("", text)).strip()


def link_target(text: str, folder: Path) -> Path | None:
    """The file that a link led to, when it was checked out as a text that holds the other file's name.

    Git writes links so where the system has none.
    """
    name = text.strip("\n")
    if not name or len(name) > _LINK_CHARS or re.search(r"[\s@]", name) or not PurePosixPath(name).suffix:
        return None
    path = _path(name, folder, folder)
    return path if path is not None and _is_plain(path) else None


def _spellings(written: str) -> Iterator[str]:
    """The word as it stands, without the punctuation around it, and up to the first letter of another script."""
    whole = written.replace("\\ ", " ")
    start = _NOT_ASCII.split(whole, maxsplit=1)[0]
    for word in (whole, whole.rstrip(_AROUND), start, start.rstrip(_AROUND)):
        for spelling in (word, _FRAGMENT.sub("", word)):
            if spelling.strip("./~"):
                yield spelling


def _path(spelling: str, folder: Path, home: Path) -> Path | None:
    if not is_encodable(spelling):
        return None
    return home / spelling[2:] if spelling.startswith("~/") else folder / spelling


def _is_plain(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long, a loop of links
        return False


def _is_certain(spelling: str) -> bool:
    path = PurePosixPath(spelling)
    return spelling.startswith(("./", "../", "~/")) or path.suffix.removeprefix(".").lower() in TEXT_EXTENSIONS
