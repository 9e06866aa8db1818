"""Keyed hashes of erased sentences, so that they are not learnt again and cannot be read back.

Only the sentences' hashes are kept, under a random key that lies beside them and never leaves this machine. A person
may save the same thing again; machines may not.
"""

from __future__ import annotations

import hmac
import re
import secrets
import unicodedata
from pathlib import Path

from reverie.errors import Damaged
from reverie.files import append_lines, write_atomic
from reverie.memory.topics.topic import parse_topic
from reverie.patterns import split_sentences
from reverie.values import value

_KEY_FILE = "erased.key"
_HASHES_FILE = "erased"
_WORD = re.compile(r"[^\W_]+")
_MIN_CHARS = 12
"""A shorter sentence ("Run the tests.") says nothing of its own."""


def recognisable_sentences(text: str) -> tuple[str, ...]:
    """The sentences and lines of a text that are long enough to be recognised, as they stand there."""
    pieces = (piece.strip(" \t\r#>*_-|`") for piece in split_sentences(text))
    return tuple(dict.fromkeys(piece for piece in pieces if len(normal(piece)) >= _MIN_CHARS))


def extract_topic_text(content: bytes) -> str:
    """What a topic file says, without the keys of its front matter."""
    text = content.decode("utf-8", "replace")
    try:
        topic = parse_topic("topic.md", text)
    except Damaged:
        return text
    quotes = (source.quote for source in topic.sources if source.quote)
    return "\n".join([topic.name, topic.description, topic.body, *quotes])


def remember_erased(private: Path, texts: tuple[str, ...]) -> None:
    """Keep the hashes of these texts."""
    key = _read_key(private) or _write_key(private)
    append_lines(
        private / _HASHES_FILE, [_hash(key, piece) for text in texts for piece in recognisable_sentences(text)]
    )


@value
class ErasedSentences:
    """The hashes of all that was erased."""

    key: bytes = b""
    hashes: frozenset[str] = frozenset()

    def covers(self, text: str) -> bool:
        """Whether at least half of what this text says was erased before."""
        pieces = recognisable_sentences(text) if self.hashes else ()
        return bool(pieces) and 2 * sum(_hash(self.key, piece) in self.hashes for piece in pieces) >= len(pieces)


def read_erased(private: Path) -> ErasedSentences:
    """What machines may not learn again."""
    key = _read_key(private)
    if key is None:
        return ErasedSentences()
    try:
        return ErasedSentences(key, frozenset((private / _HASHES_FILE).read_text(encoding="ascii").split()))
    except FileNotFoundError:
        return ErasedSentences()


def normal(text: str) -> str:
    """A text reduced to its words, so that case, spacing and signs do not count."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_WORD.findall(folded))


def _hash(key: bytes, text: str) -> str:
    return hmac.new(key, normal(text).encode(), "sha256").hexdigest()


def _read_key(private: Path) -> bytes | None:
    try:
        return (private / _KEY_FILE).read_bytes()
    except FileNotFoundError:
        return None


def _write_key(private: Path) -> bytes:
    key = secrets.token_bytes(32)
    write_atomic(private / _KEY_FILE, key)
    return key
