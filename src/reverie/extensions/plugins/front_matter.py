"""Reads the front matter of Markdown files written by others; all values are texts, so YAML types do not surprise.

Memories have a reader of their own (`memory.topics.frontmatter`), which can also edit; here a file is only read.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from reverie.values import value

Field: TypeAlias = "str | list[Field] | dict[str, Field]"

_BLOCK = re.compile(r"\A\ufeff?---[ \t]*\r?\n(?P<head>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_PLAIN = re.compile(r"^(?P<key>[\w-]+)[ \t]*:[ \t]+(?P<value>[^\s\"'|>].*?)[ \t]*$", re.MULTILINE)
_SIMPLE = re.compile(r"[\w-]+:(?: [A-Za-z0-9][^:#]*)?")
_MAX_HEAD_CHARS = 100_000
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
        said = self.text(key).lower()
        return True if said in _TRUE else False if said in _FALSE else default

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
    block = _BLOCK.match(text)
    if block is None:
        return FrontMatterFile({}, text)
    body = text[block.end() :]
    head = block["head"]
    if len(head) > _MAX_HEAD_CHARS:
        return FrontMatterFile({}, body, "its front matter is too long")
    try:
        return FrontMatterFile(_load_head(head), body)
    except ValueError as problem:
        return FrontMatterFile({}, body, f"its front matter is not YAML: {problem}")


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
    said = page.text("effort").lower()
    return said if said in EFFORTS else ""


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


def _load_head(head: str) -> Mapping[str, Field]:
    lines = head.splitlines()
    if all(_SIMPLE.fullmatch(line) for line in lines):
        # Most heads are a few plain lines, and a session reads hundreds; YAML takes a millisecond each.
        return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}
    import yaml

    for attempt in (head, _quote_plain_values(head)):
        try:
            # Anchors could unfold a short text into a huge one, and nobody writes them here.
            if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(attempt)):
                raise ValueError("aliases are not taken")
            found = yaml.load(attempt, yaml.BaseLoader)  # noqa: S506 - makes nothing but text, lists and maps
        except (yaml.YAMLError, RecursionError) as error:
            problem = str(error).partition("\n")[0]
            continue
        if found is None or found == "":
            return {}
        if isinstance(found, dict):
            return {str(key): value for key, value in found.items()}
        problem = "expected `key: value` lines"
    raise ValueError(problem)


def _quote_plain_values(head: str) -> str:
    """Once more with plain values in quotes: people write colons and brackets without."""

    def line(found: re.Match[str]) -> str:
        if found["value"][0] in "[{" and _is_yaml(found["value"]):
            return found[0]
        return f"{found['key']}: '" + found["value"].replace("'", "''") + "'"

    return _PLAIN.sub(line, head)


def _is_yaml(text: str) -> bool:
    import yaml

    try:
        yaml.load(text, yaml.BaseLoader)  # noqa: S506 - makes nothing but text, lists and maps
    except (yaml.YAMLError, RecursionError):
        return False
    return True


# Lists the Markdown files of a folder of commands or agents; safe against link cycles.

_MAX_DEPTH = 8
_MAX_FOLDERS = 1_000


def list_markdown(folder: Path) -> Iterator[Path]:
    """All Markdown files below a folder, links followed and no folder twice; subfolders only put them in order."""
    return _below(folder, _MAX_DEPTH, set())


def _below(folder: Path, depth: int, seen: set[str]) -> Iterator[Path]:
    real = os.path.realpath(folder)
    if real in seen or len(seen) >= _MAX_FOLDERS:
        return
    seen.add(real)
    try:
        entries = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError:
        return
    for path in entries:
        if path.is_dir():
            if depth:
                yield from _below(path, depth - 1, seen)
        elif path.suffix == ".md":
            yield path
