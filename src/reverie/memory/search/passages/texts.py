"""Reads the text of passages from the transcripts again, with secrets removed."""

from __future__ import annotations

from pathlib import Path

from reverie.errors import Error
from reverie.files.secret_scan import scan
from reverie.hosts.catalogue import read_any_entries
from reverie.memory.search.passages.cut import SpokenRecord, cut, spoken
from reverie.memory.search.passages.database import PassagePlace
from reverie.messages.entries import Entry
from reverie.messages.records import decode_line

_SCANNED_BEFORE, _SCANNED_AFTER = 4_000, 500
"""How far around a passage secrets are looked for: the longest keys begin that far before their end."""


class Texts:
    """The records that hold the hits of one search, read once each."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, int], SpokenRecord | None] = {}
        self._sessions: dict[str, list[Entry]] = {}

    def read(self, place: PassagePlace) -> SpokenRecord | None:
        """The record of a passage; None when the transcript changed since."""
        key = place.path, place.start
        if key not in self._read:
            self._read[key] = _read(place) if place.bytes else self._read_entry(place)
        return self._read[key]

    def _read_entry(self, place: PassagePlace) -> SpokenRecord | None:
        """The same for a session of another agent, which is read once as a whole."""
        if place.path not in self._sessions:
            try:
                self._sessions[place.path] = read_any_entries(Path(place.path))
            except (OSError, Error):
                self._sessions[place.path] = []
        entries = self._sessions[place.path]
        return spoken(entries[place.start]) if place.start < len(entries) else None

    def read_passage(self, place: PassagePlace) -> str:
        """A passage exactly as it stands in the transcript; empty when it is gone."""
        record = self.read(place)
        pieces = cut(record.text) if record else []
        return pieces[place.part] if place.part < len(pieces) else ""

    def passage(self, place: PassagePlace, *, first: int | None = None, last: int | None = None) -> str:
        """A passage, or so many characters from one end of it, without secrets; empty when it is gone."""
        record = self.read(place)
        pieces = cut(record.text) if record else []
        if record is None or place.part >= len(pieces):
            return ""
        start = sum(map(len, pieces[: place.part]))
        end = start + len(pieces[place.part])
        from_ = start if last is None else max(start, end - last)
        to = end if first is None else min(end, start + first)
        text = _without_secrets(record.text, from_, to).strip()
        return f"{'…' if from_ > start else ''}{text}{'…' if to < end else ''}"


def _read(place: PassagePlace) -> SpokenRecord | None:
    try:
        with Path(place.path).open("rb") as file:
            file.seek(place.start)
            return spoken(decode_line(file.read(place.bytes)))
    except OSError:
        return None


def _without_secrets(text: str, start: int, end: int) -> str:
    """A stretch of a text without the secrets in it, also those that begin before it or end after it."""
    first = max(0, start - _SCANNED_BEFORE)
    clean, done = [], start
    for finding in scan(text[first : end + _SCANNED_AFTER]):
        opens, closes = max(start, first + finding.start), min(end, first + finding.end)
        if opens < closes:
            clean += [text[done:opens], f"[secret: {finding.rule}]"]
            done = closes
    return "".join([*clean, text[done:end]])
