"""Reads small JSON files written by others, and reports what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from reverie.files import read_small
from reverie.messages.blocks import Json, JsonObject

MAX_FILE_BYTES = 2 * 1024 * 1024
STATE_FILE_BYTES = 64 * 1024 * 1024
"""The host agent keeps the history of all projects in its state file."""


class Unread(NamedTuple):
    """Why a file is no JSON object."""

    sentence: str


def read_object(path: Path, *, limit_bytes: int = MAX_FILE_BYTES) -> JsonObject | Unread | None:
    """The object that a file holds; None where there is no file."""
    if not path.exists():
        return None
    content = read_small(path, limit_bytes=limit_bytes)
    if content is None:
        return Unread(f"{path}: cannot be read; it must be a regular file of at most {limit_bytes:,} bytes")
    return parse_object(content, str(path))


def parse_object(content: bytes | str, name: str) -> JsonObject | Unread:
    """The object in a text; `name` says in the sentence where the text stood."""
    try:
        text = content.decode("utf-8-sig") if isinstance(content, bytes) else content
        document: Json = json.loads(text)
    except UnicodeDecodeError:
        return Unread(f"{name}: this is not UTF-8; save the file in that encoding")
    except json.JSONDecodeError as error:
        return Unread(f"{name}:{error.lineno}: not valid JSON: {error.msg}")
    except RecursionError:
        return Unread(f"{name}: nested too deeply")
    return document if isinstance(document, dict) else Unread(f'{name}: expected an object, `{{"key": value}}`')
