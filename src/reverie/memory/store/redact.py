"""Removes given sentences from files that quote them: transcripts (JSON lines) and spilled tool results.

A JSON line stays the same JSON with the sentence replaced inside its strings. The file is replaced whole or not at all,
and keeps its times, since retention and recency go by them. A session that appends meanwhile waits, and loses nothing.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from reverie.files import hold_appenders

MARK = "[erased]"
_APPENDING_SECONDS = 0.05
"""Another program that had the old file open to append to it, without our lock, is done after this, mostly."""
_Json: TypeAlias = "str | int | float | bool | list[_Json] | dict[str, _Json] | None"


def write_redacted(paths: Iterable[Path], sentences: Iterable[str]) -> tuple[Path, ...]:
    """Replace these sentences wherever they stand; return the files that held one."""
    pattern = _pattern(sentences)
    if pattern is None:
        return ()
    return tuple(path for path in paths if _write_one(path, pattern))


def _pattern(sentences: Iterable[str]) -> re.Pattern[str] | None:
    """Any of the sentences, longest first, whatever the white space between the words."""
    words = sorted({tuple(sentence.split()) for sentence in sentences if sentence.split()}, key=len, reverse=True)
    if not words:
        return None
    return re.compile("|".join(r"\s+".join(map(re.escape, each)) for each in words), re.IGNORECASE)


def _write_one(path: Path, pattern: re.Pattern[str]) -> bool:
    with path.open("rb") as old:
        with hold_appenders(old):
            before = old.read()
            after = _redact_text(path, before, pattern)
            if after == before:
                return False
            _replace_file(path, after, os.fstat(old.fileno()))
        time.sleep(_APPENDING_SECONDS)
        appended = old.read()
    if appended:
        with path.open("ab") as file:
            file.write(_redact_text(path, appended, pattern))
    return True


def _replace_file(path: Path, content: bytes, looks: os.stat_result) -> None:
    """Put a file with this content in place of one that looked so; it keeps mode and times."""
    draft = path.with_name(f".{path.name}.redacted")
    handle = os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        os.fchmod(handle, looks.st_mode & 0o777)
        file.write(content)
        file.flush()
        os.fsync(handle)
    os.utime(draft, ns=(looks.st_atime_ns, looks.st_mtime_ns))
    draft.replace(path)


def _redact_text(path: Path, content: bytes, pattern: re.Pattern[str]) -> bytes:
    text = content.decode("utf-8", "surrogateescape")
    if path.suffix in {".jsonl", ".json"}:
        text = "".join(_redact_row(row, pattern) for row in re.findall(r"[^\n]*\n|[^\n]+", text))
    else:
        text = pattern.sub(MARK, text)
    return text.encode("utf-8", "surrogateescape")


def _redact_row(row: str, pattern: re.Pattern[str]) -> str:
    try:
        value: _Json = json.loads(row)
    except ValueError:
        return pattern.sub(MARK, row)
    clean = _redact_value(value, pattern)
    if clean == value:
        return row
    end = row[len(row.rstrip("\r\n")) :]
    return json.dumps(clean, ensure_ascii=False, separators=(",", ":")) + end


def _redact_value(value: _Json, pattern: re.Pattern[str]) -> _Json:
    match value:
        case str():
            return pattern.sub(MARK, value)
        case list():
            return [_redact_value(item, pattern) for item in value]
        case dict():
            return {key: _redact_value(item, pattern) for key, item in value.items()}
        case _:
            return value
