"""File changes by tools, as `file-history-snapshot` records of a transcript.

A record stands before its change and says under which message it was made, what the file held and what it is to hold.
What it held lies in a file named by its SHA-256, beside the transcript of the session that wrote the record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from reverie.messages.codec import decode_json, encode_json
from reverie.messages.entries import Entry, OtherEntry
from reverie.values import value

KIND = "file-history-snapshot"


@value
class FileChange:
    """One change of one file."""

    message: str
    """The newest message of the user when it was made."""
    session: str
    """The session that keeps what the file held; a fork of it has the record and not the content."""
    path: Path
    before: str | None
    """SHA-256 of what it held; None when there was no file."""
    after: str | None
    """SHA-256 of what was written; None when it was removed."""
    is_kept: bool = True
    """Whether what it held was put aside."""


def record_of(change: FileChange, *, version: int, timestamp: str) -> OtherEntry:
    """A change as an entry."""
    content = change.before if change.is_kept else None
    backup = {"backupFileName": content, "version": version, "backupTime": timestamp}
    record = {
        "type": KIND,
        "messageId": change.message,
        "snapshot": {
            "messageId": change.message,
            "trackedFileBackups": {str(change.path): backup},
            "timestamp": timestamp,
        },
        "isSnapshotUpdate": True,
        "reverie": {"session": change.session, "before": change.before, "after": change.after},
    }
    return OtherEntry(KIND, encode_json(record))


def file_changes(entries: Iterable[Entry]) -> Iterator[FileChange]:
    """The changes among entries, in order. Records of other programs, which say less, are passed over."""
    for entry in entries:
        if isinstance(entry, OtherEntry) and entry.kind == KIND and b'"reverie"' in entry.raw:
            change = _change(decode_json(entry.raw))
            if change is not None:
                yield change


def rename_record(record: Mapping[str, object], names: Mapping[str, str]) -> dict[str, object]:
    """The record under the new name of its message, for a copy of the session."""
    message = str(record.get("messageId"))
    renamed = names.get(message, message)
    snapshot = record.get("snapshot")
    inside = {**snapshot, "messageId": renamed} if isinstance(snapshot, dict) else snapshot
    return {**record, "messageId": renamed, "snapshot": inside}


def _change(record: object) -> FileChange | None:
    match record:
        case {
            "messageId": str(message),
            "snapshot": {"trackedFileBackups": dict(backups)},
            "reverie": {"session": str(session), "before": (str() | None) as before, "after": (str() | None) as after},
        } if len(backups) == 1:
            ((path, backup),) = backups.items()
            is_kept = before is None or (isinstance(backup, dict) and backup.get("backupFileName") == before)
            return FileChange(message, session, Path(path), before, after, is_kept)
        case _:
            return None
