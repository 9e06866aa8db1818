"""Masks our provider keys in a stream of bytes, also where a key is split between chunks."""

from __future__ import annotations

from collections.abc import Iterable

KEY_MASK = "[key]"
"""What stands in the place of a key."""


class KeyMask:
    """One stream on its way."""

    def __init__(self, keys: Iterable[str]) -> None:
        # A key that begins another one comes after it, or the end of the longer one would stay.
        self._keys = sorted((key.encode("utf-8", "surrogateescape") for key in keys if key), key=len, reverse=True)
        self._held = b""

    def masked(self, data: bytes) -> bytes:
        """What may be shown by now; the beginning of a key is held back until it is known to be none."""
        data = self._held + data
        for key in self._keys:
            data = data.replace(key, KEY_MASK.encode())
        self._held = max((_beginning(key, data) for key in self._keys), key=len, default=b"")
        return data[: len(data) - len(self._held)]

    def rest(self) -> bytes:
        """What was held back, at the end of the stream."""
        held, self._held = self._held, b""
        return held


def _beginning(key: bytes, data: bytes) -> bytes:
    """The longest end of the data with which the key begins."""
    longest = min(len(key) - 1, len(data))
    return next((key[:size] for size in range(longest, 0, -1) if data.endswith(key[:size])), b"")
