"""The terms of a passage, by the rules of `search.analyze` and fast enough for hundreds of megabytes.

A text is cut at every ASCII character that is neither letter nor digit, and each piece analysed once for all texts.
"""

from __future__ import annotations

from reverie.memory.search.analyze import terms

_MEMO_LIMIT = 300_000
_LONGEST_MEMORISED = 48
_NO_WORD = bytes(byte if byte >= 128 or chr(byte).isalnum() or byte == 10 else 32 for byte in range(256))


class _Memo(dict[bytes, str]):
    """A written piece → its terms, joined by spaces."""

    def __missing__(self, piece: bytes) -> str:
        joined = " ".join(terms(piece.decode("utf-8", "replace")))
        if len(piece) <= _LONGEST_MEMORISED:
            if len(self) >= _MEMO_LIMIT:
                self.clear()
            self[piece] = joined
        return joined


_memo = _Memo()


def lines_of_terms(text: str) -> str:
    """Every term of a text in order, joined by spaces; the lines of the text by line breaks, empty ones left out."""
    terms_of_word = _memo.__getitem__
    lines = []
    for line in text.encode("utf-8", "replace").translate(_NO_WORD).split(b"\n"):
        joined = " ".join(filter(None, map(terms_of_word, line.split())))
        if joined:
            lines.append(joined)
    return "\n".join(lines)
