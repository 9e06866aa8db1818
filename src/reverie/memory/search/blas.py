"""Limits the threads of numpy's matrix products, where numpy uses OpenBLAS.

Its threads wait for one another by spinning: on a busy machine a product takes ten times as long as with one. Whoever
has several products to compute at once does better to give each to a thread of its own.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module

_ENDINGS = ("64_", "")
_PREFIXES = ("scipy_openblas", "openblas")
_lock = threading.Lock()
_inside: list[None] = []
"""One entry for each that is under way."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute the products inside with one thread; does nothing where the library is another.

    The setting is that of the process: the last of several at the same time to leave puts it back.
    """
    setting = _setting()
    if setting is None:
        yield
        return
    write_threads, usual = setting
    with _lock:
        _inside.append(None)
        write_threads(1)
    try:
        yield
    finally:
        with _lock:
            _inside.pop()
            if not _inside:
                write_threads(usual)


@cache
def _setting() -> tuple[Callable[[int], None], int] | None:
    """The library's own function, and what it is set to."""
    with suppress(ImportError, OSError):
        # Loaded already: this only finds the symbols of whatever it was linked with.
        library = ctypes.CDLL(import_module("numpy._core._multiarray_umath").__file__)
        for name in (f"{prefix}_%s_num_threads{ending}" for prefix in _PREFIXES for ending in _ENDINGS):
            if hasattr(library, name % "set"):
                return getattr(library, name % "set"), getattr(library, name % "get")()
    return None
