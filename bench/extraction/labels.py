"""The labelled messages: ours with their text, real ones named by file and id; and what extraction makes of them.

A label is a passage that should become a memory, with its type. Ours are split by a hash of their text into a part that
rules were made with and a part that was only measured; what was added later names its part: `dev`, or `fresh` for a set
that was labelled before any rule saw it and that rules were improved with only afterwards; `unseen` was never tuned on;
`tempting` holds nothing to keep: requests, quotes and remarks that look like rules, which the guards were made with.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reverie.memory.extraction.candidate import MemoryCandidate, UserMessage
from reverie.memory.extraction.extract import extract
from reverie.memory.extraction.gate import GateContext
from reverie.memory.extraction.session import SessionMessage, SessionWords, words_of
from reverie.memory.extraction.similarity import Similarity
from reverie.messages.transcript import read_entries

HERE = Path(__file__).parent
HELD_OUT = "eval2-"
"""Files that begin so are never fitted to nor looked into: they are for the figures alone."""
SAID = datetime(2026, 2, 16, 12, tzinfo=UTC)
"""The Monday on which our own messages were said."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A passage that should become a memory."""

    type: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Labelled:
    """One message, what it should teach and what it did."""

    id: str
    part: str
    """`dev`, `held out`, `fresh…`, `unseen`, `tempting` or `real`."""
    text: str
    wanted: tuple[Wanted, ...]
    found: tuple[MemoryCandidate, ...]
    language: str = ""


def held_out_files() -> list[Path]:
    """The files that nobody fits to or looks into."""
    return sorted([*HERE.glob(f"{HELD_OUT}*.jsonl"), *(HERE / "examples").glob(f"{HELD_OUT}*.jsonl")])


def read_written(file: Path = HERE / "written.jsonl", similarity: Similarity | None = None) -> Iterator[Labelled]:
    """Our own messages, or those of another file, each as a session of its own."""
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.strip():
            continue
        row = json.loads(line)
        text: str = row["text"]
        part = part_of(row) if file.name == "written.jsonl" else file.stem
        spoken = SessionMessage(UserMessage(row["id"], text, row["id"], SAID, row.get("before", "")), 0, 0)
        found = extract(SessionWords((spoken,)), (spoken,), GateContext(today=SAID.date(), similarity=similarity))
        passed = tuple(each.candidate for each in found.passed)
        yield Labelled(row["id"], part, text, _wanted(row), passed, row.get("lang", ""))


def part_of(row: dict[str, Any]) -> str:
    """Which part a line of ours belongs to."""
    return row.get("split") or ("held out" if zlib.crc32(row["text"].encode()) % 3 == 0 else "dev")


def _wanted(row: dict[str, Any]) -> tuple[Wanted, ...]:
    """The passages to be kept: `keep` or `expect` names them; `store` and `kind` mean the message as a whole."""
    text = row["text"]
    if "keep" in row:
        return tuple(_passage(text, each["type"], each["sentence"]) for each in row["keep"])
    if "expect" in row:
        return tuple(_passage(text, each["type"], each["words"]) for each in row["expect"])
    return (Wanted(row.get("kind") or "", 0, len(text)),) if row["store"] else ()


def read_real(transcripts: Path) -> Iterator[Labelled]:
    """The user messages of the real sessions, as `learn` would take them."""
    rows = [json.loads(line) for line in (HERE / "real.jsonl").read_text(encoding="utf-8").splitlines()]
    for file in dict.fromkeys(row["file"] for row in rows):
        words = words_of(read_entries(transcripts / file), file, UTC)
        by_id = {each.said.message: each for each in words.messages}
        passed = [each.candidate for each in extract(words, words.messages, GateContext()).passed]
        for row in rows:
            if row["file"] == file:
                spoken = by_id.get(row["message"])
                wanted = tuple(Wanted(each["type"], each["start"], each["end"]) for each in row["expect"])
                found = tuple(each for each in passed if each.message == row["message"])
                text = spoken.said.text if spoken else ""
                yield Labelled(f"{file} {row['message']}", "real", text, wanted, found)


def _passage(text: str, kind: str, words: str) -> Wanted:
    start = text.index(words)
    return Wanted(kind, start, start + len(words))
