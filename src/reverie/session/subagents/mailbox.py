"""Letters between agents, and the mailbox of one of them: a file of JSON lines that every process appends to.

A writer appends whole lines under the file's lock. A reader takes what stands behind its cursor and moves the cursor
only when it has kept what it read (`write_cursor`): killed in between, it reads the same letters again and knows them
by their ids. So no letter is lost, and none counts twice.
"""

from __future__ import annotations

import json
from collections.abc import Container
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from reverie.files import append_lines, check_name, read_small, write_atomic
from reverie.values import value

MAX_LETTER_CHARS = 100_000
_MAX_READ_BYTES = 16 * 1024 * 1024


@value
class AgentMessage:
    """One message."""

    id: str
    sender: str
    to: str
    text: str
    at: datetime
    summary: str = ""
    kind: str = "message"
    """`message`, `shutdown_request`, `shutdown_response` or `plan_approval_response`."""
    request_id: str = ""
    """Which request this answers."""
    approve: bool | None = None


@value
class Mail:
    """What a look into a mailbox found."""

    letters: tuple[AgentMessage, ...] = ()
    cursor: int = 0
    """Where the next look begins, once these letters are kept."""


def append_letter(mailbox: Path, letter: AgentMessage) -> None:
    """Put a letter into a mailbox; when this returns it survives the end of this process and of the machine."""
    append_lines(mailbox, (letter_line(letter),))


def read_mail(mailbox: Path, reader: str, *, known_ids: Container[str] = ()) -> Mail:
    """The letters behind a reader's cursor, without those whose ids are known; what is no letter is passed over."""
    start = _read_cursor(mailbox, reader)
    try:
        if mailbox.stat().st_size < start:
            start = 0  # Somebody put a new file in its place; ids tell what was read before.
        with mailbox.open("rb") as file:
            file.seek(start)
            content = file.read(_MAX_READ_BYTES)
    except FileNotFoundError:
        return Mail((), 0)
    # What has no end yet is still being written, or was never finished and is closed off by the next writer.
    whole = content[: content.rfind(b"\n") + 1]
    letters: dict[str, AgentMessage] = {}
    for line in whole.splitlines():
        letter = parse_letter(line)
        if letter is not None and letter.id not in known_ids:
            letters.setdefault(letter.id, letter)
    return Mail(tuple(letters.values()), start + len(whole))


def has_mail(mailbox: Path, reader: str) -> bool:
    """Whether something stands behind a reader's cursor."""
    try:
        return mailbox.stat().st_size != _read_cursor(mailbox, reader)
    except FileNotFoundError:
        return False


def write_cursor(mailbox: Path, reader: str, cursor: int) -> None:
    """Say that everything before this place is kept by the reader."""
    write_atomic(_cursor_path(mailbox, reader), str(cursor), durable=False)


def letter_line(letter: AgentMessage) -> str:
    """A letter as one line of JSON."""
    row = asdict(letter) | {"at": letter.at.isoformat(), "text": letter.text[:MAX_LETTER_CHARS]}
    return json.dumps(row, ensure_ascii=True, separators=(",", ":"))


def parse_letter(line: bytes | str) -> AgentMessage | None:
    """The letter in a line; None when there is none."""
    try:
        row: dict[str, Any] = json.loads(line)
        approve = row.get("approve")
        return AgentMessage(
            id=str(row["id"]),
            sender=str(row["sender"]),
            to=str(row["to"]),
            text=str(row["text"])[:MAX_LETTER_CHARS],
            at=datetime.fromisoformat(row["at"]),
            summary=str(row.get("summary", "")),
            kind=str(row.get("kind", "message")),
            request_id=str(row.get("request_id", "")),
            approve=approve if isinstance(approve, bool) else None,
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _read_cursor(mailbox: Path, reader: str) -> int:
    content = read_small(_cursor_path(mailbox, reader), limit_bytes=64) or b""
    return int(content) if content.isdigit() else 0


def _cursor_path(mailbox: Path, reader: str) -> Path:
    return mailbox.with_name(f"{mailbox.stem}.{check_name(reader.replace(':', '-'), what='reader')}.cursor")
