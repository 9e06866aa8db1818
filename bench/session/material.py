"""Session files of any length, with the entries that sessions write: rounds of one tool call, and compactions between.

Summaries are made up rather than written: what is measured here is reading, and a long session has dozens of them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path

from reverie.context.conversation import Conversation
from reverie.messages.blocks import Text, ToolResult, ToolUse
from reverie.messages.entries import (
    AssistantEntry,
    BoundaryEntry,
    Entry,
    MarkEntry,
    PromptEntry,
    TitleEntry,
    UserEntry,
)
from reverie.messages.message import Usage, assistant, user
from reverie.messages.records import encode_line
from reverie.messages.transcript import read_entries

MODEL = "claude-sonnet-4-5"
WORDS = (
    "importer",
    "rows",
    "header",
    "parse",
    "stream",
    "cache",
    "queue",
    "release",
    "test",
    "retry",
    "window",
    "token",
)
COMPACT_AT_TOKENS = 150_000
_SUMMARY_WORDS = 5_000
_PROMPT_EVERY = 8
"""So many rounds pass until the user speaks again."""
_CHARS_PER_TOKEN = 4


def grow(path: Path, *, tokens: int = 0, size_bytes: int = 0, result_chars: int = 3_000) -> None:
    """Append rounds to a transcript until it has about so many tokens in view, and so many bytes."""
    entries = read_entries(path)
    chance, numbers = random.Random(5), count(1)
    start = _start(entries)
    written = path.stat().st_size
    used = 0

    with path.open("ab") as file:

        def write(new: Sequence[Entry]) -> None:
            nonlocal written
            for entry in new:
                written += file.write(encode_line(entry) + b"\n")

        def now() -> datetime:
            return start + timedelta(seconds=next(numbers))

        def new_id() -> str:
            return f"{next(numbers):08x}-1111-4000-8000-000000000000"

        log = Conversation(session=path.stem, now=now, new_id=new_id, entries=entries, write=write)
        for number in count():
            if used >= tokens and written >= size_bytes:
                return
            used += _round(log, number, used, result_chars, chance)
            if used >= COMPACT_AT_TOKENS and written < size_bytes:
                used = _compaction(log, used, chance)


def _start(entries: Sequence[Entry]) -> datetime:
    first = next(entry for entry in entries if isinstance(entry, PromptEntry))
    return datetime.fromisoformat(first.envelope.timestamp)


def _round(log: Conversation, number: int, used: int, chars: int, chance: random.Random) -> int:
    """One call and its answer; about how many tokens that is."""
    if number % _PROMPT_EVERY == 0:
        asked = f"Look at {_path(chance)} and tell why {_words(chance, 12)}."
        log.append(UserEntry(log.envelope(), user(asked), source="typed"), TitleEntry("last-prompt", asked))
    path = _path(chance)
    call = ToolUse(f"toolu_{number:08}", "Read", {"file_path": path})
    usage = Usage(input_tokens=12, output_tokens=90, cache_read_tokens=used)
    for message in (assistant(Text(f"I read on: {_words(chance, 25)}.")), assistant(call)):
        log.append(AssistantEntry(log.envelope(), message, f"msg_{number:08}", None, MODEL, "tool_use", usage))
    lines = [f"{at:>6}\t    {_words(chance, 7)}" for at in range(1, 2 + chars // 55)]
    text = "\n".join(lines)
    log.append(
        UserEntry(
            log.envelope(),
            user(ToolResult(call.id, text)),
            tool_details={"type": "text", "file": {"filePath": path, "content": text, "numLines": len(lines)}},
            source="system",
        )
    )
    return len(text) // _CHARS_PER_TOKEN + 120


def _compaction(log: Conversation, used: int, chance: random.Random) -> int:
    """A boundary, the prompt again, a summary and its receipt; the size that is left."""
    view = log.view
    first = replace(log.envelope(), parent=None, logical_parent=view.leaf)
    prompt = PromptEntry(log.envelope(), view.system, view.tools)
    summary = UserEntry(log.envelope(), user(_words(chance, _SUMMARY_WORDS)), is_summary=True)
    receipt = MarkEntry(log.envelope(), "receipt", {"kind": "full compaction", "kept": 40, "left": _words(chance, 400)})
    boundary = BoundaryEntry(first, "auto", used, 15_000, anchor=summary.envelope.uuid)
    log.append(boundary, prompt, summary, receipt)
    return 15_000


def _words(chance: random.Random, many: int) -> str:
    return " ".join(chance.choices(WORDS, k=many))


def _path(chance: random.Random) -> str:
    return f"/src/package/{chance.choice(WORDS)}/{chance.choice(WORDS)}_{chance.randrange(40)}.py"
