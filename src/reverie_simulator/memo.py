"""A bounded cache of computed values, by the digest of their content."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from typing import Generic, TypeVar

Value = TypeVar("Value")


def digest(*parts: bytes) -> bytes:
    """Sixteen bytes that stand for the parts and for where one ends and the next begins."""
    state = blake2b(digest_size=16)
    for part in parts:
        state.update(len(part).to_bytes(8, "big"))
        state.update(part)
    return state.digest()


class Memo(Generic[Value]):
    """A least-recently-used table that keeps digests instead of content."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[bytes, Value] = OrderedDict()

    def get(self, key: bytes, compute: Callable[[], Value]) -> Value:
        """What is kept under the key, computed the first time."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        value = self._kept[key] = compute()
        if len(self._kept) > self._size:
            self._kept.popitem(last=False)
        return value
