"""Reads a safetensors file: its numbers are used where they lie, so they load in no time and processes share them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

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
