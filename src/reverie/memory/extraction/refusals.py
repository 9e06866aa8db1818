"""What was refused and why, one JSON line each, beside the locks of the directory; `reverie log --refused` shows it.

Quotes are short and hold no secret. The file is bounded, says nothing twice, and erasing a topic takes out what quotes
it. Losing it loses no memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from reverie.files import append_lines, write_atomic
from reverie.files.places.paths import MemoryFolder
from reverie.memory.extraction.candidate import RefusalReason, RefusedCandidate
from reverie.memory.extraction.gate import QUOTE_CHARS
from reverie.memory.model_asks import DroppedAsk
from reverie.memory.search.analyze import terms

MAX_ROWS = 2_000
"""A longer file loses its older half."""
_QUOTES_IT = 0.5
"""The share of a refused sentence's words from which on it repeats an erased text."""


def refusals_file(folder: MemoryFolder) -> Path:
    """Where the refusals of a directory lie."""
    return folder.state / "refused.jsonl"


def read_refusals(folder: MemoryFolder) -> tuple[RefusedCandidate, ...]:
    """What was refused, oldest first; lines that cannot be read are passed over."""
    try:
        rows = refusals_file(folder).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return ()
    return tuple(refusal for row in rows if (refusal := _parse_refusal(row)) is not None)


def append_refusals(folder: MemoryFolder, refused: Iterable[RefusedCandidate], now: datetime) -> None:
    """Keep refusals that are not there yet."""
    before = read_refusals(folder)
    there = {replace(each, when="") for each in before}
    fresh = [each for each in dict.fromkeys(refused) if replace(each, when="") not in there]
    if not fresh:
        return
    stamp = now.isoformat(timespec="seconds")
    append_lines(refusals_file(folder), [_row(replace(each, when=stamp)) for each in fresh], durable=False)
    if len(before) + len(fresh) > MAX_ROWS:
        _write_all(folder, read_refusals(folder)[-MAX_ROWS // 2 :])


def refuse_ask(ask: DroppedAsk, message: str = "", session: str = "") -> RefusedCandidate:
    """The refusal of an ask, as it is written down."""
    reason = RefusalReason.foreign if ask.text else RefusalReason.secret
    return RefusedCandidate(reason, ask.text[:QUOTE_CHARS], message, session, detail=str(ask))


def remove_refusals(folder: MemoryFolder, paths: Iterable[str], texts: Iterable[str]) -> int:
    """Forget what repeats these topics, by their paths and by their words; return how many lines went."""
    gone, words = set(paths), [frozenset(terms(text)) for text in texts]
    before = read_refusals(folder)
    remaining = [each for each in before if each.known not in gone and not _repeats(each.quote, words)]
    if len(remaining) < len(before):
        _write_all(folder, remaining)
    return len(before) - len(remaining)


def _repeats(quote: str, words: list[frozenset[str]]) -> bool:
    mine = frozenset(terms(quote))
    return bool(mine) and any(len(mine & theirs) / len(mine) >= _QUOTES_IT for theirs in words)


def _write_all(folder: MemoryFolder, refused: Iterable[RefusedCandidate]) -> None:
    text = "".join(f"{_row(each)}\n" for each in refused)
    write_atomic(refusals_file(folder), text.encode(), durable=False)


def _row(refusal: RefusedCandidate) -> str:
    record = {
        "when": refusal.when,
        "reason": refusal.reason.name,
        "quote": refusal.quote,
        "session": refusal.session,
        "message": refusal.message,
        "known": refusal.known,
        "detail": refusal.detail,
    }
    return json.dumps({key: value for key, value in record.items() if value}, ensure_ascii=False)


def _parse_refusal(row: str) -> RefusedCandidate | None:
    try:
        record = json.loads(row)
        return RefusedCandidate(
            RefusalReason[record["reason"]],
            record.get("quote", ""),
            record.get("message", ""),
            record.get("session", ""),
            record.get("known", ""),
            record.get("when", ""),
            record.get("detail", ""),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
