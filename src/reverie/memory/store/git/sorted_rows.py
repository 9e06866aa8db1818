"""Sorted rows kept in blocks, so that changing one of ten thousand rewrites only about a hundred.

Trees and the index file are such rows end to end. A block remembers its bytes, and its share of a zlib stream.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Mapping

_BLOCK_ROWS = 128
_MOST_BLOCK_ROWS = 2 * _BLOCK_ROWS
_RAW = -15
"""How zlib calls a stream without a beginning and an end of its own."""
_STREAM_START, _STREAM_END = b"\x78\x01", b"\x03\x00"


class SortedRows:
    """Key → row, put together as bytes."""

    def __init__(self, rows: Mapping[bytes, bytes] | None = None) -> None:
        self._blocks: list[_Block] = []
        self._firsts: list[bytes] = []
        self._count = len(rows or ())
        self._replace(0, 0, rows or {})

    def __len__(self) -> int:
        return self._count

    def put(self, key: bytes, row: bytes | None) -> None:
        """Set a row; None removes it."""
        at = max(0, bisect_right(self._firsts, key) - 1)
        rows = dict(self._blocks[at].rows) if self._blocks else {}
        if rows.get(key) == row:
            return
        self._count += (row is not None) - (key in rows)
        if row is None:
            rows.pop(key, None)
        else:
            rows[key] = row
        self._replace(at, at + 1, rows)

    def joined(self) -> bytes:
        """All rows, one after the other."""
        return b"".join([block.joined() for block in self._blocks])

    def deflated(self) -> bytes:
        """The same as a part of a zlib stream, for `zipped`."""
        return b"".join([block.deflated() for block in self._blocks])

    def _replace(self, start: int, end: int, rows: Mapping[bytes, bytes]) -> None:
        keys = sorted(rows)
        size = _BLOCK_ROWS if len(keys) > _MOST_BLOCK_ROWS else _MOST_BLOCK_ROWS
        parts = [keys[first : first + size] for first in range(0, len(keys), size)]
        self._blocks[start:end] = [_Block({key: rows[key] for key in part}) for part in parts]
        self._firsts[start:end] = [part[0] for part in parts]


class _Block:
    """Some neighbouring rows, in order; their bytes are made when first asked for."""

    def __init__(self, rows: dict[bytes, bytes]) -> None:
        self.rows = rows
        self._joined: bytes | None = None
        self._deflated: bytes | None = None

    def joined(self) -> bytes:
        if self._joined is None:
            self._joined = b"".join(self.rows.values())
        return self._joined

    def deflated(self) -> bytes:
        if self._deflated is None:
            self._deflated = deflated(self.joined())
        return self._deflated


def deflated(content: bytes) -> bytes:
    """A part of a zlib stream: whole bytes, and nothing in it refers to what comes before."""
    packing = zlib.compressobj(1, wbits=_RAW)
    return packing.compress(content) + packing.flush(zlib.Z_FULL_FLUSH)


def zipped(head: bytes, content: bytes, content_deflated: bytes) -> bytes:
    """The zlib stream of a head and a content of which the parts are there already."""
    checksum = zlib.adler32(content, zlib.adler32(head)).to_bytes(4, "big")
    return b"".join((_STREAM_START, deflated(head), content_deflated, _STREAM_END, checksum))
