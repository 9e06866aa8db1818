"""Records of erasures, so that copies of a memory elsewhere drop the same topics, without revealing the content.

A tombstone holds salted hashes of whole texts: who has the text recognises it, who has not learns nothing he could not
guess in full. It travels in every bundle; a directory that takes one in drops the topics it names and may not learn
them again. A copy that never takes one in cannot be reached.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
from collections.abc import Iterable
from pathlib import Path

from reverie.files import append_lines, read_small
from reverie.memory.store.erased_sentences import normal
from reverie.values import value

_FILE = "tombstones"
_MOST_BYTES = 1 << 24
_SALT = re.compile(r"[0-9a-f]{32}")
_MARK = re.compile(r"[0-9a-f]{64}")


@value
class Tombstone:
    """One erased topic, in all its versions."""

    salt: str
    marks: tuple[str, ...]

    def covers(self, text: str) -> bool:
        """Whether this is one of the texts, whatever its case and spacing."""
        return _mark(self.salt, text) in self.marks


def write_tombstone(private: Path, texts: Iterable[str]) -> None:
    """Note that these texts, the versions of one topic, were erased."""
    salt = secrets.token_hex(16)
    marks = tuple(dict.fromkeys(_mark(salt, text) for text in texts))
    if marks:
        append_lines(private / _FILE, [_to_row(Tombstone(salt, marks))])


def read_tombstones(private: Path) -> tuple[Tombstone, ...]:
    """All of them; a line that cannot be read is left out."""
    content = read_small(private / _FILE, limit_bytes=_MOST_BYTES) or b""
    return parse_tombstones(content.decode("ascii", "replace").splitlines())


def add_tombstones(private: Path, tombstones: Iterable[Tombstone]) -> tuple[Tombstone, ...]:
    """Keep those that came from elsewhere and are new here; return them."""
    present = set(read_tombstones(private))
    new = tuple(each for each in dict.fromkeys(tombstones) if each not in present)
    append_lines(private / _FILE, map(_to_row, new))
    return new


def parse_tombstones(rows: Iterable[object]) -> tuple[Tombstone, ...]:
    """Tombstones from their lines, whoever wrote them."""
    return tuple(tombstone for row in rows if isinstance(row, str) and (tombstone := _from_row(row)) is not None)


def tombstone_rows(private: Path) -> list[str]:
    """Their lines, to be carried elsewhere."""
    return [_to_row(each) for each in read_tombstones(private)]


def _to_row(tombstone: Tombstone) -> str:
    return json.dumps([tombstone.salt, *tombstone.marks])


def _from_row(row: str) -> Tombstone | None:
    try:
        words = json.loads(row)
    except (ValueError, RecursionError):
        return None
    if not isinstance(words, list) or len(words) < 2 or not all(isinstance(word, str) for word in words):
        return None
    salt, *marks = words
    is_sound = _SALT.fullmatch(salt) and all(map(_MARK.fullmatch, marks))
    return Tombstone(salt, tuple(marks)) if is_sound else None


def _mark(salt: str, text: str) -> str:
    return hmac.new(bytes.fromhex(salt), normal(text).encode(errors="surrogatepass"), "sha256").hexdigest()
