"""The front matter of an instruction file or a rule: `paths:` says for which files it counts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reverie.extensions.markdown_file import read_page
from reverie.files.front_matter import cut
from reverie.values import value

_KEYS_ONLY = re.compile(r"(?:(?:[a-z][\w-]*[ \t]*:.*|[ \t]+\S.*|-[ \t].*|#.*|[ \t]*)\r?\n)*")
"""Lines of keys as metadata has them, in small letters, with their values; anything else is text."""


@value
class Body:
    """A file cut into what is about it and what it says."""

    text: str
    globs: tuple[str, ...] = ()


def split_front_matter(text: str) -> Body:
    """The text without its front matter, and the patterns of `paths:` in it. A text that only looks so stays whole."""
    block = cut(text)
    if block is None or not _KEYS_ONLY.fullmatch("".join(block.lines)):
        return Body(text)  # without a head, or prose between two rulers
    page = read_page(text)
    return Body(page.body, tuple(_patterns(page.fields.get("paths"))))


def _patterns(paths: object) -> Iterator[str]:
    if isinstance(paths, str):
        # An unquoted `[**/*.py]` is no YAML and was read as text.
        listed = paths.strip().removeprefix("[").removesuffix("]") if paths.startswith("[") else paths
        yield from (pattern for part in _split(listed) if (pattern := part.strip("\"'")))
    elif isinstance(paths, list):
        yield from (path.strip() for path in paths if isinstance(path, str) and path.strip())


def _split(text: str) -> list[str]:
    """Patterns on one line, parted by commas outside of braces."""
    return [part for piece in re.split(r",(?![^{}]*\})", text) if (part := piece.strip())]
