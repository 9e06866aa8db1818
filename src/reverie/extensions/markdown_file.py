"""Finds and reads Markdown files with front matter that people wrote: skills, commands, agents, rules, output styles.

All values are texts, so YAML types do not surprise. The YAML itself is read by `files.front_matter`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from reverie.files.front_matter import Scalar, Table, Value, cut, parse_table
from reverie.values import value

Field: TypeAlias = "str | list[Field] | dict[str, Field]"

_SIMPLE = re.compile(r"[\w-]+:(?: [A-Za-z0-9][^:#]*)?")
_MAX_HEAD_CHARS = 100_000
_MAX_FOLDERS = 1_000
"""Folders below one folder; links may lead to a whole disk."""
_TRUE = frozenset({"true", "yes", "on", "1", "y"})
_FALSE = frozenset({"false", "no", "off", "0", "n"})
EFFORTS = ("low", "medium", "high", "xhigh", "max")
"""How much a model may be told to put into an answer."""
_HOOK_FLAGS = frozenset({"once", "async", "asyncRewake"})


@value
class FrontMatterFile:
    """A file cut in two."""

    fields: Mapping[str, Field]
    body: str
    problem: str = ""
    """Why the head could not be read."""

    def text(self, *keys: str) -> str:
        """The first of these fields, as one text; lists are joined by commas."""
        for key in keys:
            value = self.fields.get(key)
            if isinstance(value, list):
                return ", ".join(item for item in value if isinstance(item, str))
            if isinstance(value, str) and value.strip():
                return value.strip()
        return ""

    def flag(self, key: str, *, default: bool) -> bool:
        """A yes or a no, in any of the words people use; anything else is the default."""
        answer = self.text(key).lower()
        return True if answer in _TRUE else False if answer in _FALSE else default

    def texts(self, key: str) -> tuple[str, ...]:
        """A list, or a text that is one: parted by commas, or by blanks where there is none, outside of brackets."""
        value = self.fields.get(key)
        if isinstance(value, list):
            return tuple(item.strip() for item in value if isinstance(item, str) and item.strip())
        text = value.strip() if isinstance(value, str) else ""
        outside = re.sub(r"\([^()]*\)", "", text)
        pattern = r"(?:[^,()]|\([^()]*\)?)+" if "," in outside else r"(?:[^\s()]|\([^()]*\)?)+"
        return tuple(item for piece in re.findall(pattern, text) if (item := piece.strip()))


def read_page(text: str) -> FrontMatterFile:
    """Cut a file at its front matter; one without is all body."""
    block = cut(text)
    if block is None:
        return FrontMatterFile({}, text)
    if sum(len(line) for line in block.lines) > _MAX_HEAD_CHARS:
        problem = f"the front matter has more than {_MAX_HEAD_CHARS:,} characters: shorten it"
        return FrontMatterFile({}, block.body, problem)
    try:
        return FrontMatterFile(_load_head(block.lines), block.body)
    except ValueError as error:
        return FrontMatterFile({}, block.body, f"the front matter is not YAML: {error}")


def hooks_block(page: FrontMatterFile) -> str:
    """The `hooks` of a page as JSON; empty where it has none."""
    block = page.fields.get("hooks")
    return json.dumps(_convert_fields(block)) if isinstance(block, dict) else ""


def servers_block(page: FrontMatterFile) -> str:
    """The `mcpServers` of a page as JSON: names, tables, or lists of both; empty where it has none."""
    block = page.fields.get("mcpServers")
    return json.dumps(_convert_fields(block)) if block else ""


def effort_of(page: FrontMatterFile) -> str:
    """The `effort` of a page; empty where it has none that anybody knows."""
    effort = page.text("effort").lower()
    return effort if effort in EFFORTS else ""


def _convert_fields(value: object, key: str = "") -> object:
    """The block with the few fields that are no texts as what they mean; everything was read as text."""
    if isinstance(value, dict):
        return {name: _convert_fields(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_convert_fields(item, key) for item in value]
    if key in _HOOK_FLAGS:
        return value == "true"
    if key == "timeout" and isinstance(value, str):
        with contextlib.suppress(ValueError):
            return float(value)
    return value


def _load_head(lines: tuple[str, ...]) -> Mapping[str, Field]:
    bare = [line.rstrip() for line in lines]
    if all(_SIMPLE.fullmatch(line) for line in bare):
        # Most heads are a few plain lines, and a session reads hundreds of them without importing YAML.
        return {key: value.strip() for key, _, value in (line.partition(":") for line in bare)}
    return {key: _to_field(item) for key, item in parse_table(lines).pairs}


def _to_field(value: Value) -> Field:
    if isinstance(value, Scalar):
        return value.text
    if isinstance(value, Table):
        return {key: _to_field(item) for key, item in value.pairs}
    return [_to_field(item) for item in value]


def list_markdown(folder: Path, *, with_hidden: bool = False) -> tuple[Path, ...]:
    """All Markdown files below a folder in the order of their paths, links followed and no folder twice."""
    paths: list[Path] = []
    seen: set[str] = set()
    folders = [folder]
    while folders and len(seen) < _MAX_FOLDERS:
        here = folders.pop()
        real = os.path.realpath(here)
        if real in seen:
            continue
        seen.add(real)
        entries = [path for path in _entries(here) if with_hidden or not path.name.startswith(".")]
        folders += [path for path in reversed(entries) if path.is_dir()]
        paths += [path for path in entries if path.suffix.lower() == ".md" and not path.is_dir()]
    return tuple(sorted(paths, key=lambda path: path.relative_to(folder).parts))


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
