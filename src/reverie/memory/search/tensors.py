"""The numbers of a model, used where they lie in their files: they load in no time, and processes share them.

Owns how a safetensors file is read, and a copy beside it in which matrices stand as they are multiplied. The copy is
derived and may be deleted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from reverie.errors import Error
from reverie.files import write_atomic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]


def read_tensors(path: Path) -> dict[str, Matrix]:
    """Every tensor of a file, as views of it: the length of a header, the header as JSON, the numbers."""
    data = np.memmap(path, dtype=np.uint8, mode="r")
    start = 8 + int(data[:8].view("<u8")[0])
    header = json.loads(bytes(data[8:start]))
    tensors = {}
    for name, entry in header.items():
        if entry.get("dtype") == "F32":
            first, last = entry["data_offsets"]
            tensors[name] = np.asarray(data[start + first : start + last]).view("<f4").reshape(entry["shape"])
    return tensors


def read_copy(path: Path, shapes: Sequence[tuple[int, ...]], make: Callable[[], Iterable[Matrix]]) -> list[Matrix]:
    """The matrices of a copy, one after the other; where it is missing or cut off, it is written from what is made."""
    numbers = _read_numbers(path, sum(map(prod, shapes)), make)
    matrices = []
    start = 0
    for shape in shapes:
        matrices.append(numbers[start : start + prod(shape)].reshape(shape))
        start += prod(shape)
    return matrices


def _read_numbers(path: Path, count: int, make: Callable[[], Iterable[Matrix]]) -> Matrix:
    if not path.is_file() or path.stat().st_size != 4 * count:
        packed = b"".join(each.astype("<f4").tobytes() for each in make())
        try:
            write_atomic(path, packed)
        except (Error, OSError):
            # A folder that may only be read: this process keeps its own.
            return np.frombuffer(packed, dtype="<f4")
    return np.asarray(np.memmap(path, dtype="<f4", mode="r"))
